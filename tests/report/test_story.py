from laserloop.data.episode import Episode
from laserloop.report.story import describe_power


def test_random_power_is_not_called_constant(shaken: Episode, paper: Episode) -> None:
    assert "constant" not in describe_power(shaken)
    assert describe_power(paper) == f"constant {paper.power[0]:g} W"
