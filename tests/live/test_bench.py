"""The live bench in a browser: what a person does with it, and what happens when things go away."""

import json
import time
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, Page, Route
from tests.live.conftest import RECORD, Server, fill, open_page, serve, until

from laserloop.live.app import FRESH
from laserloop.process import find_process, write_process

LIVE = "[...bench.state.known.values()].filter(run => run.live)"
NEWEST = f"{LIVE}.at(-1)"


def open_bench(page: Page, server: Server) -> None:
    """The page with its form ready."""
    page.goto(server.address)
    until(page, "!document.querySelector('#bench').hidden && bench.state.linked")


def run(page: Page, ticks: int = 150, **choices: str) -> None:
    """Fill the form and start; returns with the first tick."""
    before = page.evaluate(f"{LIVE}.length")
    page.fill("#ticks", str(ticks))
    for name, value in choices.items():
        page.select_option(f"#{name}", value)
    page.click("#run")
    until(page, f"{LIVE}.length > {before} && {NEWEST}.count > 0")


def test_stored_runs_of_every_kind_are_shown(page: Page, bench: Server) -> None:
    moving = {"t_s": [1e-4, 2e-4], "x_mm": [0.0, 0.1], "y_mm": [0.0, 0.0], "power_w": [10.0, 11.0]}
    record = json.loads((bench.folder / "a.json").read_text())
    other = record | {"controller": "constant", "window_k": [860.0, 900.0], "n_over": 1, "overshoot_k": 5.5}
    other |= {"ticks": 2, "series": moving | {"t_true_k": [700.0, 905.5], "t_predicted_k": [880.0, None]}}
    other["series"] |= {"tick_ms": [35.871, 35.871], "lit": [True, True]}
    other["series"] |= {"counts_above": [True, True], "counts_below": [False, True]}
    (bench.folder / "b.json").write_text(json.dumps(other), encoding="utf-8")
    (bench.folder / "open.json").write_text(
        json.dumps(moving | {"t_max_k": [500.0, 600.0]}), encoding="utf-8"
    )
    time.sleep(FRESH + 0.1)  # a list that was just made is not made again
    told = [
        run
        for run in json.loads(bench.ask("/runs")[1])["runs"]
        if run["file"] in ("Lauf Nr. 1 & §.json", "a.json", "b.json", "open.json")
    ]
    page.goto(f"{bench.address}#{','.join(run['id'] for run in told)}")
    until(page, "document.querySelectorAll('#rows tr').length === 4")
    shown = page.inner_text("#rows")
    for words in ("780.0\u202fK", "905.5\u202fK", "600.0\u202fK", "35.9\u202fms"):
        assert words in shown
    scores = "[...bench.state.known.values()].find(run => run.scores.high > 900).scores"
    assert page.evaluate(f"[{scores}.over, {scores}.below, {scores}.short]") == [1, 1, 0]  # 700 K is excused
    assert "1 tick above, by up to 5.5" in page.inner_text("#list")
    assert "No thermal image" in page.inner_text("#notes")
    assert page.inner_text("#clock") == "200\u202fµs, tick 2 of 2"


def test_the_first_tick_stays_in_sight_when_the_list_grows(page: Page, bench: Server) -> None:
    record = RECORD | {"ticks": 3, "series": {name: value * 3 for name, value in RECORD["series"].items()}}
    (bench.folder / "three.json").write_text(json.dumps(record))
    page.goto(bench.address)
    listed = "bench.state.listed.find(run => run.file === '{}')?.id"
    until(page, listed.format("three.json"))
    page.goto(bench.address + "#" + page.evaluate(listed.format("three.json")))
    page.reload()
    until(page, "bench.state.tick === 2")
    page.evaluate("document.querySelector('#tick').value = 0")
    page.dispatch_event("#tick", "input")
    until(page, "bench.state.tick === 0")
    (bench.folder / "later.json").write_text(json.dumps(RECORD))
    until(page, listed.format("later.json"))
    assert page.evaluate("bench.state.tick") == 0


