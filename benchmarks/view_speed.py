"""How fast the live bench is: first image, frames a second, long lists and long runs. Run by benchmarks/view.py."""

import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page
from view_pictures import NEWEST, open_bench, until

from laserloop.live.index import RunIndex
from laserloop.loop.scenario import Scenario, prepare

STORED, LONG = 3000, 26_000
FRAMES = """async count => {
  const before = performance.now(), times = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    document.querySelector('#tick').value = Math.round((i * 7919) % %d);
    document.querySelector('#tick').dispatchEvent(new Event('input'));
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return { per_s: 1e3 * count / (performance.now() - before), median_ms: times[count >> 1], p95_ms: times[Math.floor(0.95 * count)] };
}""".replace("%d", str(LONG))


def measure_start(browser: Browser, address: str, repeats: int) -> dict[str, Any]:
    """From the click on Run until the first image is drawn, and frames a second while it computes."""
    firsts, rates, ticks = [], [], []
    for _ in range(repeats):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        open_bench(page, address)
        page.fill("#ticks", "20000")
        page.wait_for_timeout(3000)  # a worker is warm, the page at rest
        page.evaluate(WATCH)
        page.click("#run")
        until(page, "bench.first !== undefined")
        firsts.append(page.evaluate("bench.first / 1e3"))
        page.wait_for_timeout(1000)
        before = page.evaluate(f"[bench.frames, {NEWEST}.count, performance.now()]")
        page.wait_for_timeout(4000)
        after = page.evaluate(f"[bench.frames, {NEWEST}.count, performance.now()]")
        seconds = (after[2] - before[2]) / 1e3
        rates.append((after[0] - before[0]) / seconds)
        ticks.append((after[1] - before[1]) / seconds)
        page.click("#stop")
        until(page, f"!{NEWEST}.computing")
        context.close()
    return {
        "first_image_s": sorted(firsts),
        "frames_per_s": sorted(rates),
        "ticks_per_s": sorted(ticks),
    }


WATCH = """() => {
  document.querySelector('#run').addEventListener('click', () => { bench.began = performance.now(); }, { once: true });
  const look = () => {
    const run = [...bench.state.known.values()].filter(run => run.live).at(-1);
    if (bench.began && run && run.frame) bench.first = performance.now() - bench.began; else requestAnimationFrame(look);
  };
  look();
}"""


def make_stored(folder: Path) -> None:
    """Thousands of runs of 320 ticks as control writes them, and one of very many ticks."""
    told = prepare(Scenario(path="diagonal", plant="graded", delta_k=None)).run().to_json()
    for k in range(STORED):
        place = folder / f"{k % 30:02d}" / f"run-{k:04d}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        told["seed"] = k
        place.write_text(json.dumps(told))
    long = dict(told) | {"ticks": LONG, "path": "long"}
    series, times = told["series"], -(-LONG // told["ticks"])
    long["series"] = {name: (column * times)[:LONG] for name, column in series.items()}
    tick = series["t_s"][1] - series["t_s"][0]
    long["series"]["t_s"] = [(k + 1) * tick for k in range(LONG)]
    long["series"]["x_mm"] = [1e-3 * (k % 4000) for k in range(LONG)]
    long["series"]["y_mm"] = [0.3 * (k // 4000) for k in range(LONG)]
    (folder / "long.json").write_text(json.dumps(long))


def measure_list(folder: Path) -> dict[str, Any]:
    """The first look at the folder, and one more."""
    shelf, took = RunIndex(folder), []
    for _ in range(2):
        began = time.perf_counter()
        shelf.look()
        shelf.list()
        took.append(time.perf_counter() - began)
    return {"runs": len(shelf.runs), "first_s": took[0], "again_s": took[1]}


def measure_pages(browser: Browser, address: str) -> dict[str, Any]:
    """A page on thousands of runs, and how fluid one of 26,000 ticks is."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    began = time.perf_counter()
    page.goto(address)
    until(page, "document.querySelectorAll('#list label.run').length >= 100")
    listed = time.perf_counter() - began
    page.fill("#filter", "long")
    until(page, "document.querySelectorAll('#list label.run').length === 1")
    page.evaluate("bench.state.chosen.length = 0")
    page.locator("#list input").first.click()
    until(page, f"[...bench.state.known.values()].some(run => run.ticks === {LONG})")
    page.evaluate(FRAMES, 30)
    scrub = page.evaluate(FRAMES, 150)
    play = measure_play(page)
    context.close()
    return {"listed_s": listed, "ticks": LONG, "scrub": scrub, "play": play}


def measure_play(page: Page) -> dict[str, float]:
    """Frames a second of a replay at 2,000 ticks a second."""
    page.select_option("#speed", "2000")
    page.press("#stage", "Home")
    page.press("#stage", "Space")
    before = page.evaluate("[bench.frames, performance.now()]")
    page.wait_for_timeout(4000)
    after = page.evaluate("[bench.frames, performance.now()]")
    return {"per_s": 1e3 * (after[0] - before[0]) / (after[1] - before[1])}


def tell(found: dict[str, Any]) -> list[list[str]]:
    """The rows of the page."""
    start, pages, stored = found["start"], found["pages"], found["list"]
    middle = {name: median(values) for name, values in start.items()}
    scrub = pages["scrub"]
    return [
        ["from *Run* to the first image, a worker warm", f"{middle['first_image_s']:.2f} s", "1 s"],
        ["frames a second while a run computes", f"{middle['frames_per_s']:.0f}", "30"],
        ["(ticks a second that were computed meanwhile)", f"{middle['ticks_per_s']:.0f}", ""],
        [f"first look at {stored['runs']:,} stored runs", f"{stored['first_s']:.2f} s", "1 s"],
        ["the next look", f"{stored['again_s']:.2f} s", ""],
        ["page opened until they are listed", f"{pages['listed_s']:.2f} s", "1 s"],
        [f"scrubbing {pages['ticks']:,} ticks: frames a second", f"{scrub['per_s']:.0f}", "30"],
        [
            "time of such a frame, median and 95 %",
            f"{scrub['median_ms']:.0f} and {scrub['p95_ms']:.0f} ms",
            "",
        ],
        [
            f"replay of {pages['ticks']:,} ticks at 2,000 ticks/s: frames a second",
            f"{pages['play']['per_s']:.0f}",
            "30",
        ],
    ]
