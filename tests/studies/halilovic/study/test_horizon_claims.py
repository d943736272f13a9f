"""Sentences about Table 3, also of models that are good for nothing."""

from laserloop.studies.halilovic.loop_claims import SS_AR, USUAL, judge_table_3


def test_a_model_that_never_moves_its_power_is_judged_without_a_factor() -> None:
    for before, told in ((0.25, "0.25 → 1.00 W (×4.0)"), (0.0, "0.00 → 1.00 W")):
        rows = {
            (label, "diagonal"): {"power_step_mean_w": step}
            for label, step in ((USUAL, before), (SS_AR, 1.0))
        }
        (claim,) = judge_table_3(rows)  # what needs other figures says nothing
        assert (claim.key, claim.ours, claim.holds) == ("ss-ar.rough", told, True)
