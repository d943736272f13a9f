"""What a page about the paper is made of: prose, tables with the paper's figures beside ours, pictures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 1.25  # times: as good as equal
FAR = 1.5  # times: a difference that matters
NOTHING = "–"
MARKS = {-2: "▼▼", -1: "▼", 0: "≈", 1: "▲", 2: "▲▲"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of ours, and beside it the paper's."""

    text: str
    paper: str = ""
    drift: int | None = None  # −2 … 2: ours is far lower … far higher; None: nothing to compare with

    @property
    def mark(self) -> str:
        """The drift as a sign, so that colour is not all that tells it."""
        return "" if self.drift is None else MARKS[self.drift]


@dataclass(frozen=True, slots=True)
class Measure:
    """How a column is written, and how far apart two of its figures are."""

    form: str
    step: float | None = None  # near: within this; far: beyond twice this. None: by ratio

    def show(self, ours: float | None, paper: float | None = None) -> Cell:
        """Ours beside the paper's, compared as they are written."""
        text = NOTHING if ours is None else format(ours, self.form)
        if paper is None:
            return Cell(text)
        told = format(paper, self.form)
        return Cell(text, told, None if ours is None else self._compare(_read(text), _read(told)))

    def _compare(self, ours: float, paper: float) -> int:
        sign = 1 if ours > paper else -1
        if self.step is not None:
            apart = abs(ours - paper) / self.step - 1e-9
            return 0 if apart <= 1 else sign * (1 if apart <= 2 else 2)
        if ours == paper:
            return 0
        if min(ours, paper) <= 0:
            return 2 * sign
        ratio = max(ours, paper) / min(ours, paper)
        return 0 if ratio <= NEAR else sign * (1 if ratio <= FAR else 2)


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a part of a page."""

    kind: ClassVar[str] = "heading"
    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph; `code`, **bold** and [links](page.md) as in Markdown."""

    kind: ClassVar[str] = "prose"
    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under heads; the first column, or two if grouped, say what a row is about."""

    kind: ClassVar[str] = "table"
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    grouped: bool = False  # rows with the same first cell belong together
    wordy: bool = False  # cells hold sentences, not figures
    folded: str = ""  # a screen shows these words, and the table when they are clicked
    source: str = ""  # the file of results it comes from

    @property
    def compares(self) -> bool:
        """Is there a figure of the paper's in it?"""
        return any(isinstance(cell, Cell) and cell.drift is not None for row in self.rows for cell in row)

    def groups(self) -> list[tuple[str, list[Sequence[Cell]]]]:
        """Runs of rows with the same first cell, without it; one nameless group if not grouped."""
        found: list[tuple[str, list[Sequence[Cell]]]] = []
        for row in self.rows:
            cells = [make_cell(cell) for cell in row]
            name, rest = (cells[0].text, cells[1:]) if self.grouped else ("", cells)
            if not found or found[-1][0] != name:
                found.append((name, []))
            found[-1][1].append(rest)
        return found


Columns = Mapping[str, str | Callable[[Any], Cell | str]]


def tabulate(records: Iterable[Mapping[str, Any]], columns: Columns, **more: Any) -> Table:
    """A row for each record; a column is a head, and words with places for values or a function.

    Of two columns with the same head the second one's ends in a space.
    """
    rows = [
        [make.format(**record) if isinstance(make, str) else make(record) for make in columns.values()]
        for record in records
    ]
    return Table([head.strip() for head in columns], rows, **more)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure with its caption; `name` is that of its file."""

    kind: ClassVar[str] = "picture"
    name: str
    caption: str
    figure: "Figure"
    wide: bool = False  # scrolls in its box where the screen is narrow


Block = Heading | Prose | Bullets | Table | Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A claim in one line: what became of it, the figures that say so, and the checks behind."""

    key: str
    word: str
    sign: str
    claim: str
    says: str
    checks: Table


@dataclass(frozen=True, slots=True)
class Page:
    """A page of its own in Markdown, a chapter of the one HTML page."""

    name: str
    title: str
    blocks: Sequence[Block]


def make_cell(cell: Cell | str) -> Cell:
    """Words as a cell."""
    return cell if isinstance(cell, Cell) else Cell(cell)


def _read(text: str) -> float:
    return float(text.removesuffix("%"))
