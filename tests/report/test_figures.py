import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import WINDOW, Episode
from laserloop.report.figures import draw_history, draw_overview, save_figure

FIGURES = [draw_history, draw_overview]
PATH, SURFACES = 1, (3, 4)  # axes of an overview under constant power; a bar of colours stands between


def line(figure: Figure, gid: str) -> Line2D:
    return next(line for axes in figure.axes for line in axes.get_lines() if line.get_gid() == gid)


def isotherms(axes: Axes) -> list[float]:
    return [level for child in axes.get_children() if isinstance(child, ContourSet) for level in child.levels]


def xy(figure: Figure, gid: str) -> NDArray[np.float64]:
    return np.asarray(line(figure, gid).get_xydata(), dtype=np.float64)


def test_the_bold_curve_is_the_plants_own_t_max(paper: Episode, graded: Episode) -> None:
    assert (xy(draw_history(paper), "t_max")[:, 1] == paper.t_max).all()
    assert (xy(draw_history(paper), "other")[:, 1] == paper.t_peak).all()
    assert (xy(draw_history(graded), "t_max")[:, 1] == graded.t_peak).all()
    figure = draw_history(graded)
    assert line(figure, "t_max").get_linewidth() > line(figure, "other").get_linewidth()


def test_time_is_in_milliseconds(paper: Episode) -> None:
    assert xy(draw_history(paper), "t_max")[:, 0] == pytest.approx(paper.t * 1e3)


def test_the_axis_shows_the_window_and_all_temperatures_that_count(paper: Episode, graded: Episode) -> None:
    for episode in (paper, graded):
        low, high = draw_history(episode).axes[0].get_ylim()
        assert low < min(WINDOW[0], episode.temperature[episode.counts_below].min())
        assert high > max(WINDOW[1], episode.temperature[episode.counts_above].max())


def test_a_sharp_turn_is_marked_when_it_happens(paper: Episode) -> None:
    times = xy(draw_history(paper), "turns")[:, 0]
    assert times == pytest.approx([1.5 / 0.304], abs=0.13)  # ms: 1.5 mm at 0.304 m/s, within a tick


def test_power_is_shown_only_when_it_varies(paper: Episode, shaken: Episode) -> None:
    assert len(draw_history(paper).axes) == 1
    assert draw_history(shaken).axes[1].get_ylabel() == "power, W"


def test_the_path_is_coloured_tick_by_tick_in_millimetres(paper: Episode) -> None:
    axes = draw_overview(paper).axes[PATH]
    lines = next(c for c in axes.collections if isinstance(c, LineCollection))
    assert (np.asarray(lines.get_array()) == paper.t_max).all()
    ends = np.array([segment[-1] for segment in lines.get_segments()])
    assert ends == pytest.approx(paper.positions * 1e3)
    assert axes.get_aspect() == 1.0


def test_the_start_of_the_path_is_marked(paper: Episode) -> None:
    assert xy(draw_overview(paper), "start")[0] == pytest.approx((-1.5, 0.0))


def test_grey_means_inside_the_window(paper: Episode) -> None:
    lines = next(c for c in draw_overview(paper).axes[PATH].collections if isinstance(c, LineCollection))
    inside, below, above = lines.to_rgba(np.array([780.0, 730.0, 850.0]))
    assert np.ptp(inside[:3]) < 0.1
    assert below[2] - below[0] > 0.2  # blue
    assert above[0] - above[2] > 0.2  # red


def test_the_surface_shows_the_hottest_tick_with_the_isotherms_of_the_window(paper: Episode) -> None:
    figure = draw_overview(paper)
    whole, close = (figure.axes[k] for k in SURFACES)
    for axes in (whole, close):
        mesh = next(c for c in axes.collections if isinstance(c, QuadMesh))
        assert np.max(np.asarray(mesh.get_array())) == paper.hottest.temperature.max()
        assert isotherms(axes) == list(WINDOW)
    for beam in ("beam-whole", "beam-close"):
        assert xy(figure, beam)[0] == pytest.approx(paper.positions[paper.hottest_tick] * 1e3)


def test_a_cold_surface_has_no_isotherms(cold: Episode) -> None:
    assert isotherms(draw_overview(cold).axes[SURFACES[0]]) == []


@pytest.mark.parametrize("draw", FIGURES)
def test_every_figure_can_be_drawn_of_every_episode(
    draw: object, paper: Episode, graded: Episode, shaken: Episode, cold: Episode
) -> None:
    assert callable(draw)
    for episode in (paper, graded, shaken, cold):
        stream = io.BytesIO()
        draw(episode).savefig(stream, format="png", dpi=30)
        assert stream.getvalue().startswith(b"\x89PNG")


def test_drawing_leaves_matplotlib_as_it_was(paper: Episode) -> None:
    before = dict(mpl.rcParams)
    draw_overview(paper)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")])
def test_a_figures_format_follows_its_name(tmp_path: Path, name: str, start: bytes) -> None:
    save_figure(tmp_path / name, Figure())
    assert (tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_figure_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.png, \.svg, \.pdf, but got 'a\.xyz'"):
        save_figure(tmp_path / "a.xyz", Figure())
