"""The camera: what it shows of a surface, when, and how exactly."""

import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad

from laserloop.bad_input import BadInput
from laserloop.plant.camera import Camera, Image, pixel_edges, pixel_weights, spline_weights
from laserloop.plant.paper import Grid, uniform_grid
from laserloop.plant.surface import Surface
from laserloop.process import CameraSettings
from laserloop.process.process import SAMPLINGS, Sampling

FloatArray = NDArray[np.float64]

PATIENT = settings(deadline=None, max_examples=60)  # the machine may be busy
PAPER = uniform_grid()
STEPS = np.linspace(-1.0, 1.0, 161)
UNEVEN = 0.3 * STEPS + 0.7 * STEPS**3  # finest in the middle
GRADED = Grid(x=7.5e-3 * UNEVEN, y=5e-3 * UNEVEN, z=PAPER.z)
GRIDS = pytest.mark.parametrize("grid", [PAPER, GRADED])
ANY_SAMPLING = st.sampled_from(SAMPLINGS)
SOFT_SAMPLING = st.sampled_from(SAMPLINGS[1:])  # those that rounding of a point moves little
LINES = 1e-4 * np.arange(-10.0, 11.0)  # m, both ways


def camera(**changes: Any) -> Camera:
    return Camera(CameraSettings(**changes))


def square(temperature: FloatArray, time: float = 0.0) -> Surface:
    return Surface(LINES, LINES, temperature, time)


def random_surface(seed: int = 0, time: float = 0.0) -> Surface:
    return square(np.random.default_rng(seed).uniform(300.0, 900.0, (21, 21)), time)


def even(temperature: float, time: float) -> Surface:
    """A surface of one temperature."""
    return square(np.full((21, 21), temperature), time)


def bump(x: FloatArray, y: FloatArray, cx: float = 0.0, cy: float = 0.0) -> Surface:
    r2 = (x - cx) ** 2 + (y[:, np.newaxis] - cy) ** 2
    return Surface(x, y, 300.0 + 500.0 * np.exp(-0.5 * r2 / 150e-6**2), 0.0)


# ---- the whole image ----


def test_the_papers_camera_shows_the_nodes_themselves() -> None:
    surface = random_surface(time=0.25)
    image = Camera().see(surface)
    np.testing.assert_array_equal(image.frame, surface.temperature)
    np.testing.assert_array_equal(image.x, surface.x)
    np.testing.assert_array_equal(image.y, surface.y)
    assert (image.time, image.peak) == (0.25, surface.node)


def test_an_image_can_neither_be_changed_nor_change_with_the_surface() -> None:
    surface = random_surface()
    image = Camera().see(surface)
    before = surface.temperature.copy()
    surface.temperature[:] = 0.0
    np.testing.assert_array_equal(image.frame, before)
    for array in (image.x, image.y, image.temperature, image.frame):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize(
    "changes",
    [{}, {"pixel": 130e-6}, {"noise": 9.0}, {"exposure": 3}, {"sampling": "smooth", "subgrid": True}],
)
def test_a_camera_never_changes_what_it_sees(changes: dict[str, Any]) -> None:
    surface = random_surface()
    before = copy.deepcopy(surface)
    eye = camera(**changes)
    for _ in range(3):
        image = eye.see(surface)
        image.sample([[0.0, 0.0]])
        image.patch((0.0, 0.0), 1.0, size=3, spacing=1e-4)
    for name in ("x", "y", "temperature"):
        np.testing.assert_array_equal(getattr(surface, name), getattr(before, name))
        assert getattr(surface, name).flags.writeable


# ---- pixels ----


@GRIDS
@pytest.mark.parametrize("pixel", [50e-6, 100e-6, 250e-6, 2.5e-3])
def test_pixels_that_tile_the_plate_keep_its_mean_temperature(grid: Any, pixel: float) -> None:
    surface = bump(grid.x, grid.y, 2e-4, -1e-4)
    image = camera(pixel=pixel).see(surface)
    mean = np.trapezoid(np.trapezoid(surface.temperature, grid.x), grid.y) / (15e-3 * 10e-3)
    assert image.frame.shape == (round(10e-3 / pixel), round(15e-3 / pixel))
    assert image.frame.mean() == pytest.approx(mean, rel=1e-12)


