import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.process import Process
from laserloop.report.page import render_comparison, save_comparison
from laserloop.report.record import find_troubles, mark_counted

Record = dict[str, Any]
MakeRecord = Callable[..., Record]


@pytest.fixture(scope="module")
def page(mpc: Record, pi: Record, constant: Record) -> str:
    return render_comparison(
        [mpc, pi, constant], command="laserloop demo --out <here>", also=["T_max is in K & <i>red</i>."]
    )


def cells(page: str, name: str) -> list[str]:
    row = re.search(rf'<tr><th scope="row">{re.escape(name)}</th>(.*?)</tr>', page)
    assert row
    return [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in re.findall(r"<td[^>]*>(.*?)</td>", row[1])]


def test_the_first_screen_is_a_headline_a_sentence_for_each_run_and_one_picture(page: str) -> None:
    first = page[page.index("<header>") : page.index("</header>")]
    assert first.count("<h1>") == first.count("<svg") == 1
    assert len(re.findall("<p>", first)) == 1 + 3 + 1  # what was asked, each run, and what is also said


def test_a_page_has_a_history_of_each_run_a_map_of_each_prediction_and_the_times(page: str) -> None:
    labels = re.findall(r'<svg role="img" aria-label="([^"]*)"', page)
    assert sum("over time" in label for label in labels) == 3
    assert sum("Residual" in label for label in labels) == 1
    assert sum("decision" in label for label in labels) == 1
    assert len(labels) == 6


def test_scores_stand_in_the_table(page: str, mpc: Record, pi: Record, constant: Record) -> None:
    runs = (mpc, pi, constant)
    assert cells(page, "highest T<sub>max</sub>, K") == [f"{r['t_max_k']:.1f}" for r in runs]
    assert cells(page, "ticks over") == [str(r["n_over"]) for r in runs]
    assert cells(page, "mean power, W") == [f"{r['power_mean_w']:.2f}" for r in runs]
    assert len(re.findall('<td class="over">', page)) == 2 * 3


def test_the_peak_between_the_nodes_is_not_hidden(page: str, pi: Record) -> None:
    assert f"{pi['peak']['t_max_k']:.1f}\N{NO-BREAK SPACE}K (PI)" in page


def test_on_the_graded_plant_the_peak_is_told_first_and_the_node_beside_it(make_record: MakeRecord) -> None:
    record = make_record(subgrid=True)
    page = render_comparison([record], command="x").replace("\N{NO-BREAK SPACE}", " ")
    assert cells(page, "highest T<sub>max</sub>, K") == [f"{record['peak']['t_max_k']:.1f}"]
    told = f"the hottest node reaches {record['node']['t_max_k']:.1f} K (real-time MPC)"
    assert f"T<sub>max</sub> is the peak between the nodes; {told}" in page
    assert "Above the window all lit ticks count, below it those in which full power could have" in page


def test_older_runs_keep_their_own_rule(make_record: MakeRecord, pi: Record) -> None:
    new = make_record(subgrid=True)
    masks = ("counts_above", "counts_below")
    series = {name: column for name, column in pi["series"].items() if name not in masks}
    settled = [k >= 10 for k in range(pi["ticks"])]
    old = {name: value for name, value in pi.items() if name != "starts"}
    old |= {"series": series | {"settled": settled}}
    for record in (old, old | {"series": series}):
        assert [side.tolist() for side in mark_counted(record)] == [settled, settled]
        page = render_comparison([new, record], command="x")
        assert "PI: Counted from lit tick 11 on." in page


def test_a_page_says_that_settling_is_counted_anew_after_dark_moves(make_record: MakeRecord) -> None:
    page = render_comparison([make_record(dark=slice(30, 35))], command="x")
    assert "Counted from lit tick 11 on and anew after each dark move." in page


def test_a_page_names_the_process_and_every_note(make_record: MakeRecord) -> None:
    notes = ["paper-corner was not made for this: <alloy>", "the unit of a.gcode is assumed to be mm"]
    page = render_comparison([make_record(process=Process().to_json(), notes=notes)], command="x")
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    assert "Real-time MPC: note: paper-corner was not made for this: &lt;alloy&gt;." in page
    assert "note: the unit of a.gcode is assumed to be mm." in page
    assert (
        "process paper: alloy 304, beam σ 100 µm, absorptivity 1, laser 0 to 20 W, window 760 to 800 K"
        in page
    )


def test_dark_ticks_are_no_trouble(make_record: MakeRecord) -> None:
    dark = dict.fromkeys(range(30, 35), Status.DARK)
    assert find_troubles(make_record(dark=slice(30, 35), troubles=dark)) == {}


def test_the_command_and_what_is_also_said_stay_text(page: str) -> None:
    assert "laserloop demo --out &lt;here&gt;" in page
    assert "T<sub>max</sub> is in K &amp; &lt;i&gt;red&lt;/i&gt;." in page


def test_hostile_names_stay_text(mpc: Record) -> None:
    hostile = '<b>$x_{$&"'
    record = {**mpc, **dict.fromkeys(("label", "model", "path", "plant", "controller"), hostile)}
    record |= {"statuses": {hostile: 90}, "ending": hostile}
    page = render_comparison([record, record], command=hostile)
    assert "<b>" not in page
    assert page.count("&lt;b&gt;") > 10


def test_trouble_is_reported(make_record: MakeRecord) -> None:
    page = render_comparison([make_record(troubles={20: Status.BLIND})], command="")
    assert f"1 × {Status.BLIND}" in page


def test_a_page_can_be_made_of_a_run_that_never_began(make_record: MakeRecord, pi: Record) -> None:
    nothing = make_record(ticks=0, ending="the plant stopped at tick 0: no heat")
    assert "no heat" in render_comparison([nothing], command="")
    assert "no heat" in render_comparison([nothing, pi], command="")


def test_a_page_about_no_runs_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one run"):
        render_comparison([], command="")


def test_a_comparison_overwrites_its_own_files_only(tmp_path: Path, mpc: Record, pi: Record) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "index.html").write_text("old")
    page = save_comparison(tmp_path, [mpc, pi], command="laserloop demo")
    assert page == tmp_path / "index.html"
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert json.loads((tmp_path / "run-1.json").read_text()) == mpc
    assert json.loads((tmp_path / "run-2.json").read_text()) == pi
    figures = ["comparison.png", "residual-1.png", "run-1.png", "run-2.png", "tick-times.png"]
    assert sorted(file.name for file in tmp_path.glob("*.png")) == figures


def test_a_report_overwrites_its_own_files_only(tmp_path: Path, constant: dict[str, Any]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "index.html").write_text("old")
    page = save_comparison(tmp_path, [constant], command="")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "run-1.json").read_text()) == constant
    assert {file.name for file in tmp_path.glob("*.png")} == {"run-1.png", "comparison.png", "tick-times.png"}
