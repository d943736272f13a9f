"""Sphinx settings: Markdown pages, the reference from the program itself, no file from elsewhere."""

import sys
from datetime import date
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "laserloop"
copyright = f"{date.today().year}, the laserloop authors"  # noqa: A001 (Sphinx names it)
release = version = metadata.version("laserloop")

extensions = ["myst_parser", "sphinx.ext.autodoc", "on_paper", "plain_docstrings", "verbs"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]  # ![…](figure-dark.svg){.only-dark}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "undoc-members": False}
python_use_unqualified_type_names = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"laserloop {release}"
html_show_sphinx = False
