"""Words for the page: what was written for a command line, without options that a page does not have."""

import re

SAID = {
    r"; laserloop calibrate --process finds them": "",
    r"; if 1000 is all power: --s-max 1000": "; if it is not, say which S is full power",
    r"say which number is full power if it is none of watts \(--s-max [^)]*\), or give the laser's own "
    r"\(--power-max-w\)": "say which S is full power if S is not in W, or give the laser's own power",
    r"no gains of \w+ ship for this plant and process, so they are tuned first: [\w ]+": (
        "no gains ship for this plant and process, so they were tuned before the first tick"
    ),
    r"a shorter --delay or a model of a longer horizon": "a shorter camera delay or the physics twin",
}
TABLE = {re.compile(was): said for was, said in SAID.items()}


def say_on_page(text: str) -> str:
    """A note or a refusal as the page tells it."""
    for was, said in TABLE.items():
        text = was.sub(said, text)
    return text
