import io
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.report.run_figures import (
    draw_comparison,
    draw_residual_map,
    draw_run,
    draw_side_by_side,
    draw_tick_times,
)

Record = dict[str, Any]
MakeRecord = Callable[..., Record]

DRAWINGS: list[Callable[[Record], Figure]] = [
    draw_run,
    lambda record: draw_comparison([record, record]),
    lambda record: draw_tick_times([record, record]),
]


def gids(figure: Figure) -> set[str]:
    return {gid for axes in figure.axes for line in axes.get_lines() if (gid := line.get_gid())}


def xy(figure: Figure, gid: str) -> NDArray[np.float64]:
    line = next(line for axes in figure.axes for line in axes.get_lines() if line.get_gid() == gid)
    return np.asarray(line.get_xydata(), dtype=np.float64)


def coloured(figure: Figure) -> LineCollection:
    return next(c for c in figure.axes[0].collections if isinstance(c, LineCollection))


def note(figure: Figure) -> Annotation:
    return next(child for child in figure.axes[0].get_children() if isinstance(child, Annotation))


def save(figure: Figure) -> None:
    figure.savefig(io.BytesIO(), format="png", dpi=40)


def with_predictions(record: Record, predicted: list[float | None]) -> Record:
    return {**record, "series": {**record["series"], "t_predicted_k": predicted}}


def test_truth_and_prediction_share_the_time_they_are_about(mpc: Record) -> None:
    figure, series = draw_run(mpc), mpc["series"]
    for gid, name in (("truth-run", "t_true_k"), ("predicted", "t_predicted_k")):
        assert xy(figure, gid)[:, 0] == pytest.approx(np.array(series["t_s"]) * 1e3)  # ms
        assert xy(figure, gid)[:, 1].tolist() == series[name]


def test_what_was_not_predicted_is_a_gap(mpc: Record) -> None:
    predicted = [None if k == 50 else value for k, value in enumerate(mpc["series"]["t_predicted_k"])]
    drawn = xy(draw_run(with_predictions(mpc, predicted)), "predicted")[:, 1]
    assert np.flatnonzero(np.isnan(drawn)).tolist() == [50]


def test_a_controller_that_predicts_nothing_has_no_predicted_curve(pi: Record) -> None:
    assert "predicted" not in gids(draw_run(pi))


def test_the_tightened_bound_lies_a_margin_below_the_window_top(mpc: Record) -> None:
    assert xy(draw_run(mpc), "tightened-run")[:, 1] == pytest.approx(800 - 13)
    assert "tightened-run" not in gids(draw_run({**mpc, "delta_k": 0.0}))


def test_the_marked_ticks_are_those_that_are_counted(constant: Record) -> None:
    marked = xy(draw_run(constant), "over-run")
    assert len(marked) == constant["n_over"] > 0
    assert marked[:, 1].min() > 800
    assert marked[:, 1].max() == constant["t_max_k"]


def test_heat_before_the_settling_is_not_marked(pi: Record) -> None:
    truth = [900.0 if k == 8 else 780.0 for k in range(90)]
    figure = draw_run({**pi, "series": {**pi["series"], "t_true_k": truth}})
    assert len(xy(figure, "over-run")) == 0
    assert xy(figure, "settled-run")[:, 0] == pytest.approx(11 * 0.125)  # ms, the end of tick 10


def test_heat_in_the_dark_and_just_after_it_is_not_marked(make_record: MakeRecord) -> None:
    record = make_record(dark=slice(30, 35))
    truth = [900.0 if k in (8, 20, 32, 40, 50) else 780.0 for k in range(90)]
    figure = draw_run({**record, "series": {**record["series"], "t_true_k": truth}})
    assert xy(figure, "over-run")[:, 0] == pytest.approx([21 * 0.125, 51 * 0.125])  # ms, ticks 20 and 50
    ends = [line for line in figure.axes[0].get_lines() if line.get_gid() == "settled-run"]
    assert [np.asarray(line.get_xdata())[0] for line in ends] == pytest.approx([11 * 0.125, 46 * 0.125])


def test_on_the_graded_plant_heat_just_after_a_dark_stretch_is_marked(make_record: MakeRecord) -> None:
    record = make_record(dark=slice(30, 35), subgrid=True)
    truth = [900.0 if k in (0, 32, 35) else 780.0 for k in range(90)]
    figure = draw_run({**record, "series": {**record["series"], "t_true_k": truth}})
    assert xy(figure, "over-run")[:, 0] == pytest.approx([0.125, 36 * 0.125])
    assert figure.axes[0].get_ylim()[1] > 900.0


