"""What every page is made of: a template, and figures set into it as plates."""

import io
import platform
import re
from dataclasses import dataclass
from importlib.metadata import version

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from laserloop.report.figures import INK


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure on the page, in the printers' sense of the word."""

    svg: Markup
    caption: str


def render(template: str, **facts: object) -> str:
    """The HTML text of a template, named by its place in the package; whatever is no Markup is escaped."""
    environment = Environment(
        loader=PackageLoader("laserloop", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["symbols"] = _set_symbols
    return environment.get_template(template).render(
        version=version("laserloop"), python=platform.python_version(), **facts
    )


def make_plate(figure: Figure, prefix: str, caption: str) -> Plate:
    """The figure as inline SVG: its ink follows the page's colour, its names do not clash with another's."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing, dpi=200)
    svg = stream.getvalue()
    head, body = svg[svg.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", body).replace(INK, "currentColor")
    return Plate(Markup(f'<svg role="img" aria-label="{escape(caption)}" {box[0]}>{body}'), caption)


def _set_symbols(text: str) -> Markup:
    """T_max as it is written by hand, and no line break between a number and its unit."""
    joined = re.sub(r"(?<=\d) (?=(?:K|W|[mµ][ms])\b|%)", "\N{NO-BREAK SPACE}", str(escape(text)))
    return Markup(joined.replace("T_max", "T<sub>max</sub>"))
