# SPDX-License-Identifier: MIT
"""Rows of the table of parameters as text, without imports, so that mk/stubs.py can use
it."""


def names(row):
    return [row["name"], *row["synonyms"].split()]


def text(row):
    """Help, unit and default, as "wavelength [A] (default: 1)"."""
    unit = f" [{row['unit']}]" if row["unit"] else ""
    return row["help"] + unit + (f" (default: {row['fallback']})" if row["fallback"] else "")


class Doc:
    """Docstring that lists rows by group. rows: a function that is called only when the
    docstring is read, so that the import is fast."""

    def __init__(self, head, rows):
        self.head, self.rows = head, rows

    def __get__(self, *_):
        groups = {}
        for row in self.rows():
            values = f" {row['value']}" if row["value"] else ""
            groups.setdefault(row["group"], []).append(f"        {', '.join(names(row))}{values}: {text(row)}")
        return "\n\n    ".join([self.head, "Keywords, each with its [unit] and (default):", *("\n".join([group, *lines]) for group, lines in groups.items())])