@GRIDS
@PATIENT
@given(st.floats(40e-6, 3e-3))
def test_pixels_of_any_size_cover_the_plate_evenly_about_its_centre(grid: Any, pixel: float) -> None:
    """Outermost pixels are clipped, so each side's centres and widths still add up to the plate."""
    image = camera(pixel=pixel).see(bump(grid.x, grid.y))
    for centres, nodes in ((image.x, grid.x), (image.y, grid.y)):
        np.testing.assert_allclose(centres, -centres[::-1], atol=1e-12)
        np.testing.assert_allclose(np.diff(centres)[1:-1], pixel)
        clipped = 2 * (centres[0] - nodes[0])  # width of the first pixel
        assert 0.5 * pixel * (1 - 1e-6) <= clipped <= pixel * (1 + 1e-6)
        assert 2 * clipped + (len(centres) - 2) * pixel == pytest.approx(np.ptp(nodes))


@GRIDS
@PATIENT
@given(st.floats(40e-6, 3e-3), st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_a_pixel_sees_a_linear_field_at_its_centre(grid: Any, pixel: float, gx: float, gy: float) -> None:
    temperature = 500.0 + gx * grid.x + gy * grid.y[:, np.newaxis]
    image = camera(pixel=pixel).see(Surface(grid.x, grid.y, temperature, 0.0))
    expected = 500.0 + gx * image.x + gy * image.y[:, np.newaxis]
    np.testing.assert_allclose(image.frame, expected, atol=1e-8)


def test_a_plate_away_from_the_origin_is_seen_as_one_around_it() -> None:
    here, shift = bump(PAPER.x, PAPER.y), 4e-3
    there = Surface(here.x + shift, here.y - shift, here.temperature, 0.0)
    around, away = (camera(pixel=270e-6).see(surface) for surface in (here, there))
    np.testing.assert_allclose(away.x, around.x + shift, atol=1e-12)
    np.testing.assert_allclose(away.y, around.y - shift, atol=1e-12)
    np.testing.assert_allclose(away.frame, around.frame, atol=1e-8)


def test_a_pixel_holds_the_exact_mean_of_the_bilinear_field_under_it() -> None:
    image, nodes = (
        camera(pixel=270e-6).see(random_surface()),
        camera(sampling="bilinear").see(random_surface()),
    )
    fine = (np.arange(27.0) + 0.5) * 1e-5  # midpoints of 10 µm parts; node lines lie between parts: exact
    left, low = image.x[3] - 135e-6, image.y[4] - 135e-6
    inside = np.stack(np.meshgrid(left + fine, low + fine), axis=-1).reshape(-1, 2)
    assert image.frame[4, 3] == pytest.approx(nodes.sample(inside).mean(), rel=1e-12)


def test_a_surface_of_less_emissivity_seems_as_cold_as_its_radiance() -> None:
    surface = random_surface()
    image = camera(emissivity=0.8).see(surface)
    np.testing.assert_allclose(image.frame**4, 0.8 * surface.temperature**4)


def test_an_image_of_any_numbers_holds_doubles_row_by_row() -> None:
    surface = random_surface()
    whole = np.asfortranarray(surface.temperature.astype(np.float32))
    image = Image(time=0.0, x=LINES, y=LINES, temperature=whole, peak=surface.node)  # type: ignore[arg-type]
    assert image.temperature.dtype == np.float64
    assert image.temperature.flags.c_contiguous


def test_larger_pixels_see_a_lower_peak() -> None:
    peaks = [
        camera(pixel=p, subgrid=True).see(bump(GRADED.x, GRADED.y)).peak.temperature
        for p in (50e-6, 100e-6, 200e-6)
    ]
    assert 800.0 > peaks[0] > peaks[1] > peaks[2] > 500.0


@pytest.mark.parametrize(("pixel", "count"), [(6e-3, 2), (1.0, 1), (1e-7, 100000)])
def test_a_plate_needs_a_sensible_number_of_pixels(pixel: float, count: int) -> None:
    sentence = f"must have 3 to 4096 pixels along a side of 0.01 m, got {count} of {pixel:g} m: change"
    with pytest.raises(BadInput, match=sentence):
        camera(pixel=pixel).see(bump(PAPER.y, PAPER.y))


def test_a_surface_of_another_grid_gets_pixels_of_its_own() -> None:
    eye = camera(pixel=100e-6, exposure=2, delay=1)
    for grid in (PAPER, GRADED, PAPER):
        seen = eye.see(bump(grid.x, grid.y))
        alone = camera(pixel=100e-6).see(bump(grid.x, grid.y))
        np.testing.assert_array_equal(seen.frame, alone.frame)


# ---- the peak ----


@PATIENT
@given(st.floats(-3e-4, 3e-4), st.floats(-3e-4, 3e-4))
def test_a_subgrid_peak_lies_between_the_pixels_and_a_plain_one_on_the_hottest(cx: float, cy: float) -> None:
    surface = bump(0.5 * LINES, 0.5 * LINES, cx, cy)
    assert Camera().see(surface).peak == surface.node
    peak = camera(subgrid=True).see(surface).peak
    assert peak.temperature == pytest.approx(800.0, abs=0.1)
    assert np.hypot(peak.x - cx, peak.y - cy) < 1e-6


@pytest.mark.parametrize("subgrid", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_an_image_with_other_temperatures_is_read_as_the_camera_reads(
    subgrid: bool, sampling: Sampling
) -> None:
    here, there = bump(PAPER.x, PAPER.y), bump(PAPER.x, PAPER.y, 3e-5, -2e-5)
    image = camera(subgrid=subgrid, sampling=sampling).see(here)
    other = image.with_temperature(there.temperature)
    assert (other.sampling, other.subgrid, other.time) == (sampling, subgrid, image.time)
    assert other.peak == (there.peak if subgrid else there.node)


def test_a_noisy_peak_is_the_hottest_pixel_of_the_noisy_image() -> None:
    image = camera(noise=20.0).see(bump(LINES, LINES))
    row, col = np.unravel_index(np.argmax(image.frame), image.frame.shape)
    assert image.peak.temperature == image.frame.max()
    assert (image.peak.x, image.peak.y) == (image.x[col], image.y[row])


# ---- noise ----


@pytest.mark.parametrize("changes", [{}, {"exposure": 4}, {"pixel": 200e-6}, {"delay": 2}])
def test_noise_has_the_stated_deviation_in_every_pixel_of_every_image(changes: dict[str, Any]) -> None:
    eye = camera(noise=5.0, seed=1, **changes)
    images = [eye.see(even(600.0, k)) for k in range(400)][4:]
    noise = np.stack([image.frame for image in images]) - 600.0
    assert noise.std() == pytest.approx(5.0, rel=0.02)
    assert noise.mean() == pytest.approx(0.0, abs=0.1)
    neighbours = (noise[:, 1:] * noise[:, :-1]).mean() / 25.0
    successors = (noise[1:] * noise[:-1]).mean() / 25.0
    assert max(abs(neighbours), abs(successors)) < 0.03


@PATIENT
@given(st.integers(0, 2**64), st.integers(0, 3), st.integers(1, 3))
def test_the_same_seed_gives_the_same_images_and_a_reset_begins_them_again(
    seed: int, delay: int, exposure: int
) -> None:
    one, two = (camera(noise=5.0, seed=seed, delay=delay, exposure=exposure) for _ in range(2))

    def watch(eye: Camera) -> FloatArray:
        return np.stack([eye.see(random_surface(k, time=k)).frame for k in range(4)])

    first = watch(one)
    np.testing.assert_array_equal(watch(two), first)
    two.reset()
    np.testing.assert_array_equal(watch(two), first)


def test_another_seed_gives_another_image() -> None:
    one, two = (camera(noise=5.0, seed=seed).see(even(600.0, 0.0)).frame for seed in (0, 1))
    assert np.abs(one - two).min() > 0


def test_a_plant_that_starts_over_starts_its_camera_over() -> None:
    eye = camera(noise=5.0, exposure=2, delay=3)
    runs = [[eye.see(random_surface(k, time=k)).frame for k in range(5)] for _ in range(2)]
    np.testing.assert_array_equal(runs[0], runs[1])


# ---- delay and exposure ----


@PATIENT
@given(st.integers(0, 6), st.integers(1, 6))
def test_an_image_averages_its_exposure_and_comes_late_by_its_delay(delay: int, exposure: int) -> None:
    eye = camera(delay=delay, exposure=exposure)
    temperatures = 300.0 + np.arange(12.0) ** 2
    for k in range(12):
        image = eye.see(even(temperatures[k], time=0.1 * k))
        end = max(k - delay, 0)
        assert image.time == 0.1 * end
        expected = temperatures[max(end - exposure + 1, 0) : end + 1].mean()
        np.testing.assert_allclose(image.frame, expected, rtol=1e-14)
        assert image.peak.temperature == image.frame.max()


def test_until_the_first_late_image_arrives_the_very_first_is_shown_with_the_same_noise() -> None:
    eye = camera(delay=2, noise=5.0)
    images = [eye.see(random_surface(k, time=k)) for k in range(4)]
    assert images[0] is images[1] is images[2]
    assert images[3].time == 1.0


# ---- sampling ----


def linear(gx: float, gy: float) -> Surface:
    return square(500.0 + gx * LINES + gy * LINES[:, np.newaxis])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_points_off_the_plate_are_seen_at_its_edge(sampling: Sampling) -> None:
    image = camera(sampling=sampling).see(linear(1e5, 1e4))
    found = image.sample([[5.0, 0.0], [-5.0, 0.0], [5.0, 5.0], [0.0, -5.0]])
    np.testing.assert_allclose(found, [600.0, 400.0, 610.0, 490.0])


def test_only_a_smooth_camera_samples_a_parabola_exactly() -> None:
    surface = square(300.0 + 1e9 * (LINES**2 + LINES[:, np.newaxis] ** 2))
    point = [[130e-6, -250e-6]]
    exact = 300.0 + 1e9 * (130e-6**2 + 250e-6**2)
    assert camera(sampling="smooth").see(surface).sample(point)[0] == pytest.approx(exact, rel=1e-12)
    assert camera(sampling="bilinear").see(surface).sample(point)[0] > exact + 1.0


def test_the_papers_camera_reads_the_pixel_under_a_point() -> None:
    image = Camera().see(random_surface())
    row, col = 4, 15
    beside = [
        image.x[col] + 0.49 * (image.x[1] - image.x[0]),
        image.y[row] - 0.49 * (image.y[1] - image.y[0]),
    ]
    assert image.sample([beside])[0] == image.frame[row, col]


def test_no_points_have_no_temperatures() -> None:
    assert Camera().see(random_surface()).sample(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_point_that_is_nowhere_is_refused(bad: float) -> None:
    image = Camera().see(random_surface())
    with pytest.raises(
        BadInput, match=r"finite pairs \(n, 2\) of x and y in m, got \[\[0\.0, (nan|-?inf)\]\]"
    ):
        image.sample([[0.0, bad]])
    with pytest.raises(BadInput, match=r"finite centre .* got \[(nan|-?inf), 0\.0\] and 0\.5"):
        image.patch([bad, 0.0], 0.5, size=3, spacing=1e-4)
    with pytest.raises(BadInput, match=r"finite heading in rad, got \[0\.0, 0\.0\] and (nan|-?inf)"):
        image.patch([0.0, 0.0], bad, size=3, spacing=1e-4)


@pytest.mark.parametrize("shape", [(2,), (3, 3), (2, 2, 2)])
def test_points_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="sample points must be finite pairs"):
        Camera().see(random_surface()).sample(np.zeros(shape))


# ---- patches ----


def test_a_patch_has_the_heading_along_its_columns_and_the_left_along_its_rows() -> None:
    image = camera(sampling="bilinear").see(linear(1e5, 0.0))  # 10 K warmer every 100 µm towards +x
    towards = image.patch((0.0, 0.0), 0.0, size=3, spacing=1e-4)
    np.testing.assert_allclose(towards, [[490, 500, 510]] * 3)
    heading_up = image.patch((0.0, 0.0), np.pi / 2, size=3, spacing=1e-4)  # +x is to the right
    np.testing.assert_allclose(heading_up, [[510] * 3, [500] * 3, [490] * 3])


@PATIENT
@given(st.floats(-7.0, 7.0), st.floats(-4e-4, 4e-4), st.floats(-4e-4, 4e-4), ANY_SAMPLING)
def test_the_centre_of_a_patch_is_the_beam(heading: float, cx: float, cy: float, sampling: Sampling) -> None:
    image = camera(sampling=sampling).see(random_surface())
    patch = image.patch((cx, cy), heading, size=7, spacing=80e-6)
    assert patch.shape == (7, 7)
    assert patch[3, 3] == pytest.approx(image.sample([[cx, cy]])[0])


@PATIENT
@given(st.floats(-3.0, 3.0), st.floats(-3e-4, 3e-4), st.floats(-3e-4, 3e-4), SOFT_SAMPLING)
def test_turning_the_heading_left_turns_the_patch_right(
    heading: float, cx: float, cy: float, sampling: Sampling
) -> None:
    image = camera(sampling=sampling).see(random_surface())
    before, after = (
        image.patch((cx, cy), angle, size=5, spacing=1e-4) for angle in (heading, heading + np.pi / 2)
    )
    np.testing.assert_allclose(after, np.rot90(before), rtol=1e-9)


@PATIENT
@given(st.floats(-3.0, 3.0), st.floats(-3e-4, 3e-4), st.floats(-3e-4, 3e-4), SOFT_SAMPLING)
def test_a_world_turned_together_with_its_beam_shows_the_same_patch(
    heading: float, cx: float, cy: float, sampling: Sampling
) -> None:
    surface = random_surface()
    turned = square(np.ascontiguousarray(np.rot90(surface.temperature, -1)))  # to the left, as y points up
    here = camera(sampling=sampling).see(surface).patch((cx, cy), heading, size=5, spacing=1e-4)
    there = camera(sampling=sampling).see(turned).patch((-cy, cx), heading + np.pi / 2, size=5, spacing=1e-4)
    np.testing.assert_allclose(there, here, rtol=1e-9)


@pytest.mark.parametrize("size", [0, -3, 4, 2.5, True])
def test_a_patch_without_a_centre_is_refused(size: Any) -> None:
    with pytest.raises(BadInput, match=f"size must be an odd whole number, .* got {size}"):
        Camera().see(random_surface()).patch((0.0, 0.0), 0.0, size=size, spacing=1e-4)


@pytest.mark.parametrize("spacing", [0.0, -1e-4, np.nan, np.inf])
def test_a_patch_without_a_spacing_is_refused(spacing: float) -> None:
    with pytest.raises(BadInput, match=f"spacing must be a positive length in m, got {spacing}"):
        Camera().see(random_surface()).patch((0.0, 0.0), 0.0, size=3, spacing=spacing)


# ---- settings ----


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pixel": 0.0}, "a camera's pixel must be a positive length in m or None, got 0.0"),
        ({"pixel": np.nan}, "a camera's pixel must be a positive length in m or None, got nan"),
        ({"pixel": np.inf}, "a camera's pixel must be a positive length in m or None, got inf"),
        ({"noise": -1.0}, "a camera's noise must be a finite number ≥ 0 K, got -1.0"),
        ({"noise": np.nan}, "a camera's noise must be a finite number ≥ 0 K, got nan"),
        ({"exposure": 0}, "a camera's exposure must be a whole number ≥ 1, got 0"),
        ({"exposure": 1.5}, "a camera's exposure must be a whole number ≥ 1, got 1.5"),
        ({"delay": -1}, "a camera's delay must be a whole number ≥ 0, got -1"),
        ({"delay": True}, "a camera's delay must be a whole number ≥ 0, got True"),
        ({"sampling": "cubic"}, "a sampling must be one of nearest, bilinear, smooth, got 'cubic'"),
        ({"seed": -1}, "a camera's seed must be a whole number ≥ 0, got -1"),
    ],
)
def test_a_camera_that_cannot_be_built_says_why(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        CameraSettings(**changes)
    assert str(caught.value).startswith(f"{sentence}: ")


def test_an_image_knows_nothing_but_what_it_shows() -> None:
    assert set(Image.__slots__) == {"time", "x", "y", "temperature", "peak", "sampling", "subgrid"}


@pytest.mark.parametrize("pixel", [50e-6, 100e-6, 200e-6])
def test_a_smooth_camera_reads_the_mean_over_a_pixel_and_not_of_chords(pixel: float) -> None:
    nodes, width = np.linspace(-2e-3, 2e-3, 81), 122e-6
    edges = pixel_edges(nodes, pixel)
    heat = 480.0 * np.exp(-0.5 * (nodes / width) ** 2)
    exact = [
        480.0 * quad(lambda x: np.exp(-0.5 * (x / width) ** 2), *span)[0] / pixel for span in pairwise(edges)
    ]
    inner = slice(2, -2)  # the outermost pixels are clipped
    assert (spline_weights(nodes, edges) @ heat)[inner] == pytest.approx(exact[inner], abs=0.1)
    assert np.abs(pixel_weights(nodes, edges) @ heat - exact)[inner].max() > 1.5
    assert spline_weights(nodes, edges).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


# ---- nodes that follow the beam ----


@pytest.mark.parametrize("pixel", [None, 200e-6])
def test_an_exposure_goes_on_when_the_nodes_of_the_plate_move(pixel: float | None) -> None:
    eye = camera(exposure=2, pixel=pixel, sampling="smooth")
    finer = np.union1d(LINES, LINES[8:12] + 5e-5)
    eye.see(bump(LINES, LINES))
    moved = bump(finer, LINES)
    image = eye.see(Surface(moved.x, moved.y, moved.temperature + 20.0, 1.0))
    alone = camera(pixel=pixel, sampling="smooth").see(moved)
    np.testing.assert_allclose(image.frame, alone.frame + 10.0, atol=3.0)
    np.testing.assert_array_equal(image.x, alone.x)


def test_another_plate_begins_another_run() -> None:
    eye = camera(exposure=2)
    eye.see(even(400.0, 0.0))
    wider = Surface(2 * LINES, LINES, np.full((21, 21), 600.0), 1.0)
    assert np.all(eye.see(wider).frame == 600.0)
