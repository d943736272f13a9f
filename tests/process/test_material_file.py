"""Material files: what ships, what is read, and what becomes of bad files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.process.material import find_material, read_material, shipped_materials


@pytest.mark.parametrize("name", shipped_materials())
def test_a_shipped_material_is_found_by_the_name_it_bears_and_names_its_source(name: str) -> None:
    material = find_material(name)
    assert material.name == name
    assert len(material.source) > 40


@pytest.mark.parametrize("name", shipped_materials())
def test_solid_alloys_conduct_and_store_more_heat_when_hot_and_do_not_get_denser(name: str) -> None:
    material = find_material(name)
    T = np.linspace(*material.valid, 301)
    assert np.all(np.diff(material.conductivity(T)) > 0)
    assert np.all(np.diff(material.heat_capacity(T)) > 0)
    assert np.all(np.diff(material.density(T)) <= 0)


@pytest.mark.parametrize(
    ("name", "T", "k", "rho", "cp"),
    [
        ("304", 1000.0, 24.29, 7603.2, 0.1444 * 4184),  # k and cp as printed in ANL-75-55 for 1000 K
        ("316", 1000.0, 24.96, 7624.4, 0.1414 * 4184),
        ("ti64", 298.0, 5.938, 4420.0, 547.1),
        ("in625", 811.15, 17.5, 8440.0, 536.0),
    ],
)
def test_shipped_alloys_have_the_published_values(
    name: str, T: float, k: float, rho: float, cp: float
) -> None:
    material = find_material(name)
    assert float(material.conductivity(T)) == pytest.approx(k, rel=5e-4)
    assert float(material.density(T)) == pytest.approx(rho, rel=5e-4)
    assert float(material.heat_capacity(T)) == pytest.approx(cp, rel=5e-4)


CSV = "T_K,k_W_mK,rho_kg_m3,cp_J_kgK\n300,13,7900,500\n\n900,23,7650,590\n"
YAML_TABLE = (
    "name: mine\nsource: me\ntable: {T: [300, 900], k: [13, 23], rho: [7900, 7650], cp: [500, 590]}\n"
)
YAML_POLYNOMIAL = (
    "name: mine\nsource: me\nvalid: [300, 900]\npolynomial: {k: [8, 1e-2], rho: [7900], cp: [469.4, 0.13]}\n"
)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize(
    "header", ["T_K,k_W_mK,rho_kg_m3,cp_J_kgK", "T,k,rho,cp", " T , k , rho , cp ", "T,k,ρ,c_p"]
)
def test_a_csv_table_is_a_material_named_after_its_file(tmp_path: Path, header: str) -> None:
    text = "\ufeff" + CSV.replace("T_K,k_W_mK,rho_kg_m3,cp_J_kgK", header)
    material = find_material(str(write(tmp_path, "mild.csv", text)))
    assert (material.name, material.valid) == ("mild", (300.0, 900.0))
    assert material.conductivity(900.0) == 23.0


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".YAML"])
def test_a_material_is_found_in_a_file_by_its_ending(ending: str, tmp_path: Path) -> None:
    assert find_material(str(write(tmp_path, f"a{ending}", YAML_TABLE))).name == "mine"


def test_a_yaml_table_and_the_same_csv_are_the_same_material(tmp_path: Path) -> None:
    T = np.linspace(200, 1000, 301)
    one = read_material(write(tmp_path, "a.csv", CSV))
    two = read_material(write(tmp_path, "a.yml", YAML_TABLE))
    np.testing.assert_array_equal(one.heat_capacity(T), two.heat_capacity(T))


def test_a_yaml_table_may_be_trusted_over_less_than_it_spans(tmp_path: Path) -> None:
    material = read_material(write(tmp_path, "a.yaml", YAML_TABLE + "valid: [400, 800]\n"))
    np.testing.assert_array_equal(material.knots(), [400.0, 800.0])


def test_yaml_coefficients_start_with_the_constant(tmp_path: Path) -> None:
    material = read_material(write(tmp_path, "a.yaml", YAML_POLYNOMIAL))
    assert float(material.conductivity(500.0)) == pytest.approx(13.0)


NESTED = "- " * 2_000
BOMB = "a: &a [1, 1]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("a.csv", CSV.replace("23", "abc"), "k in line 4 of a.csv must be a finite number, got 'abc'"),
    ("a.csv", CSV.replace("23", "-23"), "k must be positive, got -23 in line 4 of a.csv"),
    ("a.csv", CSV.replace("23", "nan"), "k in line 4 of a.csv must be a finite number, got 'nan'"),
    ("a.csv", CSV.replace("590", "1e999"), "cp in line 4 of a.csv must be a finite number"),
    (
        "a.csv",
        CSV.replace("900,", "300,"),
        "T must rise from row to row, got 300 after 300 in line 4 of a.csv",
    ),
    ("a.csv", CSV.replace(",590", ""), "a row must have 4 values, got 3 in line 4 of a.csv"),
    (
        "a.csv",
        CSV.replace("T_K", "T_C"),
        "must begin with the header T_K,k_W_mK,rho_kg_m3,cp_J_kgK, got 'T_C",
    ),
    (
        "a.csv",
        "T,k,rho,cp\n300,13,7900,500\n",
        "at least two rows in columns of equal length, got 1, 1, 1, 1",
    ),
    ("a.csv", "T,k,rho,cp\n", "at least two rows"),
    ("a.csv", ",,,\n", "must begin with the header"),
    ("a.csv", "\ufeff", "must begin with the header"),
    ("a.csv", 'T,k,rho,cp\n"300"x,1,1,1\n', "must be plain CSV, but line 2 of a.csv is not"),
    ("a.csv", b"T,k\xff\xfe", "must be UTF-8 text, but byte 4 is not"),
    ("a.csv", " \n", "the material file 'a.csv' must be filled"),
    ("a.csv", b"1" * 1_000_001, "at most 1000000 bytes long, but is longer"),
    ("a.txt", CSV, "a material file must end in .csv, .yaml or .yml, got 'a.txt'"),
    ("a.yaml", "", "must be filled"),
    ("a.yaml", b"\x00\x01\x02", "a material must be plain YAML, but a.yaml cannot be read"),
    ("a.yaml", "name: mine\nsource: [", "but line 2 of a.yaml cannot be read"),
    ("a.yaml", "# nothing\n", "a.yaml must be a mapping, got nothing"),
    ("a.yaml", "- 1\n- 2\n", "a.yaml must be a mapping, got a list"),
    ("a.yaml", NESTED, "must be plain YAML"),
    ("a.yaml", "x: !!bool maybe", "must be plain YAML"),
    ("a.yaml", "x: !!python/object/apply:os.getcwd []", "but line 1 of a.yaml cannot be read"),
    ("a.yaml", BOMB, "of a.yaml has an alias"),
    ("a.yaml", YAML_TABLE.replace("source: me", BOMB), "of a.yaml has an alias"),
    ("a.yaml", YAML_TABLE + "name: other\n", "of a.yaml has the key 'name' twice"),
    ("a.yaml", YAML_TABLE + "colour: red\n", "got 'colour': remove it"),
    ("a.yaml", YAML_TABLE.replace("source: me\n", ""), "but source is missing: add it"),
    (
        "a.yaml",
        YAML_TABLE.replace("mine", "[mine]"),
        "name and source of a.yaml must be text, got a list and 'me'",
    ),
    ("a.yaml", YAML_TABLE.replace("mine", "yes"), "must be text, got True and 'me': put them in quotes"),
    ("a.yaml", "name: a\nsource: b\n", "must have exactly one of table, polynomial"),
    ("a.yaml", YAML_TABLE + "polynomial: {}\n", "must have exactly one of table, polynomial"),
    ("a.yaml", YAML_TABLE.replace("cp: [500, 590]", "c: [1]"), "`table` of a.yaml must have no keys but"),
    ("a.yaml", YAML_TABLE.replace(", cp: [500, 590]", ""), "but cp is missing"),
    ("a.yaml", YAML_TABLE.replace("[13, 23]", "13"), "k of a.yaml must be a list of numbers, got 13"),
    (
        "a.yaml",
        YAML_TABLE.replace("[13, 23]", "'13, 23'"),
        "k of a.yaml must be a list of numbers, got '13, 23'",
    ),
    ("a.yaml", YAML_TABLE.replace("[13, 23]", "[13]"), "got 2, 1, 2, 2 values of T, k, rho, cp"),
    (
        "a.yaml",
        YAML_TABLE.replace("23", "[[[]]]"),
        "k in row 2 of a.yaml must be a finite number, got a list",
    ),
    ("a.yaml", YAML_TABLE.replace("23", "true"), "k in row 2 of a.yaml must be a finite number, got True"),
    (
        "a.yaml",
        YAML_TABLE.replace("23", "0x" + "F" * 20_000),
        "k in row 2 of a.yaml must be a finite number, got a int",
    ),
    ("a.yaml", YAML_TABLE.replace("23", "1" * 20_000), "must be plain YAML"),
    ("a.yaml", YAML_TABLE + "valid: [300, 950]\n", "got nan at 900.2"),
    ("a.yaml", YAML_TABLE + "valid: 300\n", "`valid` of a.yaml must be [low, high] in K, got 300"),
    (
        "a.yaml",
        YAML_TABLE + "valid: [900, 300]\n",
        "must be two finite rising temperatures above 0 K, got 900 to 300",
    ),
    ("a.yaml", YAML_POLYNOMIAL.replace("valid: [300, 900]\n", ""), "must be [low, high] in K, got nothing"),
    ("a.yaml", YAML_POLYNOMIAL.replace("[7900]", "[]"), "1 to 20 coefficients, got 0 for rho of a.yaml"),
    ("a.yaml", YAML_POLYNOMIAL.replace("[7900]", str([1] * 21)), "1 to 20 coefficients, got 21 for rho"),
    (
        "a.yaml",
        YAML_POLYNOMIAL.replace("[8,", "[x,"),
        "coefficient 1 of k of a.yaml must be a finite number, got 'x'",
    ),
    ("a.yaml", YAML_POLYNOMIAL.replace("[8,", "[-4,"), "got -1 at 300 K: correct the data or narrow `valid`"),
    ("a.yaml", YAML_POLYNOMIAL.replace("[300,", "[0,"), "above 0 K, got 0 to 900"),
]


@pytest.mark.parametrize(("name", "text", "words"), BAD_FILES)
def test_a_bad_file_is_refused_in_one_sentence(
    tmp_path: Path, name: str, text: str | bytes, words: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read_material(write(tmp_path, name, text))
    sentence = str(caught.value)
    assert words in sentence
    assert len(sentence) < 300
    assert "\n" not in sentence


@pytest.mark.parametrize("path", ["missing.csv", "", ".", "x\0.yaml", "y" * 5000 + ".csv"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput, match=r"must be readable|must end in"):
        read_material(tmp_path / path)


def test_a_folder_is_not_a_material(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(BadInput, match=r"'a\.csv' must be readable, but is not \(Is a directory\)"):
        find_material(str(tmp_path / "a.csv"))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"must be 304, 316, in625, ti64 or a \.csv or \.yaml file, got '305'"):
        find_material("305")


@settings(deadline=None, max_examples=40)  # the machine may be busy
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_whatever_text_a_file_holds_it_is_a_material_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("any.csv", "any.yaml"):
        with pytest.raises(BadInput):
            read_material(write(folder, name, text.encode("utf-8", "surrogatepass")))
