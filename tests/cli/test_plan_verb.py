"""From nothing to a planned file, through the command line."""

import json
from pathlib import Path

import pytest

from laserloop.cli import main
from laserloop.process import find_process, read_process

Capture = pytest.CaptureFixture[str]
PART = "; a part\nG21 G90\nM3 S14\nG0 X-0.6 Y0\nG1 X0.6 F18240 ; there\nG1 Y0.1\nG1 X-0.6\nM5\n"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("part.gcode").write_text(PART)


def run(capsys: Capture, *words: str) -> tuple[str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def miss(capsys: Capture, *words: str) -> tuple[str, str]:
    """A plan that is written though it does not hold."""
    code = main(words)
    out, err = capsys.readouterr()
    assert code == 3, err
    return out, err


def refuse(capsys: Capture, *words: str) -> str:
    assert main(words) == 2
    return capsys.readouterr().err


def test_plan_writes_the_file_and_tells_what_was_promised_in_the_interface(capsys: Capture) -> None:
    out, _ = run(capsys, "plan", "part.gcode", "--out", "b.gcode", "--json", "b.json", "--plot", "b.png")
    told = json.loads(Path("b.json").read_text())
    assert told.keys() >= {"ticks", "vectors", "t_max_k", "t_min_k", "power_w", "time_s", "time_saved_s"}
    assert told["verified"].keys() >= {"t_max_k", "t_min_k", "below_fraction", "n_over"}
    assert told["holds"] is True
    assert told["starts"].keys() == told["verified"]["starts"].keys() == {"over_k", "ticks_to_floor"}
    assert told["vectors"] == 3
    assert 760 < told["verified"]["t_min_k"] < told["verified"]["t_max_k"] < 788
    assert "simulated T_max" in out
    assert Path("b.png").stat().st_size > 1000
    assert "b.gcode; picture: b.png" in out


def test_by_vector_only_powers_change(capsys: Capture) -> None:
    _, err = miss(capsys, "plan", "part.gcode", "--out", "b.gcode", "--by", "vector")
    assert "the plan does not hold: simulated T_max is" in err
    mark, *after = Path("b.gcode").read_text().splitlines()
    assert mark.startswith("; laserloop plan: DOES NOT HOLD: ")
    before = PART.splitlines()
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed
    assert all(" S" in line for line in changed)
    assert after[2].startswith("M3 S")
    assert after[4] == before[4]


def test_a_refined_plan_says_so(capsys: Capture) -> None:
    out, _ = run(capsys, "plan", "part.gcode", "--refine", "1", "--out", "b.gcode", "--json", "b.json")
    assert "refined once on graded" in " ".join(out.split())
    assert json.loads(Path("b.json").read_text())["refined"] == 1
    plain, err = run(capsys, "plan", "part.gcode", "--no-verify", "--out", "c.gcode", "--json", "c.json")
    assert "refined" not in plain
    assert "the plan was not simulated" in err
    assert json.loads(Path("c.json").read_text())["holds"] is None
    assert Path("c.gcode").read_text().startswith("; laserloop plan: NOT SIMULATED: ")
    assert Path("b.gcode").read_bytes() != Path("c.gcode").read_bytes()


def test_a_built_in_path_becomes_waypoints_with_powers(capsys: Capture) -> None:
    run(capsys, "plan", "diagonal", "--no-verify", "--out", "d.csv", "--json", "d.json")
    assert Path("d.csv").read_text().splitlines()[1] == "x_mm,y_mm,lit,speed_mm_s,power_w"
    assert json.loads(Path("d.json").read_text())["ticks"] == 400
    run(capsys, "simulate", "d.csv", "--power-w", "file")


def test_jumps_of_a_family_go_as_fast_as_asked_for(capsys: Capture) -> None:
    vectors = []
    for speed in ("100", "5000"):
        run(
            capsys,
            *("plan", "island:3", "--jump-mm-s", speed, "--no-verify", "--out", "a.csv", "--json", "a.json"),
        )
        vectors.append(json.loads(Path("a.json").read_text())["vectors"])
    assert vectors[0] < vectors[1]  # slow jumps leave fewer of the ticks to the light


def test_layers_have_a_line_each_and_one_figure_for_all(capsys: Capture) -> None:
    head = "$$HEADERSTART\n$$UNITS/1\n"
    layers = "".join(f"$$LAYER/{z}\n$$HATCHES/1,1,-0.6,0,0.6,0\n" for z in (0.04, 0.08))
    Path("a.cli").write_text(head + layers)
    out, err = run(capsys, "plan", "a.cli", "--out", "b.cli", "--recoating-s", "0.01", "--plot", "f.png")
    assert "layers" in out
    assert "b.cli; picture: f.png" in out
    assert Path("f.png").exists()
    assert not list(Path().glob("f-*.png"))
    assert "simulated, K" in out
    assert "plate at rest" not in err


def test_what_cannot_be_planned_is_said_in_a_sentence(capsys: Capture) -> None:
    assert "needs --out" in refuse(capsys, "plan", "part.gcode")
    assert "exclude each other" in refuse(
        capsys, "plan", "part.gcode", "--out", "b", "--centre", "--offset-mm", "1,1"
    )
    assert "leave that out" in refuse(capsys, "plan", "diagonal", "--out", "b.csv", "--s-max", "255")
    assert "--speed-mm-s must be" in refuse(capsys, "plan", "part.gcode", "--out", "b", "--speed-mm-s", "9,3")
    assert not Path("b").exists()


def test_a_window_above_the_solidus_that_is_not_reached_is_told_twice_over(capsys: Capture) -> None:
    out, err = miss(
        capsys, "plan", "part.gcode", "--window-k", "1800,2500", "--out", "b.gcode", "--json", "b.json"
    )
    assert Path("b.gcode").exists()
    assert "1800 – 2500 K, NOT REACHED in any tick" in out
    assert "100 % below" in out
    notes = json.loads(Path("b.json").read_text())["notes"]
    for words in ("lies above the solidus of 304", "the plan does not hold"):
        assert sum(words in note for note in notes) == 1
        assert err.count(words) == 1
    out, err = run(capsys, "plan", "part.gcode", "--out", "c.gcode")
    assert "NOT REACHED" not in out
    assert "solidus" not in err
    assert "does not hold" not in err
    head = [line for line in Path("c.gcode").read_text().splitlines() if "laserloop plan" in line]
    assert head == ["; laserloop plan: powers are absorbed power, absorptivity 1"]  # and no verdict


def test_the_file_that_is_planned_is_not_written_over_unless_forced(capsys: Capture) -> None:
    words = ("plan", "part.gcode", "--no-verify", "--out")
    assert "must not be the file that is planned" in refuse(capsys, *words, "part.gcode")
    Path("there").mkdir()
    Path("there/part.gcode").write_text(PART)
    several = ("plan", "there/part.gcode", "x.csv", "--no-verify", "--out", "there")
    assert "must not be the file that is planned" in refuse(capsys, *several)
    assert Path("part.gcode").read_text() == PART
    run(capsys, *words, "part.gcode", "--force")
    assert Path("part.gcode").read_text().count("laserloop plan:") == 1
    run(capsys, *words, "part.gcode", "--force")
    assert Path("part.gcode").read_text().count("laserloop plan:") == 1


def test_what_is_not_simulated_of_a_long_file_is_named(capsys: Capture) -> None:
    words = ("plan", "part.gcode", "--verify-ticks", "50", "--out", "b.gcode", "--json", "b.json")
    _, err = run(capsys, *words)
    told = json.loads(Path("b.json").read_text())
    assert told["verified"]["ticks"] == 50 < told["ticks"]
    assert "only the first 50 of" in err
    assert "only the first 50 of" in Path("b.gcode").read_text().splitlines()[0]


def test_init_chooses_a_tick_that_suits_beam_and_speed_unless_it_is_given(capsys: Capture) -> None:
    words = ("init", "--sigma-um", "2500", "--speed-mm-s", "20", "--force", "--out", "a.yaml")
    out, _ = run(capsys, *words)
    assert "needlessly fine" in out
    assert read_process("a.yaml").tick == 0.05
    out, _ = run(capsys, *words, "--tick-us", "2000")
    assert "needlessly fine" not in out
    assert read_process("a.yaml").tick == 0.002
    told, _ = run(capsys, "check", "a.yaml")
    assert "needlessly fine" in " ".join(told.split())


def test_a_window_below_ambient_is_not_planned(capsys: Capture) -> None:
    err = refuse(capsys, "plan", "part.gcode", "--window-k", "200,250", "--out", "b.gcode")
    assert "200 – 250 K is out of reach, since the plate itself has 300 K" in err
    assert not Path("b.gcode").exists()


def test_init_writes_a_process_that_reads_back_equal(capsys: Capture) -> None:
    out, _ = run(
        capsys, "init", "--material", "ti64", "--sigma-um", "60", "--power-w", "0,60", "--out", "a.yaml"
    )
    wanted = find_process("ti64").change(sigma_um=60, power_w=(0, 60), tick_us=50)
    assert read_process("a.yaml") == wanted
    assert "laserloop check a.yaml" in out
    assert Path("a.yaml").read_text().count("#") > 12
    assert "already there" in refuse(capsys, "init", "--out", "a.yaml")
    run(capsys, "init", "--out", "a.yaml", "--force")
    assert read_process("a.yaml") == find_process("paper")


@pytest.mark.parametrize(
    ("answers", "absorptivity"), [(["40", "a third", "0.35"], 0.35), ([""], 1.0), (["0.5"], 0.5)]
)
def test_init_asks_at_a_terminal_what_the_metal_absorbs(
    answers: list[str], absorptivity: float, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter(answers)
    monkeypatch.setattr("laserloop.cli.plan._is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(said))
    out, err = run(capsys, "init", "--out", "a.yaml")
    assert read_process("a.yaml").beam.absorptivity == absorptivity
    assert list(said) == []
    assert out.count("It must be a number from 0.0001 to 1") == len(answers) - 1
    assert ("are absorbed power" in err) == (absorptivity == 1.0)


def test_init_does_not_ask_for_what_an_option_says(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.cli.plan._is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: pytest.fail("asked"))
    run(capsys, "init", "--absorptivity", "1", "--out", "a.yaml")


def test_init_names_a_material_file_beside_the_process(capsys: Capture) -> None:
    Path("sub").mkdir()
    Path("alloy.csv").write_text(
        "T_K,k_W_mK,rho_kg_m3,cp_J_kgK\n300,12,8000,490\n900,21,7730,590\n1200,25,7580,640\n"
    )
    run(capsys, "init", "--material", "alloy.csv", "--out", "sub/a.yaml")
    assert "../alloy.csv" in Path("sub/a.yaml").read_text()
    assert read_process("sub/a.yaml").material.name == "alloy"


def test_check_finds_nothing_against_the_paper_and_its_path(capsys: Capture) -> None:
    out, _ = run(capsys, "check", "paper", "diagonal", "--json", "c.json")
    told = json.loads(Path("c.json").read_text())
    assert told["fine"]
    assert "Nothing speaks against it." in out
    assert "135°" in out
    assert 770 < told["t_min_k"] <= told["t_max_k"] < 790


def test_check_marks_what_cannot_work(capsys: Capture) -> None:
    Path("a.yaml").write_text(
        "window_k: [760, 768]\nspeed_mm_s: 1000\nbeam: {sigma_um: 200}\nlaser: {power_w: [0, 20]}\n"
        "plate_mm: [15, 10, 0.8]\ntick_us: 250\n"
    )
    out, _ = run(capsys, "check", "a.yaml")
    for words in ("slow down to", "which is coarse", "only 8 K wide", "only 4 σ thick", "marked with !"):
        assert words in " ".join(out.split()), out


def test_check_says_that_a_plate_is_smaller_than_its_heat(capsys: Capture) -> None:
    Path("a.yaml").write_text("plate_mm: [1, 1, 2]\n")
    out, _ = run(capsys, "check", "a.yaml")
    for words in ("smaller than 20 σ", "narrower than thick"):
        assert words in " ".join(out.split()), out


def test_several_files_go_into_a_folder_and_a_bad_one_is_told_at_the_end(capsys: Capture) -> None:
    Path("line.csv").write_text("x_mm,y_mm\n-0.4,0\n0.4,0\n")
    Path("bad.txt").write_text("nothing\n")
    words = ("part.gcode", "line.csv", "bad.txt", "--no-verify", "--by", "vector", "--workers", "1")
    err = refuse(capsys, "plan", *words, "--out", "planned", "--json", "all.json")
    assert "1 of 3 files could not be planned; bad.txt, line 1: a segment table must begin with" in err
    assert sorted(file.name for file in Path("planned").iterdir()) == ["line.csv", "part.gcode"]
    told = json.loads(Path("all.json").read_text())
    assert [record["path"] for record in told["files"]] == ["part.gcode", "line.csv"]
    assert told["files"][0]["out"] == "planned/part.gcode"
    assert len(told["refused"]) == 1


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["part.gcode", "part.gcode"], "files must have different names"),
        (["part.gcode", "b.csv", "--plot", "a.png"], "--plot is for one file"),
        (["part.gcode", "--workers", "2"], "one file is planned by one process"),
        (["part.gcode", "nothing.csv"], "a path file must exist, but nothing.csv does not"),
    ],
)
def test_what_does_not_go_together_is_told_before_any_work(
    words: list[str], match: str, capsys: Capture
) -> None:
    assert match in refuse(capsys, "plan", *words, "--out", "planned")


def test_a_shape_is_told_where_it_becomes_a_layer_file(capsys: Capture) -> None:
    Path("part.stl").write_text("solid part\nendsolid part\n")
    told = refuse(capsys, "plan", "part.stl", "--out", "part.cli")
    assert "part.stl: a shape is no path and is not hatched here" in told
    assert "examples/hatch_stl.py" in told
