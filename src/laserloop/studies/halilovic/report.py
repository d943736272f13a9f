"""The report of a reproduction: Markdown pages from templates, and one HTML page from the same Markdown."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from laserloop.bad_input import BadInput
from laserloop.report.figures import save_figure
from laserloop.report.page import make_plate, render
from laserloop.store import save
from laserloop.studies.halilovic import contexts, published
from laserloop.studies.halilovic.check import FACTOR, STEADY, Claim
from laserloop.studies.halilovic.claims import judge_paper
from laserloop.studies.halilovic.contexts import NOTHING, PAGES, WITHOUT_MODELS, show_claims, show_story
from laserloop.studies.halilovic.figures import draw_all, name_controller, name_loop
from laserloop.studies.halilovic.results import Record, Results, read_results

DPI = 150
NOT_RUN = "Not run yet: run `laserloop reproduce --out DIR`."
FOLDED = 20  # rows; a longer table opens on a click
SUBSCRIPTS = {"T_max": "T<sub>max</sub>", "N_h": "N<sub>h</sub>"}


def write_report(directory: Path) -> Path:
    """Read `directory`/results, write `directory`/report; returns the HTML page."""
    results = read_results(directory)
    try:
        return _write(results, directory / "report")
    except (KeyError, UndefinedError) as missing:  # results of another version of this program
        raise BadInput(
            f"a report needs what this version writes, but a file of {str(directory / 'results')!r} lacks "
            f"{missing}: run `laserloop reproduce` into a new folder"
        ) from missing


def summarise(directory: Path) -> dict[str, Any]:
    """The verdicts with their checks, the times of the stages, and where all of it is told."""
    results = read_results(directory)
    return {
        "size": results.size,
        "note": results.write_banner(),
        "page": str(directory / "report" / "index.html"),
        "claims": [
            {
                "key": claim.key,
                "verdict": claim.verdict,
                "claim": claim.sentence,
                "figures": claim.figures,
                "checks": [asdict(check) for check in claim.checks],
            }
            for claim in judge_paper(results, clock=True)
        ],
        "stages": list(results.stages.get("stages", [])),
    }


def _write(results: Results, folder: Path) -> Path:
    figures = draw_all(results)
    claims, timed = judge_paper(results), judge_paper(results, clock=True)
    judged = show_claims(results, claims)
    pages = {name: render_markdown(name, figures, show(results), results) for name, show in PAGES.items()}
    fronts = {name: render_markdown(name, figures, judged, results) for name in ("README", "claims")}
    for name, text in (fronts | pages).items():
        save(folder / f"{name}.md", text)
    for name, figure in figures.items():
        save_figure(folder / "figures" / f"{name}.png", figure, dpi=DPI)
        figure.set_layout_engine("none")  # its layout is found; the HTML page need not search again
    file = folder / "index.html"
    save(file, _render_html(results, pages, timed, figures))
    return file


def render_markdown(
    name: str, figures: Mapping[str, Figure], context: Mapping[str, Any], results: Results | None = None
) -> str:
    """A page as Markdown: a line for each paragraph, an empty one between two blocks."""

    def picture(name: str, caption: str) -> str:
        return f"![{caption}](figures/{name}.png)\n\n*{caption}*" if name in figures else ""

    banner = results.write_banner(models=name not in WITHOUT_MODELS) if results else ""
    given = {"picture": picture, "drawn": list(figures), "banner": banner, "ran": bool(context), **context}
    text = _make_environment().get_template(f"{name}.md.j2").render(given)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text)]
    return "\n\n".join(_join_lines(block) for block in blocks if block) + "\n"


def _join_lines(block: str) -> str:
    if block.startswith("- "):
        items = re.split(r"(?:^|\n)- ", block)[1:]
        return "\n".join(f"- {' '.join(item.split())}" for item in items)
    if block.startswith("|"):
        return "\n".join(line.rstrip() for line in block.splitlines())
    return block if block.startswith(("#", ">", "!")) else " ".join(block.split())


@cache
def _make_environment() -> Environment:
    environment = Environment(  # Markdown; whatever becomes HTML is escaped there
        loader=PackageLoader("laserloop.studies.halilovic"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "architecture": _show_architecture,
        "capital": lambda text: f"{text[:1].upper()}{text[1:]}." if text else "",
        "duration": _show_duration,
        "loop_name": lambda key: f"loop-{name_loop(*key)}",
        "plain": _show_plain,
        "short": lambda value: NOTHING if value is None else f"{value:.2f}".rstrip("0").rstrip("."),
        "statuses": lambda counts: ", ".join(f"{count} × {status}" for status, count in counts.items()),
        "ticks": lambda count: f"{count} tick{'s' * (count != 1)}",
        "to": lambda value, form: NOTHING if value is None else format(value, form),
        "us": lambda us: f"{us:.0f}" if us >= 100 else f"{us:.1f}",
    }
    environment.globals |= {
        "beside": contexts.beside,
        "factor": FACTOR,
        "joined": lambda values, between=", ": between.join(f"{value:.1f}" for value in values),
        "largest_move": contexts.largest_move,
        "mean_residual": contexts.mean_residual,
        "name_controller": name_controller,
        "name_loop": name_loop,
        "not_run": NOT_RUN,
        "published": published,
        "spread": lambda values: f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else "",
        "tabulate_accuracy": contexts.tabulate_accuracy,
        "tabulate_checks": contexts.tabulate_checks,
        "tabulate_loops": contexts.tabulate_loops,
    }
    return environment


def _show_architecture(architecture: Record) -> str:
    rest = ", ".join(f"{key} {value}" for key, value in architecture.items() if key != "name")
    return f"{architecture.get('name', NOTHING)}" + (f" ({rest})" if rest else "")


def _show_plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_show_plain(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_show_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _render_html(
    results: Results, pages: Mapping[str, str], claims: Sequence[Claim], figures: Mapping[str, Figure]
) -> str:
    """One page with all of it: verdicts first, also by measured times, then the pages as chapters."""
    context = show_claims(results, claims)
    findings = render_markdown("findings", figures, context)
    listed = {
        "figures": f"# The paper's figures\n\n{render_markdown('figures', figures, {})}",
        "findings": f"# What reproduces, what does not, and why\n\n{findings}",
    }
    first = ("table_1", "closed_loop", "calibration", "ablations")
    chapters = {name: pages[name] for name in first} | listed
    chapters |= {name: text for name, text in pages.items() if name not in first}
    titles = {name: text.split("\n")[0].removeprefix("# ") for name, text in chapters.items()}
    plain = {name: re.sub(r"^> .*\n", "", text, flags=re.MULTILINE) for name, text in chapters.items()}
    html = partial(set_html, figures=figures)
    picture = figures.get("story")
    return render(
        "studies/halilovic/templates/index.html.j2",
        headline=context["headline"],
        banner=results.write_banner(),
        story=[
            html("", sentence)
            for sentence in render_markdown("story", {}, show_story(results)).strip().split("\n\n")
        ],
        picture=picture and draw_svg("story", picture),
        rules=html("", context["rules"]),
        claims=[(v, html("", v.figures), html("", contexts.tabulate_checks(v.checks))) for v in claims],
        titles={name: title.split(":")[0] for name, title in titles.items()},
        chapters=[html(name, text) for name, text in plain.items()],
        near=STEADY,
        far=FACTOR,
    )


def set_html(name: str, markdown: str, figures: Mapping[str, Figure]) -> Markup:
    """A page or a part of one as a chapter: links stay inside, figures are drawn, differences coloured."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("text", lambda _self, tokens, i, *_: set_symbols(tokens[i].content))
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{int(token.tag[1:]) + 1}"
            if token.tag == "h2" and token.nesting == 1:
                token.attrSet("id", name)
        for child in token.children or []:
            if child.type == "link_open":
                target = re.sub(r"figures/([\w-]+)\.png", r"fig-\1", str(child.attrGet("href")))
                child.attrSet("href", "#" + target.removesuffix(".md"))
    html = parser.renderer.render(tokens, parser.options, {})
    html = re.sub(
        r'<p><img src="figures/([\w-]+)\.png" alt="[^"]*" /></p>\s*<p><em>(.*?)</em></p>',
        lambda match: (
            f'<figure id="fig-{match[1]}">{draw_svg(match[1], figures[match[1]])}'
            f"<figcaption>{match[2]}</figcaption></figure>"
        ),
        html,
    )
    html = re.sub(r"(?:<figure.*?</figure>\s*)+", r'<div class="pair">\g<0></div>\n', html, flags=re.DOTALL)
    return Markup(re.sub(r"<table>.*?</table>", _set_table, html, flags=re.DOTALL))


