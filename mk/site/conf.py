# SPDX-License-Identifier: MIT
"""Sphinx makes the site of the documents (`make site`).  api.py writes its sources, with links to the documents.

A page loads nothing from the network: it uses the reader's fonts, and the search works from disk."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import api

project = "nanobragg"
html_title = f"nanobragg {os.environ['NB_VERSION']}"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
html_theme = "furo"
html_static_path = html_css_files = ["site.css"]
html_show_sourcelink = html_copy_source = html_show_copyright = False
html_show_search_summary = False  # from disk, a browser does not read other pages
myst_heading_anchors = 6
smartquotes = False  # so that -flag does not become a dash
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]
add_module_names = False
GROUPS = [("Documents", r"docs/[\w-]+"), ("API", "api/(c|python)$"), ("Reports", "reports/|golden_data/"), ("For developers", "plans/")]


def tables(app):
    """Lines of the tables of pages in the margin: documents in the order of README, then all others by name."""
    pages = re.findall(r"\]\((docs/[\w-]+)\.md\)", api.read("README.md"))
    pages += sorted(app.env.found_docs)
    for title, start in GROUPS:
        names = dict.fromkeys(name for name in pages if re.match(start, name))
        yield "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {title}\n", *names, "```", ""])


def adapt(app, name, source):
    """Changes a page for the site: README gets the tables of pages; links to headers become links to API pages."""
    if name == root_doc:
        source[0] += "\n" + "\n".join(tables(app))
    source[0] = re.sub(r"\(\.\./src/nanobragg(/(\w+)\.h)?\)", lambda m: f"(../api/{m[2] or 'c'}.md)", source[0])


def mend_theme(app, error):
    """Inserts a style and a script that Debian's theme would load, which works only on a web server."""
    static = os.path.join(app.outdir, "_static")
    for name, wanted, part in [("styles/furo.css", r"@import url\((/javascript/[^)]*)\);?", "/usr/share{}"),
                               ("scripts/furo.js", r'import Gumshoe from "\./(.*)";', static + "/scripts/{}")]:
        path = os.path.join(static, name)
        api.write(path, re.sub(wanted, lambda match: api.read(part.format(match[1])), api.read(path)))


def setup(app):
    app.connect("build-finished", mend_theme)
    app.connect("source-read", adapt)
    app.connect("autodoc-process-docstring", lambda app, what, name, thing, options, lines: lines.__setitem__(
        slice(None), api.as_rst("\n".join(lines)).split("\n")))
