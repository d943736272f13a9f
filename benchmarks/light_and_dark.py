"""A figure twice, for light pages and for dark ones; a page shows the one that fits (.only-light, .only-dark)."""

import colorsys
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure

from laserloop.store import save

COLOURS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "laserloop"}  # text stays text; the same bytes every time
GREY = 0.35  # saturation below which a colour is ink or paper and is turned around
LEAST, MOST = 0.14, 0.9  # lightness of what was white and black
BRIGHT = 0.58  # lightness that other colours have at least on a dark page


def save_pair(file: Path, draw: Callable[[], Figure], *, dpi: int = 110) -> tuple[Path, Path]:
    """Write NAME-light and NAME-dark in the format of `file`; says where."""
    pair = (file.with_stem(f"{file.stem}-light"), file.with_stem(f"{file.stem}-dark"))
    for target, dark in zip(pair, (False, True), strict=True):
        figure = draw()
        if dark:
            darken(figure)
        kind, stream = file.suffix[1:], io.BytesIO()
        plain: Any = {"Date": None} if kind == "svg" else {"Software": None}
        with mpl.rc_context(SVG):
            figure.savefig(stream, format=kind, dpi=dpi, transparent=True, metadata=plain)
        save(target, stream.getvalue())
    return pair


def darken(figure: Figure) -> None:
    """Turn ink and paper around and brighten the rest, in place; colour maps stay as they are."""
    for artist in figure.findobj():
        if isinstance(artist, ScalarMappable) and artist.get_array() is not None:
            continue
        doors = (
            (getattr(artist, f"get_{name}", None), getattr(artist, f"set_{name}", None)) for name in COLOURS
        )
        now = [
            (setter, getter()) for getter, setter in doors if getter and setter
        ]  # some follow others: read first
        for setter, value in now:
            if isinstance(value, str) and value in ("auto", "none", "inherit"):
                continue
            turned = np.array([turn(colour) for colour in to_rgba_array(value)])
            if len(turned):
                setter(turned if hasattr(artist, "get_paths") else tuple(turned[0]))


def turn(colour: Any) -> tuple[float, float, float, float]:
    """One colour as a dark page has it."""
    red, green, blue, alpha = (float(part) for part in colour)
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = LEAST + (MOST - LEAST) * (1.0 - light) if saturation < GREY else max(light, BRIGHT)
    return (*colorsys.hls_to_rgb(hue, light, saturation), alpha)
