"""Tables of plans for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.bad_input import plain
from laserloop.report.run_story import show_ms, show_percent

MANY = 12  # layers; of more the table shows the ends

VERDICTS = {True: "yes", False: "NO", None: "not simulated"}
HEADINGS = {"point": "by point", "segment": "by segment", "vector": "by vector"}


def tabulate_plan(record: Mapping[str, Any]) -> Table:
    """What one plan promises, and what came of it, a line for each fact."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts = {
        "planned": f"{record['path']}, {HEADINGS[record['by']]}: {record['commands']} powers for "
        f"{record['vectors']} vectors, {record['ticks']} ticks{_tell_refined(record.get('refined', 0))}",
        "window": "{:g} – {:g} K".format(*record["window_k"]) + _tell_reached(record),
        "planned T_max": _show(record),
    }
    if "verified" in record:
        facts["simulated T_max"] = _show(record["verified"]) + ", on graded"
    facts["holds"] = VERDICTS[record["holds"]]
    watts = record["power_w"]
    facts["power"] = f"{min(watts):.4g} – {max(watts):.4g} W, {record['power_means']}"
    saved = record["time_saved_s"]
    facts["time"] = show_ms(1e3 * record["time_s"]) + (
        f", {show_ms(1e3 * saved)} less" if saved > 1e-9 else ""
    )
    if len(record["layers"]) > 1:
        facts["layers"] = str(len(record["layers"]))
    facts["written"] = record["out"] + (f"; picture: {record['plot']}" if "plot" in record else "")
    for name, fact in facts.items():
        table.add_row(Text(name, style="dim"), Text(fact))
    return table


def tabulate_layers(record: Mapping[str, Any]) -> Table:
    """A line for each layer; of many the first and the last."""
    table = Table(box=SIMPLE_HEAD)
    simulated = ("simulated, K",) if "verified" in record else ()
    headings = ("layer", "vectors", "powers", "planned T_max, K", *simulated, "mean W", "ms")
    for heading in headings:
        table.add_column(heading, justify="right")
    layers = list(enumerate(record["layers"], start=1))
    shown = layers if len(layers) <= MANY else [*layers[: MANY // 2], *layers[-MANY // 2 :]]
    for k, told in shown:
        if len(layers) > MANY and k == layers[-MANY // 2][0]:
            table.add_row(*["…"] * len(headings))
        table.add_row(
            str(k),
            str(told["vectors"]),
            str(told["commands"]),
            _range(told),
            *((_range_of_plant(told),) if simulated else ()),
            f"{told['power_mean_w']:.2f}",
            plain(1e3 * told["time_s"], 4),
        )
    return table


def tabulate_parts(records: Sequence[Mapping[str, Any]]) -> Table:
    """A line for each file."""
    table = Table(box=SIMPLE_HEAD)
    simulated = ("simulated, K",) if any("verified" in record for record in records) else ()
    headings = (
        "file",
        "layers",
        "vectors",
        "powers",
        "planned T_max, K",
        *simulated,
        "holds",
        "ms",
        "written",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("file", "written") else "right")
    for record in records:
        table.add_row(
            Text(record["path"]),
            *(str(count) for count in (len(record["layers"]), record["vectors"], record["commands"])),
            _range(record),
            *(
                (_range(record["verified"]) if "verified" in record else "not simulated",)
                if simulated
                else ()
            ),
            VERDICTS[record["holds"]],
            plain(1e3 * record["time_s"], 4),
            Text(record["out"]),
        )
    return table


def _tell_reached(record: Mapping[str, Any]) -> str:
    """That a window is not reached at all, as simulated, else as planned."""
    told, (low, high) = record.get("verified", record), record["window_k"]
    return ", NOT REACHED in any tick" if told["t_max_k"] < low or told["t_min_k"] > high else ""


def _tell_refined(rounds: int) -> str:
    return f", refined {'once' if rounds == 1 else f'{rounds} times'} on graded" if rounds else ""


def _show(told: Mapping[str, Any]) -> str:
    over, below = told["n_over"], told["below_fraction"]
    ticks = "1 tick" if over == 1 else f"{over} ticks"
    trouble = f"; {ticks} over, {show_percent(below)} below" if over or below else ""
    return f"{_range(told)} K{trouble}"


def _range_of_plant(told: Mapping[str, Any]) -> str:
    return _range(told["verified"]) if "verified" in told else "not simulated"


def _range(told: Mapping[str, Any]) -> str:
    return f"{told['t_min_k']:.1f} – {told['t_max_k']:.1f}"
