"""What the paper says of its models offline: the ablations, and Table 1."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from laserloop.studies.halilovic import published
from laserloop.studies.halilovic.check import (
    FACTOR,
    STEADY,
    Check,
    describe_both,
    is_flat,
    is_near,
    join,
    judge_all,
)
from laserloop.studies.halilovic.measures import COLUMNS, figures_of
from laserloop.studies.halilovic.results import MODELS, Point, Record

SIZES = (("basis", "50"), ("basis", "100"), ("basis", "150"), ("width", "64"), ("width", "256"))
SEEN = ("vertical", "spiral")
ON_SEEN = list(product(SEEN, MODELS))
ON_DIAGONAL = [("diagonal", model) for model in MODELS]
MEAN, WORST = COLUMNS.index("mean"), COLUMNS.index("worst")
PERCENT = 7.8  # K, of a temperature kept at 780 K

Points = Mapping[tuple[str, str], Point]
Table = Mapping[tuple[str, str], Record]


def judge_ablations(points: Iterable[Point]) -> list[Check]:
    """What the paper says of its offline ablations; none of it needs a clock."""
    judges = (
        _trunk,
        _both,
        _little_noise,
        _noise,
        _noise_on_loc,
        _sizes,
        _widest,
        _ss_ar,
        _one_shot,
        _horizon,
    )
    return judge_all((*judges, _lstm), {(point.axis, point.value): point for point in points})


def _trunk(points: Points) -> list[Check]:
    """Previews of the temperature where the beam will be are what counts."""
    temps, loc = points["trunk", "temps"], points["trunk", "loc"]
    return [
        Check(
            f"trunk.{where}",
            "C1",
            f"without previews the {where} error grows (at least {FACTOR:g} times)",
            _change(temps, loc, f"paper_{where}"),
            _change(temps, loc, where),
            getattr(loc, where) >= FACTOR * getattr(temps, where),
        )
        for where in ("seen", "unseen")
    ]


def _both(points: Points) -> list[Check]:
    temps, both = points["trunk", "temps"], points["trunk", "both"]
    return [
        Check(
            "both",
            "C1",
            f"the peak's place beside the previews does not help (no {STEADY:g} times less)",
            _changes(temps, both, "paper_"),
            _changes(temps, both),
            both.seen > temps.seen / STEADY and both.unseen > temps.unseen / STEADY,
        )
    ]


def _little_noise(points: Points) -> list[Check]:
    still, low = points["noise", "0"], points["noise", "2"]
    assert low.paper_seen is not None
    assert still.paper_seen is not None
    return [
        Check(
            "noise.two",
            "C1",
            "2 K of noise add next to nothing to the seen error "
            f"(at most {FACTOR:g} times what they add to the paper's)",
            _change(still, low, "paper_seen"),
            _change(still, low, "seen"),
            low.seen - still.seen <= FACTOR * (low.paper_seen - still.paper_seen),
        )
    ]


def _noise(points: Points) -> list[Check]:
    """Noise of its own on each temperature; what one draw for all of them would do stands beside."""
    still, loud, shared = points["noise", "0"], points["noise", "10"], points.get(("shared noise", "10"))
    sentences = {
        "seen": "10 K of noise on each input add less than 3 K to the seen error",
        "unseen": f"10 K of noise on each input hardly move the unseen error (within {STEADY:g} times)",
    }
    holds = {"seen": keeps_seen(still.seen, loud.seen), "unseen": keeps_unseen(still.unseen, loud.unseen)}
    checks = []
    for where, sentence in sentences.items():
        once = "not run" if shared is None else _change(still, shared, where)
        ours = f"{_change(still, loud, where)}; one draw for all inputs: {once}"
        paper = _change(still, loud, f"paper_{where}")
        checks.append(Check(f"noise.{where}", "C1", sentence, paper, ours, holds[where]))
    return checks


def keeps_seen(still: float, loud: float) -> bool:
    """Whether noise adds as little to a seen error, K, as the paper says."""
    return loud - still < 3.0


def keeps_unseen(still: float, loud: float) -> bool:
    """Whether noise moves an unseen error, K, as little as the paper says."""
    return loud < STEADY * still


def _noise_on_loc(points: Points) -> list[Check]:
    still, loud = points["noise on loc", "0"], points["noise on loc", "10"]
    return [
        Check(
            "noise.loc",
            "C1",
            f"loc hardly feels 10 K of noise (within {STEADY:g} times)",
            "almost completely insensitive",
            _changes(still, loud),
            loud.seen < STEADY * still.seen and loud.unseen < STEADY * still.unseen,
        )
    ]


def _sizes(points: Points) -> list[Check]:
    seen, unseen = ([getattr(points[key], where) for key in SIZES] for where in ("seen", "unseen"))
    least, greatest = published.SIZES_SEEN
    most = published.SIZES_UNSEEN_CHANGE
    return [
        Check(
            "sizes.seen",
            "C1",
            "p and width change the seen error by 1 K at most",
            f"{least}–{greatest}",
            _range(seen),
            max(seen) - min(seen) <= 1.0,
        ),
        Check(
            "sizes.unseen",
            "C1",
            f"p and width change the unseen error by less than {most:g} K",
            f"< {most:g}",
            _range(unseen),
            max(unseen) - min(unseen) < most,
        ),
    ]


def _widest(points: Points) -> list[Check]:
    usual, widest = points["width", "128"], points["width", "256"]
    sentence = "the widest net is no better than the usual one (seen)"
    ours, holds = _change(usual, widest, "seen"), widest.seen >= usual.seen
    return [Check("widest", "C1", sentence, "slightly worse", ours, holds)]


def _ss_ar(points: Points) -> list[Check]:
    """A model that eats its own predictions gets worse with every step."""
    model = points["structure", "SS-AR"]
    unseen, seen = model.unseen_per_step, model.seen_per_step
    return [
        Check(
            "ss-ar",
            "C1",
            "the error of SS-AR grows at every step (unseen; seen)",
            join(published.SS_AR_STEPS, " → … → ", "g"),
            f"{join(unseen)}; {join(seen)}",
            _rises(unseen) and _rises(seen),
        )
    ]


def _one_shot(points: Points) -> list[Check]:
    """One that predicts all steps at once does not."""
    steps = points["structure", "one-shot"].unseen_per_step
    return [
        Check(
            "one-shot",
            "C1",
            f"the one-shot error is flat (unseen; last step within {STEADY:g} times the first)",
            f"≈ {published.ONE_SHOT_STEPS:g} at every step",
            join(steps),
            is_flat(steps),
        )
    ]


def _horizon(points: Points) -> list[Check]:
    line = [points["horizon", value] for value in ("3", "5", "7", "10")]
    unseen = [point.unseen for point in line]
    return [
        Check(
            "horizon",
            "Finding",
            "the unseen error offline falls from each horizon to the next longer one, 3, 5, 7, 10",
            join(point.paper_unseen for point in line),
            join(unseen),
            _rises(unseen[::-1]),
        )
    ]


def _lstm(points: Points) -> list[Check]:
    usual, lstm = points["structure", "one-shot"], points["structure", "LSTM"]
    ratios = lstm.seen / usual.seen, lstm.unseen / usual.unseen
    return [
        Check(
            "lstm",
            "C1",
            f"the LSTM matches the one-shot DeepONet (within {STEADY:g} times)",
            "matches",
            f"seen {lstm.seen:.1f} and {usual.seen:.1f}, unseen {lstm.unseen:.1f} and {usual.unseen:.1f}",
            all(1 / STEADY <= ratio <= STEADY for ratio in ratios),
        )
    ]


def judge_latency(latency: Mapping[str, Mapping[str, float]]) -> list[Check]:
    """By a clock; nothing if ms-deeponet or lstm was not timed."""
    if not {"lstm", "ms-deeponet"} <= set(latency):
        return []
    ratio = latency["lstm"]["numpy_us"] / latency["ms-deeponet"]["numpy_us"]
    return [
        Check(
            "latency",
            "C1",
            f"the LSTM takes several times as long for one window (at least {FACTOR:g})",
            f"roughly {published.LSTM_LATENCY_RATIO:g}",
            f"{ratio:.1f}",
            ratio >= FACTOR,
        )
    ]


def _change(one: Point, other: Point, part: str) -> str:
    first, second = getattr(one, part), getattr(other, part)
    return f"{first:.1f} → {second:.1f} (×{second / first:.2g})"


def _changes(one: Point, other: Point, prefix: str = "") -> str:
    return ", ".join(f"{part} {_change(one, other, prefix + part)}" for part in ("seen", "unseen"))


def _rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.1f}–{max(values):.1f}"


def judge_table_1(rows: Sequence[Record]) -> list[Check]:
    """What Table 1 shows, once the rows of both models are there."""
    table = {(row["path"], row["model"]): row for row in rows if row["model"] in MODELS}
    judges = (_means, _percent, _std, _order, _spiral, _flat, _cost, _alike)
    return judge_all(judges, table) if set(table) == set(published.TABLE_1) else []


def _means(table: Table) -> list[Check]:
    near = {key: is_near(table[key]["rmse_mean_k"], row[MEAN]) for key, row in published.TABLE_1.items()}
    rule = f"(ours within {FACTOR:g} times the paper's)"
    return [
        Check(key, "C2", f"{what} {rule}", *_tell_means(table, keys), all(near[one] for one in keys))
        for key, what, keys in (
            ("table_1.seen", "means of seen paths", ON_SEEN),
            ("table_1.diagonal", "means of the unseen diagonal, near 13 K", ON_DIAGONAL),
        )
    ]


def _percent(table: Table) -> list[Check]:
    keys = [(path, MODELS[0]) for path in SEEN]
    return [
        Check(
            "table_1.percent",
            "C2",
            "on seen paths the baseline errs by less than 1 % of the temperature (mean below 7.8 K)",
            *_tell_means(table, keys),
            all(table[key]["rmse_mean_k"] < PERCENT for key in keys),
        )
    ]


def _std(table: Table) -> list[Check]:
    most = max(std for row in table.values() for std in row["rmse_std_k"].values())
    return [
        Check(
            "table_1.std",
            "C2",
            "from run to run the error varies by 1 K at most (standard deviation of every class, every row)",
            f"≤ {published.RUN_STD:g} K",
            f"{most:.2f} K at most",
            most <= published.RUN_STD,
        )
    ]


def _order(table: Table) -> list[Check]:
    """Each class harder than the slower one."""

    def count(rows: Iterable[Sequence[float]]) -> int:
        return sum(row[0] < row[1] < row[2] for row in rows)

    theirs = count(published.TABLE_1[key] for key in ON_SEEN)
    ours = count(figures_of(table[key]) for key in ON_SEEN)
    return [
        Check(
            "table_1.order",
            "C2",
            "the error grows with the frequency of the excitation "
            "(persistent < hf-random < bang-bang, every seen row)",
            f"{theirs} of {len(ON_SEEN)} rows",
            f"{ours} of {len(ON_SEEN)} rows",
            ours == len(ON_SEEN),
        )
    ]


def _spiral(table: Table) -> list[Check]:
    return [
        Check(
            "table_1.spiral",
            "C2",
            "the error offline is larger on the spiral than on the vertical path (mean, both models)",
            *_tell_means(table, ON_SEEN),
            all(table["spiral", m]["rmse_mean_k"] > table["vertical", m]["rmse_mean_k"] for m in MODELS),
        )
    ]


def _flat(table: Table) -> list[Check]:
    """By the paper's own example."""
    steps = table["vertical", MODELS[0]]["rmse_per_step_of_k"]["persistent"]
    return [
        Check(
            "table_1.flat",
            "C2",
            "the error offline is flat over the horizon (baseline, vertical, persistent: last step within "
            f"{STEADY:g} times the first)",
            join(published.FLAT_STEPS),
            join((steps[0], steps[-1])),
            is_flat(steps),
        )
    ]


