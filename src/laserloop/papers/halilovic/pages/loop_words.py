"""Where our closed loops differ from the paper's, with the figures that say so and no cause not measured."""

from collections.abc import Iterator

from laserloop.papers.halilovic.pages.pick import (
    BASE,
    CORNER,
    count_ticks,
    find,
    find_ripple,
    read_loops,
    read_others,
    read_rows,
)
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.study.claim import is_near
from laserloop.papers.halilovic.study.corners import explains, find_best
from laserloop.papers.halilovic.study.published import TABLE_2
from laserloop.papers.halilovic.words import say


def explain(results: Results) -> list[str]:
    """Sentences that are true for whatever figures came out."""
    parts = (_tell_power, _tell_baseline, _tell_corner, _tell_margin, _tell_spiral, _tell_oracle)
    return [sentence for tell in parts for sentence in tell(results)]


def _tell_power(results: Results) -> Iterator[str]:
    off = [abs(r["power_mean_w"] - TABLE_2[r["label"], r["path"]][6]) for r in read_loops(results)]
    yield say("loops.power", off=max(off))


def _tell_baseline(results: Results) -> Iterator[str]:
    over = _diagonal(results, BASE, "base")
    if not over:
        return
    paper = TABLE_2[BASE, "diagonal"][0]
    failed = sum(value > 0 for value in over)
    told = say("loops.baseline", failed=failed, trainings=len(over), over=_list(over))
    if _any_near(over, paper):
        yield f"{told} (paper {paper:.1f} K)."
        return
    told += f", by {'less' if max(over) < paper else 'more'} than the paper's {paper:.1f} K."
    corners = read_rows(results, "corners")
    if corners and explains(find_best(corners)):
        count = len({row["variant"] for row in corners})
        told += " " + say("loops.corners", count=count, best=find_best(corners))
    yield told


def _tell_corner(results: Results) -> Iterator[str]:
    over, loops = _diagonal(results, CORNER, "corner"), read_loops(results)
    base, corner = (find(loops, label, "diagonal") for label in (BASE, CORNER))
    if over and base is not None and corner is not None:
        ticks, theirs = count_ticks(corner["n_over"]), TABLE_2[BASE, "diagonal"][1]
        paper = TABLE_2[CORNER, "diagonal"]
        yield say("loops.corner", over=_list(over), paper=paper, ticks=ticks, base=base, theirs=theirs)


def _tell_margin(results: Results) -> Iterator[str]:
    guarded = [r for r in [*read_loops(results), *read_rows(results, "seeds")] if r["label"].endswith("+ δ")]
    broken = [r for r in guarded if r["n_over"]]
    if not guarded:
        return
    told = say("loops.margin", broken=len(broken), runs=len(guarded))
    if not broken:
        yield f"{told}, as in the paper."
        return
    worst = ", ".join(f"{r['label']} {r['path']} {r['overshoot_k']:.1f} K ({r['n_over']})" for r in broken)
    yield told + say("loops.limit", worst=worst, counted=broken[0]["ticks"] - broken[0]["settled_from"])


def _tell_spiral(results: Results) -> Iterator[str]:
    rows = {label: find(read_loops(results), label, "spiral") for label in (BASE, CORNER)}
    residuals = {label: r["residual_rms_k"] for label, r in rows.items() if r is not None}
    larger = [x for x, rms in residuals.items() if rms is not None and rms > TABLE_2[x, "spiral"][3]]
    if larger:
        told, ripple = say("loops.spiral", larger=" and ".join(larger)), find_ripple(results)
        yield told if ripple is None else f"{told} {say('loops.ripple', ripple=ripple)}"


def _tell_oracle(results: Results) -> Iterator[str]:
    runs = [r for r in read_others(results) if r["label"] == "oracle"]
    kept = [r for r in runs if not r["n_over"] and not r["below_fraction"]]
    if runs:
        all_or_some = "all" if len(kept) == len(runs) else "some"
        yield say(f"loops.oracle.{all_or_some}", kept=len(kept), runs=len(runs))


def _any_near(values: list[float], paper: float) -> bool:
    return any(value > 0 and is_near(value, paper) for value in values)


def _diagonal(results: Results, label: str, seeds: str) -> list[float]:
    """Overshoot without a margin on the diagonal: the deployed model, then other seeds."""

    def chosen(r: Record) -> bool:
        name, path = r["label"], r["path"]
        return bool(name.startswith(f"{seeds} ") and not name.endswith("δ") and path == "diagonal")

    deployed = find(read_loops(results), label, "diagonal")
    rest = [r for r in read_rows(results, "seeds") if chosen(r)]
    return [r["overshoot_k"] for r in ([deployed] if deployed else []) + rest]


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)
