"""The pictures of docs/how-to/look-at-runs.md, by Chromium from a live bench.

python benchmarks/view_pictures.py     # a minute; needs chromium and the extras live and dev
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PAGES = Path(__file__).parent.parent / "docs" / "how-to"
CHROMIUM = "/usr/bin/chromium"
NEWEST = "[...bench.state.known.values()].filter(run => run.live).at(-1)"
PART = """G21 G90
G0 X-1.1 Y-0.6
M3 S12
G1 X1.1 Y-0.6 F18240
G1 X1.1 Y-0.45
G1 X-1.1 Y-0.45
G1 X-1.1 Y-0.3
G1 X0.2 Y-0.3
G3 X0.2 Y0.5 I0 J0.4
G1 X-0.6 Y0.5
G1 X-1.1 Y0.1
M5
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, serve(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        size = {"width": 1360, "height": 1010}
        light = browser.new_context(viewport=size, device_scale_factor=1.5).new_page()  # type: ignore[arg-type]
        open_bench(light, address)
        draw_comparison(light)
        dark = browser.new_context(viewport=size, device_scale_factor=1.5, color_scheme="dark").new_page()  # type: ignore[arg-type]
        open_bench(dark, address)
        draw_steered(dark)
        browser.close()


def draw_comparison(page: Page) -> None:
    """Two controllers on a dropped file, at the end of its curve."""
    part = {"name": "bracket.gcode", "mimeType": "text/plain", "buffer": PART.encode()}
    page.set_input_files("#file", part)  # type: ignore[arg-type]
    until(page, "document.querySelector('#path-note').textContent.includes('ticks')")
    page.select_option("#second", "pi")
    page.click("#run")
    until(page, "[...bench.state.known.values()].filter(run => run.live && run.count > 200).length === 2")
    page.screenshot(path=PAGES / "look-at-runs-live.png")
    page.evaluate("document.querySelector('#stop').click()")  # which may be gone already
    until(page, f"!{NEWEST}.computing")


def draw_steered(page: Page) -> None:
    """The window goes up, then the plate takes less light."""
    page.select_option("#path", "raster:1")
    page.fill("#ticks", "420")
    page.click("#run")
    until(page, f"{NEWEST}?.count > 90")
    page.fill("#aim_low", "840")
    page.fill("#aim_high", "880")
    page.click("#aim")
    until(page, f"{NEWEST}.count > 190")
    page.evaluate("document.querySelector('#absorbed').value = 80")
    page.dispatch_event("#absorbed", "input")
    page.dispatch_event("#absorbed", "change")
    until(page, f"{NEWEST}.count > 290")
    page.screenshot(path=PAGES / "look-at-runs-steered.png")
    page.evaluate("document.querySelector('#stop').click()")  # which may be gone already
    until(page, f"!{NEWEST}.computing")


def open_bench(page: Page, address: str) -> None:
    page.goto(address)
    until(page, "!document.querySelector('#bench').hidden && bench.state.linked")
    until(page, "!document.querySelector('#preview').hidden")


@contextmanager
def serve(folder: str, *more: str) -> Iterator[str]:
    """The address of a bench on a folder."""
    command = [sys.executable, "-m", "laserloop", "view", folder, "--port", "0", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield "http" + server.stdout.readline().partition("http")[2].split()[0]
        finally:
            server.kill()


def until(page: Page, claim: str, seconds: float = 120.0) -> None:
    """Wait until a claim in JavaScript holds."""
    end = time.monotonic() + seconds
    while not page.evaluate(claim):
        if time.monotonic() > end:
            raise TimeoutError(claim)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
