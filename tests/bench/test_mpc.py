"""The bench of solvers, in small: what it promises to report."""

from laserloop.bench.mpc import run_mpc_bench


def test_the_bench_tells_times_ratios_and_agreement() -> None:
    seen: list[tuple[int, int]] = []
    found = run_mpc_bench(problems=6, progress=lambda done, total: seen.append((done, total)))
    assert found["problems"] == 6
    assert seen[-1] == (6, 6)
    for name in ("reference", "folded", "realtime", "numba"):
        assert 0 < found[name]["median_us"] <= found[name]["p99_us"] <= found[name]["p999_us"]
    assert found["ratio_median"] > 1
    assert set(found["first_move_difference_w"]) >= {"p99", "max"}
    assert found["over_ceiling_k"] <= 0.02
    assert 0 <= found["over_tick_fraction"] <= 1
