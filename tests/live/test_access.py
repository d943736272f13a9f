"""Everybody can use it: axe-core finds nothing serious in light or dark, and motion stops when unwanted."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.live.conftest import Server, open_page, until

NEWEST = "[...bench.state.known.values()].filter(run => run.live).at(-1)"


def find_serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{item['id']}: {item['nodes'][0]['html']}"
        for item in found
        if item["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, bench: Server, scheme: str) -> None:
    with open_page(browser, color_scheme=scheme) as page:
        page.goto(bench.address)
        until(page, "!document.querySelector('#bench').hidden && bench.state.linked")
        for details in page.locator("details").all():
            details.locator("summary").click()
        page.fill("#ticks", "100000")
        page.click("#run")
        until(page, f"{NEWEST}?.count > 3")
        assert find_serious(page) == []
        page.click("#stop")
        until(page, f"{NEWEST}.state === 'stopped'")
        until(page, "document.querySelectorAll('#rows button:not(:disabled)').length === 2")
        page.locator("#rows button").first.click()
        assert find_serious(page) == []


def test_who_wants_no_motion_gets_a_few_pictures_a_second(browser: Browser, bench: Server) -> None:
    with open_page(browser, reduced_motion="reduce") as page:
        page.goto(bench.address)
        until(page, "!document.querySelector('#bench').hidden && bench.state.linked")
        page.fill("#ticks", "100000")
        page.click("#run")
        until(page, f"{NEWEST}?.count > 3")
        before = page.evaluate("[bench.frames, performance.now()]")
        page.wait_for_timeout(1000)
        after = page.evaluate("[bench.frames, performance.now()]")
        assert (after[0] - before[0]) / (after[1] - before[1]) * 1e3 <= 4.5
        page.click("#stop")
        until(page, f"{NEWEST}.state === 'stopped'")
