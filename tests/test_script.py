"""What a script calls: the loop in one line, its picture in another."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import laserloop as ll
from laserloop.control.simple import find_gains
from laserloop.logs.export import render_table


@pytest.mark.parametrize(
    ("controller", "delta_k", "drawn"), [("twin", 13.0, True), ("twin", 0.0, False), ("pi", None, False)]
)
def test_a_picture_shows_the_margin_that_was_kept(
    controller: str, delta_k: float | None, drawn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr("laserloop.report.figures.save_figure", lambda file, figure: figures.append(figure))
    run = ll.close_loop(controller, ll.find_path("diagonal", ticks=12), delta_k=delta_k)
    ll.plot(run, tmp_path / "run.png")
    lines = [
        line for axes in figures[0].axes for line in axes.get_lines() if line.get_gid() == "tightened-run"
    ]
    assert len(lines) == drawn
    if drawn:
        assert lines[0].get_ydata()[0] == 800.0 - 13.0  # type: ignore[index]


LINE = "x_mm,y_mm\n-0.5,0\n0.5,0\n"


def test_a_file_is_planned_in_one_call(tmp_path: Path) -> None:
    file = tmp_path / "line.csv"
    file.write_text(LINE)
    planned = ll.plan(file, ll.find_process("304"))
    told = r"Plan\('[^']*line\.csv': \d+ powers for 1 vectors?, .* W, planned at .* K\)"
    assert re.fullmatch(told, repr(planned))
    better = planned.save(tmp_path / "new" / "better.csv")
    assert ll.find_path(str(better)).power is not None
    assert file.read_text() == LINE
    with pytest.raises(ll.BadInput, match="choose another place"):
        planned.save(file / "below")


def test_a_log_is_fitted_in_one_call(tmp_path: Path) -> None:
    path = ll.ScanPath.from_mm([[-0.5, 0.0], [0.5, 0.0], [0.5, 0.1], [-0.5, 0.1]], name="log")
    columns = ll.close_loop("twin", path, ll.find_process("304")).table()
    file = tmp_path / "run.csv"
    file.write_bytes(render_table(columns, ".csv"))
    fit = ll.identify(file, ll.find_process("304").change(absorptivity=0.9), fit=("absorptivity",))
    assert fit.process.beam.absorptivity == pytest.approx(1.0, abs=0.02)


def test_a_path_in_mm_takes_speed_and_tick_from_the_process() -> None:
    process = ll.find_process("304").change(speed_mm_s=200, tick_us=100)
    points = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5]]
    path = ll.ScanPath.from_mm(points, process=process)
    assert [path.tick, path.median_speed] == pytest.approx([1e-4, 0.2])
    assert path.positions[50].tolist() == pytest.approx([1e-3, 0.0])
    other = ll.ScanPath.from_mm(points, process=process, speed_mm_s=400, tick_us=50)
    assert [other.tick, other.median_speed] == pytest.approx([5e-5, 0.4])
    usual = ll.ScanPath.from_mm(points)
    assert [usual.tick, usual.median_speed] == pytest.approx([1.25e-4, 0.304])
    with pytest.raises(ll.BadInput, match="point 3: every point must lie on the 15 × 10 mm plate"):
        ll.ScanPath.from_mm([[0, 0], [1, 0], [1, 500]], process=process)
    with pytest.raises(ll.BadInput, match="rows of x and y"):
        ll.ScanPath.from_mm([1, 2, 3])
    with pytest.raises(ll.BadInput, match="speed_mm_s of points must be a finite number"):
        ll.ScanPath.from_mm(points, speed_mm_s="fast")  # type: ignore[arg-type]


def test_nouns_say_in_one_line_what_they_are() -> None:
    process, path = ll.find_process("304"), ll.find_path("diagonal", ticks=12)
    run = ll.close_loop("twin", path, process)
    assert repr(process).startswith("Process('304': 304, 760–800 K, 0–20 W, σ 100 µm, 304 mm/s")
    assert repr(path) == "ScanPath('diagonal': 12 ticks of 125 µs, 0 dark, 1.5 ms, 304 mm/s)"
    assert re.fullmatch(r"Run\('diagonal': twin on graded, 12 ticks, \d+\.\d–\d+\.\d K\)", repr(run))


def test_a_table_has_a_column_for_each_quantity_as_long_as_the_run() -> None:
    columns = ll.close_loop("twin", ll.find_path("diagonal", ticks=12)).table()
    assert {"t_s", "x_mm", "power_w", "t_true_k", "t_measured_k", "t_predicted_k"} <= set(columns)
    assert {len(values) for values in columns.values()} == {12}


def test_a_loop_that_waits_for_a_tuning_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gains = find_gains("graded", ll.find_process("304"))
    monkeypatch.setattr("laserloop.loop.tune.tune_for", lambda *_, **__: gains)
    path, process = ll.find_path("diagonal", ticks=3), ll.find_process("304").change(sigma_um=90)
    ll.close_loop("pi", path, process)
    assert (
        "no gains of pi ship for this plant and process, so they are tuned first: some minutes"
        in capsys.readouterr().err
    )
    ll.close_loop("pi", path)
    assert capsys.readouterr().err == ""
