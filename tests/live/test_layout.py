"""What a person sees of the bench: nothing covered, nothing cut off, and who is who among several runs."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.live.conftest import RECORD, Server, open_page, until
from tests.live.test_bench import LIVE, NEWEST, open_bench, run

LISTEN = """
globalThis.written = [];  // every text on a canvas: which, how high, what, and the box it fills
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  const m = this.measureText(text), box = [x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent];
  box.push(x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent);
  written.push({ canvas: this.canvas.id, height: this.canvas.height, text: String(text), box });
  return write.call(this, text, x, y, ...more);
};
"""
LOWEST = """
globalThis.lowest = {};  // of all lines drawn beside the page, where the path is, by the drawing's height
const { lineTo } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.lineTo = function (x, y) {
  const { isConnected, height } = this.canvas, foot = y + this.lineWidth / 2;
  if (!isConnected) globalThis.lowest[height] = Math.max(globalThis.lowest[height] ?? 0, foot);
  return lineTo.call(this, x, y);
};
"""
BRACKET = Path(__file__).parents[2] / "examples" / "bracket.gcode"
WRITTEN = "written.filter(w => w.canvas === '{}')"


def stop(page: Page) -> None:
    """And wait for its last words."""
    if page.is_visible("#stop"):
        page.click("#stop")
    until(page, f"{LIVE}.every(run => !run.computing)")


def drop(page: Page, file: Path = BRACKET) -> None:
    """A file whose reading leaves three notes."""
    way = {"name": file.name, "mimeType": "text/plain", "buffer": file.read_bytes()}
    page.set_input_files("#file", way)  # type: ignore[arg-type]
    until(page, "document.querySelector('#path-note').textContent.includes('notes')")


def box(page: Page, name: str) -> dict[str, float]:
    """Where an element is on the screen."""
    found: dict[str, float] = page.evaluate(
        "name => document.querySelector(name).getBoundingClientRect().toJSON()", name
    )
    return found


@pytest.mark.parametrize(
    ("width", "height", "seen"),
    [(1280, 720, ("heat", "map", "temp", "power")), (1360, 1010, ("heat", "map", "temp", "power", "time"))],
)
def test_the_dock_covers_nothing_that_one_wants_to_watch(
    browser: Browser, bench: Server, width: int, height: int, seen: tuple[str, ...]
) -> None:
    with open_page(browser, viewport={"width": width, "height": height}) as page:
        open_bench(page, bench)
        run(page, 100_000)
        for name in ("#steer", "#heat-figure"):
            until(page, f"!document.querySelector('{name}').hidden")
        dock, slider = box(page, ".dock"), box(page, "#absorbed")
        assert page.evaluate("scrollY") == 0
        assert dock["bottom"] <= height
        for name in seen:
            assert box(page, f"#{name}")["bottom"] <= dock["top"], name
        assert slider["width"] >= 140
        assert slider["right"] <= dock["right"] - 8
        stop(page)


def test_a_phone_shows_the_run_with_its_hands_on_it(browser: Browser, bench: Server) -> None:
    with open_page(browser, viewport={"width": 400, "height": 800}) as page:
        open_bench(page, bench)
        assert page.evaluate("scrollY") == 0
        run(page, 100_000)
        until(page, "Math.abs(document.querySelector('#stage').getBoundingClientRect().top) < 3")
        until(page, "!document.querySelector('#steer').hidden")
        dock = box(page, ".dock")
        assert dock["bottom"] <= 800.5
        assert dock["height"] < 0.25 * 800
        for name in ("#play", "#stop", "#aim_low", "#aim", "#absorbed"):
            inside = box(page, name)
            assert dock["top"] <= inside["top"] <= inside["bottom"] <= dock["bottom"], name
            assert inside["right"] <= dock["right"], name
        assert box(page, "#temp")["bottom"] <= dock["top"]
        stop(page)


def test_long_names_leave_the_buttons_where_they_are(browser: Browser, bench: Server) -> None:
    name = "A bracket with a very long name that says which powder, which plate and which day"[:80]
    long = RECORD | {"label": name, "path": "long names"}
    (bench.folder / "a-file-with-quite-a-long-name-of-its-own.json").write_text(json.dumps(long))
    with open_page(browser, viewport={"width": 1360, "height": 1010}) as page:
        open_bench(page, bench)
        run(page, 20, second="pi")
        until(page, f"{LIVE}.length === 2 && {LIVE}.every(run => run.state === 'done')")
        page.locator("#rows button:has-text('Keep')").first.click()
        page.fill("#keep-name", name)
        page.click("#keep-form .main")
        until(page, "document.querySelector('#kept').textContent.startsWith('Kept as')")
        page.check("#list label[title='a-file-with-quite-a-long-name-of-its-own.json'] input")
        until(page, f"document.querySelector('#rows .name').title.startsWith({json.dumps(name)})")
        until(page, "document.querySelectorAll('#rows tr').length === 3")
        assert page.evaluate("(s => s.scrollWidth - s.clientWidth)(document.querySelector('.scroll'))") <= 0
        assert page.locator("#rows button").count() == 4
        for button in page.locator("#rows button").all():
            place = button.bounding_box()
            assert place is not None
            assert place["x"] + place["width"] <= 1360
        stored = page.locator("#rows tr").nth(2).locator("td").last
        assert stored.inner_text() == "a-file-with-quite-a-long-name-of-its-own.json"
        page.set_viewport_size({"width": 400, "height": 800})
        place = page.locator("#rows button").first.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= 400


def test_labels_lie_beside_each_other_when_the_window_nears_the_top(page: Page, bench: Server) -> None:
    page.add_init_script(LISTEN)
    open_bench(page, bench)
    run(page, 100_000)
    page.fill("#aim_low", "890")
    page.fill("#aim_high", "915")
    page.click("#aim")
    until(page, f"{NEWEST}.frame && {NEWEST}.column.window_low_k[{NEWEST}.frame.k] === 890")
    stop(page)
    page.evaluate("written.length = 0")
    page.keyboard.press("End")
    until(page, f"{WRITTEN.format('heat')}.length >= 4")
    words = {w["text"]: w["box"] for w in page.evaluate(WRITTEN.format("heat"))}
    assert "890–915 K" in words
    boxes = list(words.values())
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], words
    assert not page.evaluate("written.some(w => w.text === 'tick')")
    assert "one tick, 125" in page.inner_text("#time-caption")


def test_twins_are_told_apart_and_each_has_its_image(page: Page, bench: Server) -> None:
    page.add_init_script(LISTEN)
    open_bench(page, bench)
    way = {"name": "twins.csv", "mimeType": "text/csv", "buffer": b"x_mm,y_mm\n-0.5,0\n0.5,0\n"}
    page.set_input_files("#file", way)  # type: ignore[arg-type]
    until(page, "document.querySelector('#path-note').textContent.includes('ticks')")
    page.evaluate("document.querySelectorAll('aside details').forEach(d => { d.open = true; })")
    for noise in ("0", "0", "3"):
        page.fill("#noise_k", noise)
        run(page, 12, second="pi" if noise == "3" else "")
        until(page, f"{LIVE}.every(run => run.state === 'done')")
    others = page.locator("#list label:has-text('twins.csv') input:not(:checked)")
    while others.count():
        others.first.check()
    until(page, f"bench.state.chosen.length === 4 && {LIVE}.length === 4 && {LIVE}.every(run => run.frame)")
    rows = page.locator("#rows .name").all_inner_texts()
    wanted = ["physics twin, no. 1", "physics twin, no. 2", "physics twin, noise 3 K", "PI"]
    assert len(set(rows)) == 4
    assert {"physics twin · no. 1", "physics twin · noise 3 K"} <= set(rows)
    listed = page.locator("#list label:has-text('twins.csv')").all_inner_texts()
    assert len(set(listed)) == 4
    caption = page.inner_text("#temp-caption")
    assert all(name in caption for name in wanted)
    assert page.locator("#temp-caption .swatch").count() == 4
    assert "choose one run" in caption
    page.evaluate("written.length = 0")
    page.keyboard.press("Home")
    rulers = f"{WRITTEN.format('heat')}.filter(w => w.text.endsWith('m')).map(w => w.box.join())"
    until(page, f"new Set({rulers}).size === 4")  # one in each image
    statuses = dict(zip(rows, page.locator("#rows td.text").all_inner_texts(), strict=True))
    assert statuses[next(name for name in rows if name.startswith("PI"))] == "feedback"
    assert statuses["physics twin · noise 3 K"] == "solved"


def test_the_picture_says_what_it_shows(browser: Browser, bench: Server) -> None:
    with open_page(browser, viewport={"width": 400, "height": 800}) as page:
        page.add_init_script(LISTEN)
        open_bench(page, bench)
        run(page, 30, second="constant")
        until(page, f"{LIVE}.length === 2 && {LIVE}.every(run => run.state === 'done' && run.frame)")
        page.evaluate("written.length = 0")
        with page.expect_download() as drawn:
            page.click("#picture")
        assert drawn.value.suggested_filename == "spiral-physics-twin-constant-power.png"
        width = int.from_bytes(Path(drawn.value.path()).read_bytes()[16:20], "big")
        assert width == 2400  # from a phone, too
        words = page.evaluate("written.filter(w => w.canvas === '').map(w => w.text)")
        told = "\n".join(words)
        for text in ("spiral", "process paper", "graded plant", "window 760–800 K", "tick 30 of 30"):
            assert text in told
        for text in ("Surface around the beam", "Peak temperature", "Power", "Decision time"):
            assert any(word.startswith(text) for word in words)
        assert any(word.startswith("physics twin") for word in words)
        assert any(word.startswith("constant power") for word in words)
        until(page, "document.querySelector('#temp').width < 800")  # the screen has its own charts again


def test_no_image_stays_behind_when_several_are_played(page: Page, bench: Server) -> None:
    open_bench(page, bench)
    run(page, 150, second="constant")
    until(page, f"{LIVE}.length === 2 && {LIVE}.every(run => run.state === 'done')")
    page.select_option("#speed", "160")
    page.focus("#stage")
    page.keyboard.press("Home")
    until(page, f"{LIVE}.every(run => run.frame?.k === 0)")
    page.keyboard.press("Space")
    until(page, f"{LIVE}.every(run => run.frame.k > 0) || bench.state.tick > 140")
    assert page.evaluate("bench.state.tick") <= 140


def test_run_stays_in_sight_however_much_there_is_to_note(browser: Browser, bench: Server) -> None:
    with open_page(browser, viewport={"width": 1280, "height": 800}) as page:
        open_bench(page, bench)
        drop(page)
        assert box(page, "#run")["bottom"] <= 720
        assert page.inner_text("#path-note").endswith("3 notes")
        page.click("#path-note summary")
        assert "dark moves without a speed go at" in page.inner_text("#path-note")


def test_on_a_phone_the_charts_come_before_the_form_as_soon_as_there_are_any(
    browser: Browser, bench: Server
) -> None:
    with open_page(browser, viewport={"width": 400, "height": 800}) as page:
        open_bench(page, bench)
        run(page, 20)
        until(page, f"{NEWEST}.state === 'done'")
        for chart in ("#heat", "#map", "#temp", "#time", ".scroll"):
            assert box(page, chart)["bottom"] <= box(page, "#bench")["top"], chart
        assert box(page, ".brand")["bottom"] <= box(page, "#stage")["top"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        cells = "[...document.querySelectorAll('#rows th, #rows td')]"  # at once: the page may still scroll
        boxes = page.evaluate(f"{cells}.map(cell => cell.getBoundingClientRect().toJSON())")
        places = [place for place in boxes if place["width"] > 0]
        assert len(places) == 11
        for i, a in enumerate(places):
            assert a["x"] + a["width"] <= 400
            for b in places[:i]:
                beside = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
                assert beside or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1
        first = "getComputedStyle(document.querySelector('#rows td:nth-of-type(2)'), '::before').content"
        assert "Predicted" in page.evaluate(first)


def test_labels_of_the_scale_lie_below_the_path(browser: Browser, bench: Server) -> None:
    with open_page(browser, viewport={"width": 1280, "height": 800}) as page:
        page.add_init_script(LISTEN)
        page.add_init_script(LOWEST)
        open_bench(page, bench)
        drop(page)
        run(page, 30)
        until(page, f"{NEWEST}.state === 'done'")
        until(page, f"{WRITTEN.format('map')}.length >= 3")
        lowest = page.evaluate("lowest")  # the drawing shrinks when the run's notes come
        labels = [(w["box"][1], lowest[str(w["height"])]) for w in page.evaluate(WRITTEN.format("map"))]
        assert all(50 < path < label for label, path in labels)


def test_damaged_runs_are_named_on_the_page(page: Page, bench: Server) -> None:
    (bench.folder / "cut.json").write_text(json.dumps(RECORD)[:-20])
    open_bench(page, bench)
    until(page, "document.querySelector('#folder').textContent.includes('left out as damaged: cut.json')")
    assert str(bench.folder) not in page.inner_text("#folder")
    assert bench.folder.name in page.inner_text("#folder")
    (bench.folder / "cut.json").unlink()