def test_power_is_held_until_the_end_of_its_tick(mpc: Record) -> None:
    steps = xy(draw_run(mpc), "power")
    assert steps[0, 0] == pytest.approx(0.0)
    assert steps[1:, 1].tolist() == mpc["series"]["power_w"]


def test_a_sharp_turn_is_marked_when_it_happens(mpc: Record) -> None:
    assert xy(draw_run(mpc), "turns-run")[:, 0] == pytest.approx([41 * 0.125])  # ms, the end of tick 40


def test_an_absurd_prediction_does_not_hide_the_truth(mpc: Record) -> None:
    absurd = with_predictions(mpc, [1e6] * 90)
    low, high = draw_run(absurd).axes[0].get_ylim()
    assert low < 760
    assert 800 < high < 1000


def test_the_axis_names_the_window(mpc: Record, constant: Record) -> None:
    for record in (mpc, constant):
        assert {760.0, 800.0} <= set(draw_run(record).axes[0].get_yticks())


def test_the_colours_of_the_residual_are_symmetric_about_zero(mpc: Record) -> None:
    lines = coloured(draw_residual_map(mpc))
    low, high = lines.get_clim()
    assert low is not None
    assert high == pytest.approx(-low)
    assert high == pytest.approx(mpc["residual_max_k"])
    under, none, over = lines.to_rgba(np.array([low, 0.0, high]))
    assert under[0] > under[2] + 0.3  # red
    assert over[2] > over[0] + 0.3  # blue
    assert np.ptp(none[:3]) < 0.1


def test_every_settled_residual_is_coloured_where_its_tick_ended(mpc: Record) -> None:
    lines, series = coloured(draw_residual_map(mpc)), mpc["series"]
    ends = [tuple(hop[-1]) for hop in lines.get_segments()]
    drawn = dict(zip(ends, np.asarray(lines.get_array()), strict=True))
    settled = range(mpc["settled_from"], mpc["ticks"])
    assert len(drawn) == len(settled)
    for k in settled:
        residual = series["t_predicted_k"][k] - series["t_true_k"][k]
        assert drawn[series["x_mm"][k], series["y_mm"][k]] == pytest.approx(residual)


def test_the_worst_place_is_noted_with_value_place_and_time(mpc: Record) -> None:
    figure, worst = draw_residual_map(mpc), mpc["worst_residual"]
    assert xy(figure, "worst")[0] == pytest.approx((worst["x_mm"], worst["y_mm"]))
    text = note(figure).get_text().replace("−", "-")
    assert f"{worst['residual_k']:+.1f} K" in text
    assert f"({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm" in text
    assert f"{worst['t_ms']:.2f} ms" in text


def test_the_note_covers_no_point_of_the_path(mpc: Record) -> None:
    figure = draw_residual_map(mpc)
    figure.draw_without_rendering()
    words = Text.get_window_extent(note(figure))  # without the line that leads to the place
    path = np.column_stack((mpc["series"]["x_mm"], mpc["series"]["y_mm"]))
    assert not any(words.contains(*point) for point in figure.axes[0].transData.transform(path))


def test_a_perfect_prediction_can_be_mapped(mpc: Record) -> None:
    perfect = with_predictions(mpc, mpc["series"]["t_true_k"])
    assert coloured(draw_residual_map(perfect)).get_clim() == (-1.0, 1.0)


def test_a_map_of_no_predictions_is_refused(pi: Record) -> None:
    with pytest.raises(BadInput, match="'pi' made none"):
        draw_residual_map(pi)


def test_compared_runs_share_their_axes(mpc: Record, pi: Record, constant: Record) -> None:
    *panels, power = draw_comparison([mpc, pi, constant]).axes
    assert len(panels) == 3
    assert (
        len({axes.get_ylim() for axes in panels}) == len({axes.get_xlim() for axes in (*panels, power)}) == 1
    )
    assert panels[0].get_ylim()[1] > constant["t_max_k"]


def test_compared_runs_differ_in_colour_and_line(mpc: Record, pi: Record, constant: Record) -> None:
    lines = draw_comparison([mpc, pi, constant]).axes[-1].get_lines()
    assert len({line.get_color() for line in lines}) == len({line.get_linestyle() for line in lines}) == 3


def test_two_runs_of_one_controller_have_different_titles(mpc: Record) -> None:
    first, second, _ = draw_comparison([mpc, {**mpc, "model": "paper-base"}]).axes
    assert "paper-corner" in first.get_title(loc="left")
    assert "paper-base" in second.get_title(loc="left")


