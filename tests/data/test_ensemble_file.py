from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.data import EnsembleSettings, read_settings
from laserloop.process import Process


def test_a_file_may_hold_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "kind: custom\nshares: {spiral: 1, polyline: 3}\nruns: 8\nprocess: {laser: {power_w: [0, 15]}}\n"
    )
    settings = EnsembleSettings.from_json(read_settings(file))
    assert settings == EnsembleSettings(
        kind="custom", shares=(0.0, 0.0, 1, 3), runs=8, process=Process().change(power_w=[0, 15])
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"kind: [", "an ensemble must be plain YAML, but line 1 of"),
        (b"\xff\xfe\x00", "UTF-8 text, but byte 1 is not"),
        (b"runs: 3\nruns: 4", "line 2 .* has the key 'runs' twice"),
        (b"a: &a [1]\nb: *a", "line 2 .* has an alias"),
        (b"- base", "must be lines of name: value"),
        (b"", "must be filled, but is empty"),
        (b"#" * 200_000, "at most 100000 bytes"),
    ],
)
def test_a_file_that_is_no_settings_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=sentence):
        read_settings(file)


def test_what_is_neither_a_kind_nor_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must be base, corner or a .yaml file"):
        read_settings("corners")
    with pytest.raises(BadInput, match=r"must be readable, but is not \(No such file"):
        read_settings(tmp_path / "absent.yaml")
