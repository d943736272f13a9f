"""Process files: what ships, what is read, what is written, and what becomes of bad files."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.process import (
    Process,
    find_material,
    find_process,
    read_process,
    shipped_materials,
    shipped_processes,
    write_process,
)


def write(folder: Path, text: str | bytes, name: str = "mine.yaml") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_the_papers_process_ships_and_one_for_each_alloy() -> None:
    assert set(shipped_processes()) == {"paper", *shipped_materials()}


@pytest.mark.parametrize("name", shipped_processes())
def test_a_shipped_process_bears_its_name_and_its_window_lies_within_its_alloys_range(name: str) -> None:
    process = find_process(name.upper())
    assert process.name == name
    assert process.material.name == ("304" if name == "paper" else name)
    assert process.material.valid[0] <= process.ambient < process.window[0]
    assert process.window[1] <= process.material.valid[1]


def test_the_shipped_processes_differ_but_304_is_the_papers() -> None:
    assert len({find_process(name).hash for name in shipped_processes()}) == len(shipped_processes()) - 1
    assert find_process("304") == find_process("paper")


def test_a_file_needs_only_what_differs_from_the_papers(tmp_path: Path) -> None:
    file = write(tmp_path, "tick_us: 100\nbeam:\n  sigma_um: 80 # measured\nmaterial: 316\n")
    process = read_process(file)
    assert process.name == "mine"
    assert process == Process().change(tick_us=100, sigma_um=80, material="316")
    assert find_process(str(file)) == process


def test_comments_order_names_and_spelling_of_numbers_do_not_count(tmp_path: Path) -> None:
    first = write(tmp_path, "name: a\ntick_us: 100\nwindow_k: [700, 750]\n", "a.yaml")
    second = write(
        tmp_path,
        "\ufeff# ours\r\nwindow_k:\r\n- 7e2 # soft\r\n- 750.0\r\n\r\ntick_us: '1e2'\r\nname: b\r\n",
        "b.yml",
    )
    assert read_process(first).hash == read_process(second).hash
    assert [read_process(file).name for file in (first, second)] == ["a", "b"]


def test_a_materials_file_is_looked_for_beside_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    write(folder, "T,k,rho,cp\n300,12,8000,490\n900,21,7700,590\n", "alloy.csv")
    file = write(folder, "material: alloy.csv\n")
    monkeypatch.chdir(tmp_path)
    assert read_process(file).material.name == "alloy"


def test_a_material_may_stand_inside_the_file(tmp_path: Path) -> None:
    text = """
material:
  name: ours
  source: measured
  table: {T: [300, 900], k: [12, 21], rho: [8000, 7700], cp: [490, 590]}