def test_a_run_streams_pauses_steps_and_stops(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 100_000)
    page.click("#play")
    until(page, f"{NEWEST}.state === 'paused'")
    until(page, "document.querySelector('#play').textContent === 'Resume'")
    count = page.evaluate(f"{NEWEST}.count")
    page.click("#step")
    until(page, f"{NEWEST}.count === {count + 1} && {NEWEST}.frame.k === {count}")
    page.click("#play")
    until(page, f"{NEWEST}.count > {count + 3}")
    page.click("#stop")
    until(page, f"{NEWEST}.state === 'stopped'")
    until(page, "document.querySelector('#about').textContent.includes('stopped by hand')")
    until(page, "document.querySelector('#steer').hidden")
    k = 2
    page.evaluate(f"document.querySelector('#tick').value = {k}")
    page.dispatch_event("#tick", "input")
    until(page, f"bench.state.tick === {k} && {NEWEST}.frame.k < {NEWEST}.newest.k")  # an older image came


def test_a_controller_reacts_to_another_window_and_absorptivity(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 100_000)
    until(page, f"{NEWEST}.count > 30")
    page.fill("#aim_low", "840")
    page.fill("#aim_high", "880")
    page.click("#aim")
    until(page, f"(c => c.window_low_k[{NEWEST}.count - 1] === 840)({NEWEST}.column)")
    changed = page.evaluate(f"{NEWEST}.count")
    until(page, f"{NEWEST}.count > {changed + 10}")
    assert page.evaluate(f"{NEWEST}.column.t_k[{changed + 9}]") > 835
    before = page.evaluate(f"{NEWEST}.column.power_w[{NEWEST}.count - 1]")
    page.evaluate("document.querySelector('#absorbed').value = 80")
    page.dispatch_event("#absorbed", "change")
    until(page, f"{NEWEST}.column.absorbed[{NEWEST}.count - 1] < 0.81")
    changed = page.evaluate(f"{NEWEST}.count")
    until(page, f"{NEWEST}.count > {changed + 10}")
    assert page.evaluate(f"{NEWEST}.column.power_w[{changed + 9}]") > 1.15 * before
    page.click("#stop")
    until(page, f"{NEWEST}.state === 'stopped'")


def test_a_dropped_file_is_run_by_two_controllers_and_kept(
    page: Page, browser: Browser, bench: Server
) -> None:
    open_bench(page, bench)
    way = b"x_mm,y_mm\n-1,0\n1,0\n1,0.3\n-1,0.3\n"
    page.set_input_files("#file", {"name": "my part.csv", "mimeType": "text/csv", "buffer": way})
    until(page, "document.querySelector('#path-note').textContent.includes('ticks')")
    run(page, 60, first="twin", second="pi")
    until(page, f"{LIVE}.length === 2 && {LIVE}.every(run => run.state === 'done')")
    until(page, "document.querySelector('#title').textContent === 'my part.csv'")
    until(page, "document.querySelectorAll('#rows button:not(:disabled)').length === 4")
    page.locator("#rows button").first.click()
    page.fill("#keep-name", "Corner, two ways: <b>&")
    page.click("#keep-form .main")
    until(page, "document.querySelector('#kept').textContent.startsWith('Kept as')")
    kept = json.loads((bench.folder / "corner-two-ways-b.json").read_text())
    assert (kept["label"], kept["path"], kept["ticks"]) == ("Corner, two ways: <b>&", "my part.csv", 60)
    until(page, "document.querySelector('#list').textContent.includes('Corner, two ways: <b>&')")
    kept_id = "bench.state.listed.find(run => run.file === 'corner-two-ways-b.json')?.id"
    until(page, kept_id)
    kept_id = page.evaluate(kept_id)
    stored = f"bench.state.known.get('{kept_id}')"
    with open_page(browser) as other:  # with its thermal images
        other.goto(f"{bench.address}#{kept_id}")
        until(other, f"{stored}?.frame?.k === 59 && !document.querySelector('#heat-figure').hidden")
        for k in (20, 0):
            other.evaluate(f"document.querySelector('#tick').value = {k}")
            other.dispatch_event("#tick", "input")
            until(other, f"{stored}.frame.k <= {k}")
        assert other.inner_text("#notes") == ""
    with page.expect_download() as saved:
        page.locator("#rows button").nth(3).click()
    assert json.loads(Path(saved.value.path()).read_text())["controller"] == "pi"
    with page.expect_download() as drawn:
        page.click("#picture")
    assert Path(drawn.value.path()).read_bytes()[:4] == b"\x89PNG"


