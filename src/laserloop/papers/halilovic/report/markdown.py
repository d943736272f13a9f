"""A page about the paper as Markdown that both GitHub and MyST read."""

from collections.abc import Sequence

from laserloop.papers.halilovic.report.blocks import (
    Block,
    Bullets,
    Cell,
    Heading,
    Page,
    Picture,
    Prose,
    Table,
    make_cell,
)

FIGURES = "figures"  # the folder of pictures beside the pages


def write_markdown(page: Page, banner: str = "") -> str:
    """The text of a page; `banner` goes above everything."""
    parts = [f"# {page.title}"]
    if banner:
        parts.append(f"> **{banner}**")
    parts += [write_block(block) for block in page.blocks]
    return "\n\n".join(parts) + "\n"


def write_block(block: Block) -> str:
    """One block, without an empty line around it."""
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Prose(text):
            return text
        case Bullets(items):
            return "\n".join(f"- {item}" for item in items)
        case Picture(name=name, caption=caption):
            return f"![{caption.replace('[', '(').replace(']', ')')}]({FIGURES}/{name}.png)\n\n*{caption}*"
        case Table():
            return write_table(block)


def write_table(table: Table) -> str:
    """Ours (the paper's), and the sign of the difference."""
    lines = [_write_row(table.heads), "|" + "---|" * len(table.heads)]
    lines += [_write_row([_write_cell(make_cell(cell)) for cell in row]) for row in table.rows]
    return "\n".join(lines)


def _write_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _write_cell(cell: Cell) -> str:
    beside = f" ({cell.paper})" if cell.paper else ""
    sign = f" {cell.mark}" if cell.mark else ""
    return f"{cell.text}{beside}{sign}"
