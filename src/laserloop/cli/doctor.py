"""The verb that says what works here."""

from dataclasses import asdict

from laserloop.bad_input import BadInput
from laserloop.cli.output import Json, publish

MARKS = {"ok": "✓", "missing": "–", "failed": "✗"}


def doctor(*, json_file: Json = None) -> None:
    """Say what is installed, which compiler and caches there are, and try plant and controller for seconds.

    A dash marks what is missing but not needed to simulate and control; a cross what is broken. Ends with
    exit code 2 if something is broken. Put its output into a bug report.

    For example:

        laserloop doctor
        laserloop doctor --json doctor.json
    """
    from laserloop.doctor import examine
    from laserloop.report.tables import tabulate_numbers
    from laserloop.versions import find_versions

    versions = find_versions()
    checks = list(examine())
    told = versions | {check.what: f"{MARKS[check.state]} {check.found}" for check in checks}
    found = {"versions": versions, "checks": [asdict(check) for check in checks]}
    broken = [check for check in checks if check.state == "failed"]
    publish(found, json_file, tabulate_numbers(told), *([] if broken else ["Next: laserloop demo"]))
    if broken:
        raise BadInput(
            f"{len(broken)} of {len(checks)} checks failed: {'; '.join(check.found for check in broken)}; "
            "reinstall laserloop, or report this with what is printed above"
        )
