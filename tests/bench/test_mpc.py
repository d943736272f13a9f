"""The bench of solvers, in small: what it promises to report."""

import json
import time
from pathlib import Path

import pytest

from laserloop.bench.laps import Laps, count_switches
from laserloop.bench.mpc import run_mpc_bench


def test_the_bench_tells_times_ratios_and_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.bench.mpc.TICKS", 60)
    monkeypatch.setattr("laserloop.bench.mpc_twin.TICKS", 60)
    seen: list[tuple[int, int]] = []
    found = run_mpc_bench(problems=6, progress=lambda done, total: seen.append((done, total)))
    assert json.loads(json.dumps(found)) == found
    assert found["problems"] == 6
    assert seen[-1] == (6, 6)
    for name in ("reference", "folded", "sqp", "realtime", "numpy"):
        assert 0 < found[name]["median_us"] <= found[name]["p99_us"] <= found[name]["p999_us"]
        assert found[name]["p99_quiet_us"] > 0
    assert found["ratio_median"] > 1
    assert found["ratio_numpy_realtime"] > 1
    assert set(found["first_move_difference_w"]) >= {"p99", "max"}
    assert found["sqp"]["over_ceiling_k"] < 40.0
    assert found["over_ceiling_k"] <= 0.02
    for name in ("twin", "twin_c", "twin_c_alone", "twin_c_10us"):
        assert 0 < found[name]["median_us"] <= found[name]["p99_us"]
        assert found[name]["median_us"] <= found[name]["worst_us"]  # of the quietest round
    assert found["ratio_median_twin_c"] > found["ratio_median"]
    assert found["twin_c_history"]["ticks"] >= 10_000
    assert found["twin_c_history"]["ratio"] > 0
    assert found["twin_state_bytes"] < 1_000_000
    assert 0.9 < found["loop_over_plant"] < 1.5
    assert 0 <= found["over_tick_fraction"] <= 1
    assert 0 <= found["over_tick_fraction_quiet"] <= 1
    hurried = found["twin_c_10us"]
    assert 0 < hurried["quickest_worst_us"] <= hurried["worst_us"]
    assert (hurried["over_tick_fraction_quickest"] > 0) == (hurried["quickest_worst_us"] > 10.0)
    cold, others = found["heat_up"], found["other_first_moves"]
    assert cold["problems"] + found["slack_free"] == found["feasible"]
    assert (
        cold["problems"] >= cold["worse_than_ipopt_starts"] >= cold["worse_by_0.02_k"] >= cold["worse_by_1_k"]
    )
    assert found["feasible"] >= others["problems"] >= others["not_dearer_than_ipopt"]
    assert others["problems"] >= others["local_minima"]
    assert cold["worse_by_0.02_k"] >= cold["worse_by_0.02_k_local_minima"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="nobody counts context switches here")
def test_a_lap_that_gives_the_core_away_is_not_quiet() -> None:
    laps = Laps()
    before = count_switches()
    assert laps.run(lambda: time.sleep(0.001)) is None
    assert count_switches() > before
    assert laps.quiet == [False]
    for _ in range(50):
        laps.run(lambda: 1)
    assert any(laps.quiet)
    assert laps.describe()["switched_fraction"] > 0
    assert laps.share_over(0.001) >= 1 / 51
    assert laps.share_over(10.0, quiet=True) == 0.0
