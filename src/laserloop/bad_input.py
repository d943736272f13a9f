"""The one exception that speaks to people: an input broke a rule; and a short account of what it got."""


class BadInput(ValueError):
    """An input breaks a stated rule; the message is one sentence: the rule, the value, what to do."""


def show(value: object) -> str:
    """A short account of any value: the repr of a hostile one may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 1e18):
        return repr(value)[:60]
    return f"a {type(value).__name__}"
