"""The one exception that speaks to people: an input broke a rule."""


class BadInput(ValueError):
    """An input breaks a stated rule; the message is one sentence: the rule, the value, what to do."""
