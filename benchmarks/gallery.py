"""The gallery: every example run once, its picture for light and dark pages, and a page that shows them.

    python benchmarks/gallery.py             # all examples, about a minute
    python benchmarks/gallery.py layers      # these; the others as they were

Writes docs/gallery.md, docs/gallery.json (what each example printed) and docs/gallery/*.png.
"""

import importlib.util
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

from light_and_dark import save_pair
from matplotlib.figure import Figure

from laserloop.report import figures as saving
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_code

ROOT = Path(__file__).parent.parent
EXAMPLES, DOCS = ROOT / "examples", ROOT / "docs"
RECORD = DOCS / "gallery.json"
TITLES = {  # in the order of the page; what has no title here comes last, by the name of its file
    "constant_power": "Heat a plate",
    "own_material": "Your own alloy",
    "gcode_in_and_out": "G-code in, G-code out",
    "no_camera": "No camera",
    "noise_and_delay": "Noise and delay",
    "own_controller": "Your own controller",
    "learner": "A learner in Gymnasium",
    "identify_process": "What is my process really?",
    "layers": "Layers",
    "hatch_stl": "A shape, hatched",
    "export_to_c": "Export to C",
    "do_mpc_controller": "A controller of do-mpc",
    "arena_controller": "Meet the others",
}
HEAD = """# Gallery

Each example is one file of less than 60 lines, runs in seconds, ends with a number, and a test holds it to that number. Copy one and change it:
`python examples/own_material.py` writes the picture beside you. All of them run on the plant `graded`; made by
`python benchmarks/gallery.py`, numbers measured with version 0.2.0.

"""


def run_example(name: str) -> dict[str, Any]:
    """What an example says; its picture is written twice."""
    drawn: list[Figure] = []
    with patch.object(saving, "save_figure", lambda file, figure, **_: drawn.append(figure)):
        module = load(name)
        began = process_time()
        with redirect_stdout(io.StringIO()) as printed:
            number = module.main(f"{name}.png")
        seconds = process_time() - began
    save_pair(DOCS / "gallery" / f"{name}.png", iter([drawn[-1]] * 2).__next__)
    return {
        "says": module.__doc__,
        "prints": printed.getvalue(),
        "number": number,
        "cpu_s": round(seconds, 1),
    }


def load(name: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_title(name: str) -> str:
    """Of an example."""
    return TITLES.get(name, name.replace("_", " ").capitalize())


def show(name: str) -> str:
    """Its picture, the one that fits the page."""
    return "".join(
        f"![{name_title(name)}](gallery/{name}-{tone}.png){{.only-{tone}}}" for tone in ("light", "dark")
    )


def write_page(found: dict[str, Any]) -> str:
    """Thumbnails, then one section for each."""
    tiles = "\n\n".join(f"[{show(name)} {name_title(name)}](#{name.replace('_', '-')})" for name in found)
    parts = [f"```{{container}} gallery\n{tiles}\n```\n"]
    for name, told in found.items():
        parts.append(
            f"({name.replace('_', '-')})=\n## {name_title(name)}\n\n{told['says']}\n\n{show(name)}\n\n"
            f"```text\n{told['prints']}```\n\n"
            f"```{{literalinclude}} ../examples/{name}.py\n:caption: examples/{name}.py\n```\n"
        )
    return HEAD + "\n".join(parts)


def main() -> None:
    """Run what is asked for, then write the page from all that is known."""
    names = sorted(file.stem for file in EXAMPLES.glob("*.py"))
    names.sort(key=lambda name: [*TITLES, name].index(name))
    known = json.loads(RECORD.read_text(encoding="utf-8"))["examples"] if RECORD.exists() else {}
    for name in sys.argv[1:] or names:
        known[name] = run_example(name)
        print(f"{name}: {known[name]['number']:.4g}, {known[name]['cpu_s']} s of CPU", flush=True)
    found = {name: known[name] for name in names if name in known}
    save(RECORD, dump({"versions": find_versions(), "code": hash_code(), "examples": found}))
    save(DOCS / "gallery.md", write_page(found))


if __name__ == "__main__":
    main()