def _set_table(match: re.Match[str]) -> str:
    """In a box that scrolls, with row heads and coloured differences; a long one is folded."""
    table = match[0]
    wordy = any(len(cell) > 60 for cell in re.findall(r"<td>(.*?)</td>", table))
    table = re.sub(r"<tr>\n<td>(.*?)</td>", r'<tr>\n<th scope="row">\1</th>', table)
    table = re.sub(r"<td>([^<]*?) (\([^<)]*\)) (≈|[▲▼]+)</td>", _set_difference, table)
    table = table.replace("<table>", f'<table class="{"wordy" if wordy else "figures"}">')
    table = f'<div class="scroll" tabindex="0">\n{table}\n</div>'
    rows = table.count("<tr>") - 1
    return f"<details><summary>{rows} rows</summary>\n{table}\n</details>" if rows > FOLDED else table


def _set_difference(match: re.Match[str]) -> str:
    ours, theirs, mark = match.groups()
    far, way = " far" * (len(mark) > 1), "lower" if "▼" in mark else "higher"
    kind, sign = ("", "") if mark == "≈" else (f' class="{way}{far}"', f'<span class="mark">{mark}</span>')
    return f'<td{kind}>{ours}{sign} <span class="theirs">{theirs[1:-1]}</span></td>'


def set_symbols(text: str) -> str:
    """Escaped, with T_max as it is written by hand, and no line break between a number and its unit."""
    html = str(escape(text))
    html = re.sub(r"(?<=\d) (?=(?:K|W|h|s|min|[mµ][ms])\b|%)", "\N{NO-BREAK SPACE}", html)
    for symbol, set_by_hand in SUBSCRIPTS.items():
        html = html.replace(symbol, set_by_hand)
    return html


def draw_svg(name: str, figure: Figure) -> Markup:
    """Inline SVG in which no two things share a name, though panels of a figure may repeat theirs."""
    seen = Counter[str]()

    def rename(match: re.Match[str]) -> str:
        seen[match[1]] += 1
        return match[0] if seen[match[1]] == 1 else f'id="{match[1]}-{seen[match[1]]}"'

    return Markup(re.sub(r'\bid="([^"]*)"', rename, make_plate(figure, f"p-{name}", name).svg))