def test_a_planned_file_comes_back_in_its_own_format(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    way = b"x_mm,y_mm\n-0.5,0\n0.5,0\n"
    sent: list[Route] = []

    def keep(route: Route) -> None:
        sent.append(route)

    page.route("**/files?*", keep)
    page.set_input_files("#file", {"name": "line.csv", "mimeType": "text/csv", "buffer": way})
    while not sent:
        page.wait_for_timeout(20)
    assert page.is_disabled("#plan")  # or a quick click would plan the path chosen before
    assert page.is_disabled("#run")
    sent[0].continue_()
    with page.expect_download() as saved:
        page.click("#plan")
    assert saved.value.suggested_filename == "line-planned.csv"
    head, columns, *_ = Path(saved.value.path()).read_text().splitlines()
    assert head.startswith("# laserloop plan: powers are absorbed")
    assert columns.startswith("x_mm,y_mm")


def test_a_bad_file_is_refused_in_a_sentence(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    page.set_input_files(
        "#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x_mm,y_mm\n0,0\n0,oops\n"}
    )
    until(page, "document.querySelector('#refusal').textContent.includes('a.csv, line 3')")
    assert str(bench.folder.parent) not in page.inner_text("#refusal")
    page.select_option("#path", "spiral")
    until(page, "document.querySelector('#refusal').textContent === ''")


def drop(page: Page, *files: Path) -> None:
    """Drag files over the page and let go, as Chromium does it for a hand."""
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    talk = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        talk.send("Input.dispatchDragEvent", {"type": kind, "x": 600, "y": 400, "data": data})
        if kind == "dragOver":
            until(page, "document.querySelector('#drop').classList.contains('over')")
    until(page, "!document.querySelector('#drop').classList.contains('over')")


def test_dropped_files_are_a_path_and_a_process(page: Page, bench: Server, tmp_path: Path) -> None:
    (tmp_path / "wave.csv").write_text("x_mm,y_mm\n-1,0\n0,0.4\n1,0\n")
    own = find_process("in625").change(window_k=(870, 890), sigma_um=90)
    (tmp_path / "mine.yaml").write_text(write_process(replace(own, name="shop 7")))
    open_bench(page, bench)
    drop(page, tmp_path / "mine.yaml", tmp_path / "wave.csv")
    until(page, "document.querySelector('#path').selectedOptions[0].textContent === 'wave.csv'")
    until(page, "document.querySelector('#path-note').textContent.includes('ticks')")
    told = [page.input_value(f"#{name}") for name in ("material", "window_low", "window_high", "sigma_um")]
    assert told == ["in625", "870", "890", "90"]
    run(page, 40)
    until(page, f"{NEWEST}.state === 'done'")
    assert page.evaluate(f"{NEWEST}.process.window_k") == [870, 890]
    assert page.evaluate(f"{NEWEST}.process.beam.sigma_um") == 90
    until(page, "document.querySelector('#list').textContent.includes('wave.csv · process shop 7')")
    assert page.inner_text("#refusal") == ""


def test_a_bad_process_is_refused_in_a_sentence(page: Page, bench: Server, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("window_k: [800, 760]\n")
    looks: list[Route] = []

    def keep(route: Route) -> None:  # the path's picture comes after the refusal
        looks.append(route)

    page.route("**/look", keep)
    open_bench(page, bench)
    drop(page, tmp_path / "bad.yaml")
    until(page, "document.querySelector('#refusal').textContent.includes('bad.yaml')")
    for route in looks:
        route.continue_()
    until(page, "document.querySelector('#path-note').textContent.includes('ticks')")
    assert page.input_value("#process") == "paper"
    assert "window_k" in page.inner_text("#refusal")


def test_a_reload_and_a_second_tab_find_the_run_again(page: Page, browser: Browser, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 100_000)
    until(page, f"{NEWEST}.count > 20")
    page.reload()
    until(page, f"{LIVE}.length === 1 && {NEWEST}.count > 20 && {NEWEST}.column.t_k[3] > 300")
    with open_page(browser) as other:
        other.goto(page.url)
        until(other, f"{LIVE}.length === 1 && {NEWEST}.count > 20")
        other.click("#stop")
        until(page, f"{NEWEST}.state === 'stopped'")


def test_a_server_that_goes_and_comes_back_is_told(page: Page, tmp_path: Path) -> None:
    with serve(fill(tmp_path)) as server:
        open_bench(page, server)
        page.fill("#ticks", "77")
        run(page, 100_000)
        server.process.kill()
        until(page, f"!bench.state.linked && {NEWEST}.state === 'lost'")
        until(page, "document.querySelector('#link').textContent === 'no server'")
    with serve(tmp_path, "--port", str(server.port)):
        until(page, "bench.state.linked")
        until(page, "document.querySelector('#about').textContent.includes('no longer knows this run')")
        assert page.input_value("#ticks") == "100000"  # what was typed stays


def test_runs_are_compared_up_to_four(page: Page, bench: Server) -> None:
    page.goto(bench.address)
    until(page, "document.querySelectorAll('#list input').length >= 2")
    while page.locator("#list input:not(:checked):not(:disabled)").count():
        page.locator("#list input:not(:checked):not(:disabled)").first.click()
    chosen = page.evaluate("bench.state.chosen.length")
    assert 2 <= chosen <= 4
    until(page, f"document.querySelectorAll('#rows tr').length === {chosen}")
    while page.locator("#list input:checked").count() > 1:
        page.locator("#list input:checked").last.click()
    until(page, "document.querySelectorAll('#rows tr').length === 1")


def test_it_works_by_keyboard_alone(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    page.fill("#ticks", "100000")
    page.focus("#run")
    page.keyboard.press("Enter")
    until(page, f"{LIVE}.length === 1 && {NEWEST}.count > 2")
    page.focus("#stage")
    page.keyboard.press("Space")
    until(page, f"{NEWEST}.state === 'paused'")
    tick = page.evaluate("bench.state.tick")
    page.keyboard.press("ArrowLeft")
    until(page, f"bench.state.tick === {tick - 1}")
    page.keyboard.press("End")
    until(page, f"bench.state.tick === {NEWEST}.count - 1")
    count = page.evaluate(f"{NEWEST}.count")
    page.keyboard.press("ArrowRight")
    until(page, f"{NEWEST}.count === {count + 1}")
    page.keyboard.press("+")
    assert page.input_value("#span") == "400"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
    assert {"path", "process", "run", "filter", "play", "step", "stop", "tick", "aim_low", "absorbed"} <= seen
    page.focus("#stop")
    page.keyboard.press("Enter")
    until(page, f"{NEWEST}.state === 'stopped'")


def test_space_after_run_pauses_and_starts_nothing(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    before = page.evaluate("bench.state.live.length")
    run(page, 100_000)
    assert page.evaluate("document.activeElement.id") == "stage"
    page.keyboard.press("Space")
    until(page, f"{NEWEST}.state === 'paused'")
    assert page.evaluate("bench.state.live.length") == before + 1
    page.keyboard.press("Space")
    until(page, f"{NEWEST}.state === 'running'")
    page.focus("#stop")
    page.keyboard.press("Space")  # a button that was reached by keyboard is pressed
    until(page, f"{NEWEST}.state === 'stopped'")


def test_a_run_that_is_tuned_says_so_and_is_paused_resumed_and_stopped(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    page.click("#changes summary")
    page.fill("#window_high", "805")  # no gains ship for this window
    page.fill("#ticks", "100000")
    page.select_option("#second", "pi")
    page.click("#run")
    tuned = f"{LIVE}.find(run => run.name === 'PI')"
    twin = f"{LIVE}.find(run => run.name === 'physics twin')"
    until(
        page, f"{tuned}?.state === 'tuning' && {tuned}.tuned.most === 59", 180
    )  # of PI alone; two cold workers
    until(page, f"{twin}?.count > 0")
    until(page, "document.querySelector('#about').textContent.includes('Tuning PI for this process')")
    page.click("#play")
    until(page, f"{twin}.state === 'paused'")
    until(page, "document.querySelector('#play').textContent === 'Resume'")
    count = page.evaluate(f"{twin}.count")
    page.click("#play")
    until(page, f"{twin}.count > {count}")
    page.click("#stop")
    until(page, f"{LIVE}.every(run => run.state === 'stopped')")
    told = "document.querySelector('#about').textContent"
    until(page, f"{told}.includes('PI: stopped by hand before the first tick')")
    assert page.inner_text("#refusal") == ""
    assert "PI" in page.inner_text("#list")


def test_a_refused_window_is_told_beside_it(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 100_000)
    page.fill("#aim_low", "840")
    page.fill("#aim_high", "800")
    page.click("#aim")
    until(page, "document.querySelector('.dock #answer').textContent.includes('low before high')")
    assert page.inner_text("#refusal") == ""
    page.fill("#aim_high", "880")
    page.click("#aim")
    until(page, f"(c => c.window_low_k[{NEWEST}.count - 1] === 840)({NEWEST}.column)")
    assert page.inner_text("#answer") == ""
    page.click("#stop")
    until(page, f"{NEWEST}.state === 'stopped'")


def test_a_refused_order_leaves_what_was_on_show(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 20)
    until(page, f"{NEWEST}.state === 'done'")
    shown = page.evaluate("bench.state.chosen[0]")
    page.select_option("#first", "realtime")
    page.click("#run")
    until(page, "document.querySelector('#refusal').textContent.includes('choose Plant paper (coarse)')")
    assert "--" not in page.inner_text("#refusal")
    until(page, "document.querySelector('#title').textContent === 'spiral'")
    assert page.evaluate("bench.state.chosen") == [shown]
    until(page, "document.querySelectorAll('#rows tr').length === 1")
    assert page.evaluate("document.activeElement.id") == "run"  # where it can be mended


def test_a_reload_keeps_the_form_and_its_files(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    way = b"G21 G90\nG0 X-1 Y0\nM3 S300\nG1 X1 Y0 F18240\nM5\n"
    page.set_input_files("#file", {"name": "line.gcode", "mimeType": "text/plain", "buffer": way})
    until(page, "document.querySelector('#path-note').textContent.includes('say which S is full power')")
    assert "--" not in page.inner_text("#path-note")
    ticks = page.evaluate("document.querySelector('#path-note').textContent.match(/^[0-9]+/)[0]")
    assert page.get_attribute("#ticks", "placeholder") == ticks != "320"
    page.fill("#s_max", "1000")
    page.dispatch_event("#s_max", "change")
    until(page, "!document.querySelector('#path-note').textContent.includes('full power')")
    page.click("#changes summary")
    page.fill("#window_high", "805")
    page.select_option("#second", "pi")
    page.reload()
    until(page, "!document.querySelector('#bench').hidden && bench.state.linked")
    until(page, f"document.querySelector('#path-note').textContent.startsWith('{ticks} ticks')")
    assert page.evaluate("document.querySelector('#path').selectedOptions[0].textContent") == "line.gcode"
    kept = [page.input_value(f"#{name}") for name in ("s_max", "window_high", "second", "first")]
    assert kept == ["1000", "805", "pi", "twin"]
    assert page.is_visible("#window_high")
    page.select_option("#path", "spiral")
    until(page, "document.querySelector('#s_max-field').hidden")


def test_a_stored_change_of_absorptivity_is_shown_at_its_tick(page: Page, bench: Server) -> None:
    record = json.loads((bench.folder / "a.json").read_text())
    series = {"t_s": [1e-4, 2e-4], "x_mm": [0.0, 0.1], "y_mm": [0.0, 0.0], "power_w": [10.0, 11.0]}
    series |= {"t_true_k": [780.0, 781.0], "absorbed": [1.0, 0.8]}
    record |= {"ticks": 2, "series": series, "notes": ["changed by hand at tick 2"]}
    (bench.folder / "steered.json").write_text(json.dumps(record), encoding="utf-8")
    time.sleep(FRESH + 0.1)  # as above
    told = json.loads(bench.ask("/runs")[1])["runs"]
    (steered,) = (run["id"] for run in told if run["file"] == "steered.json")
    page.goto(f"{bench.address}#{steered}")
    clock = "document.querySelector('#clock').textContent"
    until(page, f"{clock}.endsWith('tick 2 of 2, plate absorbs 80 % of the start')")
    assert "changed by hand at tick 2" in page.inner_text("#notes")
    page.focus("#stage")
    page.keyboard.press("ArrowLeft")
    until(page, f"{clock}.endsWith('tick 1 of 2')")


def test_a_phone_needs_no_sideways_scrolling(browser: Browser, bench: Server) -> None:
    with open_page(browser, viewport={"width": 400, "height": 800}) as page:
        open_bench(page, bench)
        page.fill("#ticks", "30")
        page.click("#run")
        until(page, f"{NEWEST}?.state === 'done'")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.evaluate("document.querySelector('#temp').clientWidth") > 300