def test_times_stand_on_a_log_axis_against_the_interval(mpc: Record, pi: Record) -> None:
    figure = draw_tick_times([mpc, pi])
    assert figure.axes[0].get_yscale() == "log"
    assert xy(figure, "interval")[:, 1] == pytest.approx(0.125)
    assert xy(figure, "tick-0")[:, 1].tolist() == mpc["series"]["tick_ms"]
    assert xy(figure, "solve-0")[:, 1].tolist() == mpc["series"]["solve_ms"]
    assert "solve-1" not in gids(figure)


@pytest.mark.parametrize("draw", [draw_comparison, draw_tick_times])
def test_a_figure_of_no_runs_is_refused(draw: Callable[[list[Record]], Figure]) -> None:
    with pytest.raises(BadInput, match="at least one"):
        draw([])


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("ticks", [1, 11])
def test_runs_of_any_length_can_be_drawn(
    draw: Callable[[Record], Figure], ticks: int, make_record: MakeRecord
) -> None:
    save(draw(make_record(ticks=ticks)))
    save(draw(make_record("pi", ticks=ticks, predicted=False)))


@pytest.mark.parametrize("ticks", [1, 9])
def test_short_runs_can_be_mapped(ticks: int, make_record: MakeRecord) -> None:
    save(draw_residual_map(make_record(ticks=ticks)))


def test_a_run_that_ended_before_its_first_tick_can_be_drawn(make_record: MakeRecord, pi: Record) -> None:
    nothing = make_record(ticks=0, ending="the plant stopped at tick 0: too hot")
    save(draw_run(nothing))
    save(draw_comparison([nothing, pi]))
    save(draw_tick_times([nothing, pi]))
    with pytest.raises(BadInput, match="at least one tick"):
        draw_tick_times([nothing])


@pytest.mark.parametrize("label", ["_$x_{$<b>&amp;", "a\nb" * 40])
def test_any_label_can_be_drawn(label: str, mpc: Record) -> None:
    for draw in (*DRAWINGS, draw_residual_map):
        save(draw({**mpc, "label": label}))
    legend = draw_comparison([{**mpc, "label": label}]).legends[0]
    shown = [text.get_text().strip().lower() for text in legend.get_texts()]
    assert any(" ".join(label.split()).lower()[:30] in text for text in shown)


def test_no_legend_is_wider_than_its_figure(mpc: Record, pi: Record, constant: Record) -> None:
    for label in ("ours", "a label of a user who likes to explain it all"):
        records = [{**mpc, "label": label}, pi, constant, {**mpc, "model": "paper-base"}, mpc]
        for figure in (draw_run(records[0]), draw_comparison(records), draw_tick_times(records)):
            figure.draw_without_rendering()
            assert figure.legends[0].get_window_extent().x1 < figure.bbox.x1


def test_the_labels_of_the_axis_keep_apart(mpc: Record, constant: Record) -> None:
    cold = {**constant, "series": {**constant["series"], "t_true_k": [300.0] * 90}}
    for record in (mpc, constant, cold):
        axes = draw_run(record).axes[0]
        low, high = axes.get_ylim()
        assert np.diff(axes.get_yticks()).min() > 0.07 * (high - low)


def test_drawing_leaves_matplotlib_as_it_was(mpc: Record) -> None:
    before = dict(mpl.rcParams)
    for draw in (*DRAWINGS, draw_residual_map):
        draw(mpc)
    assert dict(mpl.rcParams) == before


def test_side_by_side_each_has_a_panel_on_the_same_scale_and_the_plant_is_named(
    mpc: Record, pi: Record, constant: Record
) -> None:
    figure = draw_side_by_side([mpc, pi, constant])
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert [axes.get_title(loc="left").partition(":")[0] for axes in shown] == [
        "Real-time MPC",
        "PI",
        "Constant power",
    ]
    assert f"plant {mpc['plant']}" in figure.get_suptitle()
    save(figure)


def test_side_by_side_no_title_runs_out_of_its_half(pi: Record) -> None:
    many = {"label": "the paper's MPC", "n_over": 55, "t_max_k": 910.0}
    figure = draw_side_by_side([pi | many, pi | many])
    figure.canvas.draw()
    for axes in figure.axes:
        words = next(text for text in axes.findobj(Text) if "MPC" in text.get_text())
        assert words.get_window_extent().x1 <= axes.get_window_extent().x1
