"""Prose of a page about the paper, set as HTML."""

import re

from markupsafe import Markup, escape

SUBSCRIPTS = {"T_max": "T<sub>max</sub>", "N_h": "N<sub>h</sub>"}


def set_inline(text: str) -> Markup:
    """`code`, **bold**, links between pages as links within this one, symbols, numbers held to their "
    "units."""
    html = str(escape(text))
    html = re.sub(r"(?<=\d) (?=(?:K|W|h|s|min|[mµ][ms])\b|%)", "\N{NO-BREAK SPACE}", html)
    parts = re.split(r"(`[^`]*`)", html)
    return Markup("".join(_set_code(p) if p.startswith("`") else _set_words(p) for p in parts))


def _set_code(text: str) -> str:
    return f"<code>{text.strip('`')}</code>"


def _set_words(text: str) -> str:
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"<em>\1</em>", text)
    text = re.sub(r"\[([^\]]+)\]\(([\w-]+)\.md\)", r'<a href="#\2">\1</a>', text)
    text = re.sub(r"\[([^\]]+)\]\(figures/([\w-]+)\.png\)", r'<a href="#fig-\2">\1</a>', text)
    for symbol, html in SUBSCRIPTS.items():
        text = text.replace(symbol, html)
    return text
