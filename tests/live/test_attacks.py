"""Attacks in small, as benchmarks/view.py tries them in large: refused, and the server still answers."""

from pathlib import Path

import pytest
import view_attacks as attacks
from tests.live.conftest import Server, serve

from laserloop.live.app import MOST_SESSIONS
from laserloop.live.server import HEAD_S


def test_ways_out_of_the_folder_lead_nowhere(bench: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacks, "TARGETS", ("etc/passwd", "server.py"))
    assert attacks.traverse(bench.port).passed == 0


def test_other_sites_are_refused(bench: Server) -> None:
    assert attacks.pretend(bench.port).passed == 0


def test_what_is_too_large_is_not_taken(bench: Server) -> None:
    assert attacks.upload(bench.port, 40_000_000).passed == 0
    attacks.answers(bench.port)


def test_archives_are_not_unpacked(bench: Server) -> None:
    assert attacks.bomb(bench.port, 20).passed == 0


def test_more_pages_than_are_served_are_turned_away(bench: Server) -> None:
    assert attacks.crowd(bench.port, MOST_SESSIONS + 10, MOST_SESSIONS).passed == 0


def test_messages_that_mean_nothing_are_refused(bench: Server) -> None:
    assert attacks.babble(bench.port, 200).passed == 0
    attacks.answers(bench.port)


def test_slow_clients_do_not_keep_others_waiting(bench: Server) -> None:
    assert attacks.dawdle(bench.port, 20, HEAD_S + 2.0).passed == 0


def test_a_hostile_folder_is_listed_without_harm(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    attacks.fill_hostile(folder, 40)
    with serve(folder) as server:
        assert attacks.list_hostile(server.port, 0).passed == 0


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"path": "../../etc/passwd"}, "a path must be one of"),
        ({"path": "/etc/passwd"}, "a path must be one of"),
        ({"path": {"file": "../../x"}}, "a dropped file must still be there"),
        ({"path": "spiral", "process": "/etc/passwd"}, "a process must be one of"),
        ({"path": "spiral", "process": {"file": "../../x"}}, "a dropped file must still be there"),
        ({"path": "spiral", "changes": {"material": "/etc/passwd"}}, "a material must be one of"),
        ({"path": "spiral", "changes": {"plate_mm": [1e9, 1, 1]}}, "may change material"),
        ({"path": "spiral", "ticks": 1e12}, "ticks must be a number"),
        ({"path": "spiral", "controllers": ["evil.py:Evil"]}, "a controller must be one of"),
        ({"path": "spiral", "absorptivity_error": 0}, "absorptivity_error must be a number"),
        ({"path": "spiral", "changes": {"sigma_um": "wide"}}, "sigma_um must be a number"),
        ({"path": "spiral", "more": 1}, "an order may have the keys"),
    ],
)
def test_hostile_orders_are_refused_in_a_sentence(bench: Server, order: object, words: str) -> None:
    status, told = bench.post("/look", order)
    assert status == 400
    assert words in told.decode()
