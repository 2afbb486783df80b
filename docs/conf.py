"""How Sphinx reads the pages: `./dev docs` builds them into build/docs, and a warning is an error.

The source directory is the checkout and not docs/, so that a relative link between two pages means the same to Sphinx
as on a code host, for the pages at the root too. What the pages say is theirs; the API reference is the docstrings.
"""

from importlib.metadata import version as installed_version

from sphinx.application import Sphinx

project = "tessiq"
author = "the tessiq authors"
project_copyright = "%Y, the tessiq authors"
release = installed_version("tessiq")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["*.md", "cmake/*.md", "docs/**/*.md", "docs/*.md"]
# Folders without pages: Sphinx walks everything that is not named here, the environment too.
exclude_patterns = [".*", "bench", "build", "csrc", "dist", "examples", "python", "requirements", "tests", "tools"]

# `#a-heading` is a link on a code host, so it is one here.
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# A record's attributes are said in its docstring, once.
napoleon_use_ivar = True
# Other projects' names are not looked up: a build needs no network.
nitpick_ignore_regex = [
    (r"py:.*", r"(torch|collections|typing|pathlib|types|os)\..*"),
    # Imported for type checkers alone, so the annotation is a bare name.
    (r"py:class", r"(tessiq\.explain\.comparison\.)?Comparison|Console|Reduction|TimedKernel"),
]

html_theme = "furo"
html_title = f"tessiq {release}"
html_copy_source = False
html_show_sourcelink = False
# The first page is docs/index.html; the folder's own index.html leads there.
html_extra_path = ["site"]


def setup(app: Sphinx) -> None:
    """Keeps the docstring of a value whole: napoleon reads what comes before its first colon as the value's type."""
    kept: dict[str, list[str]] = {}

    def keep(_: Sphinx, what: str, name: str, __: object, ___: object, lines: list[str]) -> None:
        if what in {"attribute", "data", "property"}:
            kept[name] = list(lines)

    def restore(_: Sphinx, __: str, name: str, ___: object, ____: object, lines: list[str]) -> None:
        lines[:] = kept.pop(name, lines)

    # Napoleon listens at 500.
    app.connect("autodoc-process-docstring", keep, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