"""
    material = read_process(write(tmp_path, text)).material
    assert (material.name, material.valid) == ("ours", (300.0, 900.0))


@pytest.mark.parametrize("name", shipped_processes())
@pytest.mark.parametrize("whole", [True, False])
def test_a_written_process_is_read_as_the_same(name: str, whole: bool, tmp_path: Path) -> None:
    process = find_process(name).change(sigma_um=87.5, noise_k=2.5, delay_ticks=1, tick_us=33.3)
    text = write_process(process, material=None if whole else process.material.name)
    back = read_process(write(tmp_path, text))
    assert (back, back.name) == (process, name)


def test_a_written_process_says_of_every_key_its_unit_and_its_range() -> None:
    text = write_process(Process(name='a "b": c'), material="304")
    assert yaml.safe_load(text)["name"] == 'a "b": c'
    lines = text.splitlines()
    at = lines.index("  sigma_um: 100")
    assert lines[at - 1].endswith("wider is cooler. (a number from 5 to 10000 µm)")
    assert "  pixel_um:" in lines
    assert "window_k: [760, 800]" in lines


def test_a_written_process_keeps_letters_as_people_write_them() -> None:
    lines = write_process(Process(name="Stähle"), material="Stähle.csv").splitlines()
    assert {'name: "Stähle"', 'material: "Stähle.csv"'} <= set(lines)


def bomb() -> str:
    """A few lines that would be ten thousand million numbers."""
    rows = ["a: &a [1, 1]"]
    rows += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
        for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
    ]
    return "\n".join(rows)


BAD_FILES: list[tuple[str | bytes, str]] = [
    ("tick_us: 125\ntick_us: 100\n", "line 2 of the process mine has the key 'tick_us' twice"),
    ("beam:\n  sigma_um: 9\n  sigma_um: 8\n", "line 3 of the process mine has the key 'sigma_um' twice"),
    ("beam:\n  sigma_um: 90\nbeam.sigma_um: 80\n", "a key of the process mine may come once"),
    ("window_k: &w [700, 800]\nplate_mm: *w\n", "line 2 of the process mine has an alias"),
    (bomb(), "line 2 of the process mine has an alias"),
    (
        "tick_us: .nan",
        "tick_us of the process mine must be a number from 0.01 to 1000000 µs, but is nan; correct",
    ),
    ("tick_us: .inf", "but is inf"),
    ("tick_us: yes", "but is True"),
    ("tick_us: [1]", "tick_us of the process mine must be a number from 0.01 to 1000000 µs, but is [1]"),
    ("tick_us: {a: 1}", "but is a dict"),
    ("tick_us:", "but is nothing"),
    ("tick_us: fast", "but is 'fast'"),
    ("tick_us: 2020-01-01", "but is a date"),
    ("tick_us: 0x" + "F" * 9000, "but is a int"),
    ("tick_us: " + "9" * 9000, "cannot be read as such"),
    (
        "window_k: [800, 760]",
        "window_k of the process mine must be 2 numbers [low, high] from 1 to 10000 K, low",
    ),
    ("window_k: [true, 800]", "but is [True, 800]"),
    ("window_k: [1, 2, 3, 4, 5]", "but is [1, 2, 3, 4, …]"),
    ("camera:\n  delay_ticks: 1.5\n", "must be a whole number from 0 to 1000 ticks, but is 1.5"),
    ("laser:\n  power_w: [5, 5]\n", "laser.power_w of the process mine"),
    ("beam: 5", "beam of the process mine must be a section of lines, but is 5; indent them"),
    ("beam:\n", "beam of the process mine must be a section of lines, but is nothing"),
    ("tick: 125", "may have the keys name, material, plate_mm, ambient_k, beam.sigma_um"),
    ("beam:\n  waist_um: 9\n", "but has 'beam.waist_um'; correct or remove it"),
    ("1: 2", "but has '1'"),
    ("laserloop_process: 2", "must have the format 1, but has 2; update laserloop"),
    ("material: 305", "a material must be 304, 316, in625, ti64 or a .csv or .yaml file"),
    ("material: nothing.csv", "nothing.csv' must be readable, but is not"),
    ("material:", "must be the name of a shipped one, a file or its properties, but is nothing"),
    ("material: [304]", "but is a list"),
    ("name: [a]", "the name of the process mine must be 1 to 100 printable characters, but is a list"),
    ("name: ''", "the name of the process mine must be"),
    ('name: "\\ud800"', "the name of the process mine must be"),
    ("hello", "the process mine must be lines of name: value"),
    ("- 1", "the process mine must be lines of name: value"),
    ("# nothing\n", "the process mine must be lines of name: value"),
    ("", "must be filled, but is empty"),
    ("beam:\n\tsigma_um: 9", "line 2 of the process mine cannot be read as such"),
    ("x: !!python/object/apply:os.getcwd []", "line 1 of the process mine cannot be read as such"),
    ("a: " + "[" * 5000, "cannot be read as such"),
    (b"name: \xff\xfe", "must be UTF-8 text, but byte 7 is not"),
    (b"\x00\x01\x02", "cannot be read as such"),
    (b"#" * 1_000_001, "must be at most 1000000 bytes long, but is longer"),
]


@pytest.mark.parametrize(("text", "words"), BAD_FILES)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_process(write(tmp_path, text))
    sentence = str(caught.value)
    assert words in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400


@pytest.mark.parametrize("name", ["missing.yaml", "x\0.yaml", "y" * 5000 + ".yaml", "."])
def test_a_file_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must be readable, but is not"):
        read_process(tmp_path / name)


@pytest.mark.parametrize("text", ["305", "", "paper.txt", "steel"])
def test_an_unknown_name_is_answered_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadInput, match=r"must be 304, 316, in625, paper, ti64 or a \.yaml file, but got"):
        find_process(text)


def test_a_name_in_capitals_is_found_and_its_alloy_too() -> None:
    assert find_process("Ti64").material.conductivity(300.0) == find_material("ti64").conductivity(300.0)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200) | st.text(alphabet="tick_us: 125\n[]{}&*!beam'\"", max_size=60))
def test_whatever_text_a_file_holds_it_is_a_process_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = write(tmp_path_factory.getbasetemp(), text.encode("utf-8", "surrogatepass"), "any.yaml")
    try:
        read_process(file)
    except BadInput as refused:
        sentence = str(refused)
    else:
        return
    assert "\n" not in sentence
