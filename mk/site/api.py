# SPDX-License-Identifier: MIT
"""Write the sources of the site into a folder: links to the documents, and the API pages of C and Python.

An API page of C has the declarations of a header, each with its comment.

usage: python3 mk/site/api.py FOLDER      in the root of the source
"""
import glob
import importlib.util
import os
import re
import sys
import textwrap

NEEDS = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser", "furo": "furo", "numpy": "python3-numpy",
         "nanobragg": "python3-dev"}
PAGES = ["docs", "plans", "reports", "golden_data/real/README.md"]
TOKEN = re.compile(r"\s*(?:/\*(?P<comment>.*?)\*/|(?P<line>#(?:[^\n]*\\\n)*[^\n]*))", re.S)
PYTHON = """Python
======

.. automodule:: nanobragg
   :members:
   :exclude-members: names, loss, gradient, fisher

nanobragg.torch
---------------

.. automodule:: nanobragg.torch
   :members:
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    """Write a file, unless it has this text already: then Sphinx does not read it again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path) or read(path) != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


# --- text of comments ---

def inline(text, links={}):
    """A line of a comment or docstring as reStructuredText: only `code` is markup; names become links."""
    def part(match):
        word = match[0]
        if match[1]:
            return f"\\ ``{match[1]}``\\ "
        if match[2]:
            return f"\\ :doc:`{word} </docs/{match[2]}>`\\ "
        if word in links:
            return f"\\ :c:{links[word]}:`{word}`\\ "
        return "\\" + word if len(word) == 1 else word.replace("_", "\\_")
    return re.sub(r"`([^`]+)`|docs/([\w-]+)\.md|\w*_\w*|[*\\|`]", part, text)


def as_rst(text, links={}):
    """A comment or docstring as reStructuredText.  Indented blocks are code."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if re.match(r" {2,}", block):
            out.append("::\n\n" + textwrap.indent(textwrap.dedent(block), "    "))
        else:
            out.append(inline("\n".join(line.strip() for line in block.split("\n")), links))
    return "\n\n".join(out)


def comment_text(comment):
    """The text between /* and */, without the stars of its lines."""
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in comment.lstrip("*").split("\n")).strip()


# --- a header ---

def declaration(text, at):
    """Where a declaration that begins at `at` ends: after its semicolon, and a comment on the same line."""
    depth = 0
    for match in re.compile(r"/\*.*?\*/|[{};]", re.S).finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == ";" and depth == 0:
            after = re.compile(r" */\*.*?\*/", re.S).match(text, match.end())
            return after.end() if after else match.end()
    raise ValueError(f"no end of {text[at:at + 60]!r}")


def items(text):
    """Yields (comment, declaration or lines of #define) of a header, without the comment of the file."""
    at, comment = text.index('extern "C" {') + len('extern "C" {\n#endif'), ""
    end = text.rindex("#ifdef __cplusplus")
    while text[at:end].strip():
        match = TOKEN.match(text, at)
        if match and match["comment"] is not None:
            comment, at = comment_text(match["comment"]), match.end()
        elif match:
            if match["line"].startswith("#define"):
                yield comment, match["line"]
                comment = ""
            at = match.end()
        else:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            at = declaration(text, start)
            yield comment, text[start:at]
            comment = ""


def name_of(code):
    """(role, name) of a declaration, or None if it has no name that pages can link to."""
    if re.match(r"#|enum \{|struct \w+;", code):
        return None
    if code.startswith("typedef"):
        bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S).rstrip()
        return "type", (re.match(r"typedef [^{]*\(\*(\w+)\)", bare) or re.search(r"(\w+)(?:\[\w*\])?;$", bare))[1]
    if code.startswith(("struct", "enum")):
        return "type", re.search(r"\w+ (\w+)", code)[1]
    return "func", re.search(r"(\w+)\(", code)[1]


def entry(comment, code, links):
    """A declaration with its comment as a directive of Sphinx."""
    kind = name_of(code)
    listing = ".. code-block:: c\n\n" + textwrap.indent(code, "   ")
    if not kind:
        return f"{as_rst(comment, links)}\n\n{listing}"
    if kind[0] == "type":
        return f".. c:type:: {kind[1]}\n\n" + textwrap.indent(f"{as_rst(comment, links)}\n\n{listing}", "   ")
    prototype, _, note = code.partition(";")
    text = "\n\n".join(filter(None, [comment, comment_text(note.strip()[2:-2])]))
    return f".. c:function:: {' '.join(prototype.split())}\n\n" + textwrap.indent(as_rst(text, links), "   ")


def together(found):
    """Joins lines of #define without a comment between them to one item."""
    out = []
    for comment, code in found:
        if out and code.startswith("#") and not comment and out[-1][1].startswith("#"):
            out[-1] = out[-1][0], out[-1][1] + "\n" + code
        else:
            out.append((comment, code))
    return out


def headers(folder):
    texts = {path: read(path) for path in sorted(glob.glob("src/nanobragg/*.h"))}
    found = {path: together(items(text)) for path, text in texts.items()}
    links = {name: role for many in found.values() for role, name in filter(None, (name_of(code) for _, code in many))}
    names = []
    for path, text in texts.items():
        title = os.path.relpath(path, "src")
        names.append(os.path.basename(path)[:-2])
        head = as_rst(comment_text(re.search(r"/\*\*(.*?)\*/", text, re.S)[1]), links)
        body = [entry(comment, code, links) for comment, code in found[path]]
        write(f"{folder}/{names[-1]}.rst", "\n\n".join([f"{title}\n{'=' * len(title)}", head, *body, ""]))
    head = as_rst(comment_text(re.search(r"/\*\*(.*?)\*/", read("src/nanobragg.h"), re.S)[1]), links)
    write(f"{folder}/c.rst", f"C\n=\n\n{head}\n\n.. toctree::\n\n" + "".join(f"   {name}\n" for name in names))


def main(folder):
    missing = [package for module, package in NEEDS.items() if not importlib.util.find_spec(module)]
    if missing:
        sys.exit(f"site: needs the Debian packages {' '.join(missing)} (sh mk/packages.sh docs)")
    for path in ["index.md", *PAGES]:
        link = os.path.join(folder, path)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.islink(link):
            os.symlink(os.path.abspath("README.md" if path == "index.md" else path), link)
    headers(f"{folder}/api")
    write(f"{folder}/api/python.rst", PYTHON)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
