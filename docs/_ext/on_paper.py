"""Marks the figures of result pages, drawn on white, so that a dark page can turn them (site.css)."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def mark(app: Sphinx, page: nodes.document, name: str) -> None:
    """Every figure that has no twin for dark pages."""
    for image in page.findall(nodes.image):
        if name.startswith("results/") and not {"only-light", "only-dark"} & set(image["classes"]):
            image["classes"].append("on-paper")


def setup(app: Sphinx) -> dict[str, Any]:
    """Looked at when everything is in its place."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True}