def _cost(table: Table) -> list[Check]:
    """What corner data cost on the seen paths: in the mean, and at worst."""
    base, corner = MODELS
    checks = []
    for key, column, sentence in (
        (
            "table_1.worse",
            MEAN,
            "corner data cost accuracy on seen paths "
            "(mean of the corner model over the baseline's, above 1 on each)",
        ),
        (
            "table_1.grows",
            WORST,
            "corner data enlarge the worst error on seen paths (corner model over baseline, above 1 on each)",
        ),
    ):
        ours, theirs = (
            {path: row[path, corner][column] / row[path, base][column] for path in SEEN}
            for row in ({key: figures_of(row) for key, row in table.items()}, published.TABLE_1)
        )
        told = describe_both(
            lambda one: ", ".join(f"{p} ×{ratio:.2f}" for p, ratio in one.items()), theirs, ours
        )
        checks.append(Check(key, "C2", sentence, *told, min(ours.values()) > 1))
    return checks


def _alike(table: Table) -> list[Check]:
    """Two means that could be the same one, and worst errors of one size."""
    base, corner = (table[key] for key in ON_DIAGONAL)
    deviation = max(std for row in (base, corner) for std in row["rmse_std_k"].values())
    means, worst = ([row[key] for row in (base, corner)] for key in ("rmse_mean_k", "max_error_k"))
    paper, theirs = ([published.TABLE_1[key][column] for key in ON_DIAGONAL] for column in (MEAN, WORST))
    return [
        Check(
            "finding.alike",
            "Finding",
            "offline the two models cannot be told apart on the unseen diagonal "
            "(means apart by two run-to-run deviations at most)",
            f"{join(paper, ' and ')} K, deviation up to {published.RUN_STD:g} K",
            f"{join(means, ' and ')} K, deviation up to {deviation:.2f} K",
            abs(means[0] - means[1]) <= 2 * deviation,
        ),
        Check(
            "finding.modest",
            "Finding",
            "corner data reduce the worst offline error on the unseen diagonal only modestly "
            f"(at most {STEADY:g} times)",
            f"{join(theirs)} K",
            f"{join(worst)} K",
            worst[0] <= STEADY * worst[1],
        ),
    ]


def _tell_means(table: Table, keys: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The paper's, and ours."""
    paper = ", ".join(f"{path} {model} {published.TABLE_1[path, model][MEAN]:.1f}" for path, model in keys)
    ours = ", ".join(f"{path} {model} {table[path, model]['rmse_mean_k']:.1f}" for path, model in keys)
    return paper, ours
