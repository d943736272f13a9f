"""The tests of what differs from the main branch, committed or not: `make check` after the linters."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src/laserloop")
HOUSE = ("test_doors", "test_sentences", "test_public_names", "test_packaging")  # they read every file
BLOCKS = "tests/test_docs.py::test_every_block_of_the_page_runs"
MAIN = ("origin/main", "main", "HEAD")


def find_changes(root: Path = ROOT) -> list[Path]:
    """Files that differ from where this branch left the main one, and new ones."""
    for name in MAIN:
        base = _git(root, "merge-base", "HEAD", name)
        if base:
            break
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in (*_git(root, "diff", "--name-only", *base), *new)]


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def choose_tests(changes: list[Path], root: Path = ROOT) -> list[str]:
    """Those that import a changed module, those of its noun, and the changed ones themselves."""
    tests = [file.relative_to(root) for file in sorted((root / "tests").rglob("test_*.py"))]
    modules = {_module(file) for file in changes if PACKAGE in file.parents and file.suffix == ".py"}
    rooms = {file.parts[2] for file in changes if PACKAGE in file.parents and file.suffix != ".py"}
    nouns = {(file.relative_to(PACKAGE).parent, file.stem) for file in changes if PACKAGE in file.parents}
    chosen = set[str]()
    for test in tests:
        own = test in changes or test.parent / "conftest.py" in changes
        room = test.relative_to("tests").parent
        about = test.stem.removeprefix("test_")  # a verb's tests have more in their name: plan_verb
        named = any(room == where and f"{about}_".startswith(f"{noun}_") for where, noun in nouns)
        named = named or bool(rooms & set(room.parts))
        if own or named or test.stem in HOUSE or modules & _imports(root / test):
            chosen.add(str(test))
    if any(file.parts[0] == "examples" for file in changes):
        chosen.add("tests/test_examples.py")
    return sorted(chosen | {f"{BLOCKS}[{page}]" for page in changes if _has_blocks(root / page)})


def _has_blocks(page: Path) -> bool:
    """Does it show what runs? The pages of results do not."""
    if page.suffix != ".md" or "results" in page.parts or not page.exists():
        return False
    return re.search(r"^```(bash|python|c)$", page.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _module(file: Path) -> str:
    return ".".join(file.relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def _imports(file: Path) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found - {"laserloop"}


def main() -> int:
    """Run them; the slowest are named."""
    chosen = choose_tests(find_changes())
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "--durations=5", *chosen]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
