# SPDX-License-Identifier: MIT
"""Convert keywords to words of parameters.  The library gives the table at run time."""

import os
import sys

from . import _models, _nanobragg, _rows

_BY_NAME = {}
for _row in _nanobragg.params():
    if _row["flags"] & _nanobragg.INNER:
        continue
    for _name in _rows.names(_row):
        _BY_NAME[_name] = _row


def parameters():
    """The table of parameters: a dict by name, each with its synonyms, unit, group, and help."""
    return {row["name"]: dict(row) for row in _BY_NAME.values()}


def find(name, series):
    """Row of a keyword, or TypeError with the nearest name."""
    row = _BY_NAME.get(name)
    if row and bool(row["flags"] & _nanobragg.SERIES) == series:
        return row
    own = [n for n, r in _BY_NAME.items() if bool(r["flags"] & _nanobragg.SERIES) == series]
    import difflib  # imported here, because it takes milliseconds to load

    near = difflib.get_close_matches(name, own, 1, 0.6)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise TypeError(f"'{name}' is not a parameter of a {'series' if series else 'simulation'}{hint}")


def _word(flag, value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    raise TypeError(_models.refusal(flag, value))


def _flat(value):
    """Numbers of nested sequences, row by row."""
    if isinstance(value, (str, os.PathLike)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        return [value]
    return [x for part in value for x in _flat(part)]


def _numbers(name, value):
    """Words of a value; TypeError with the type of an object that holds no numbers."""
    flat = _flat(value)
    if not isinstance(value, (str, os.PathLike, list, tuple, range)) and hasattr(value, "__iter__"):
        if not flat or not all(isinstance(x, (str, int, float)) or hasattr(x, "item") for x in flat):
            raise TypeError(_models.refusal(name, value))
    return [_word(name, x) for x in flat]


def _lines(crystals):
    """JSON of a list of dicts of parameters, one for each crystal."""
    import json

    def plain(value):
        return os.fspath(value) if isinstance(value, os.PathLike) else value.tolist()

    return json.dumps([dict(one) for one in crystals], separators=(",", ":"), default=plain)


def words(name, value, series=False):
    """(name, words) for the library; None if the value sets nothing."""
    row = find(name, series)
    if value is None:
        return None
    name = row["name"]
    value = _models.plain(name, value)
    if row["kind"] in (_nanobragg.SWITCH, _nanobragg.PRESET):
        if not isinstance(value, bool) and value not in (0, 1):
            raise ValueError(f"-{row['name']} {value!r}: must be True or False")
        if row["kind"] == _nanobragg.PRESET and not value:
            return None
        return name, [] if row["kind"] == _nanobragg.PRESET else [_word(name, bool(value))]
    if name == "crystals" and isinstance(value, (list, tuple)):
        return name, [_lines(value)]
    if row["kind"] == _nanobragg.FILE and not isinstance(value, (str, os.PathLike)):
        raise TypeError(_models.refusal(name, value))
    if isinstance(value, str) and row["words_max"] > 1:
        return name, value.split()
    return name, _numbers(name, value)


def many(keywords, series=False):
    """Words of keyword arguments, in their order."""
    found = (words(name, value, series) for name, value in keywords.items())
    return [pair for pair in found if pair]


def pairs(keywords):
    """[(name of the parameter, words)] of keywords; words None resets the parameter."""
    return [words(name, value) or (find(name, False)["name"], None) for name, value in keywords.items()]


def log(line):
    """Send a notice to the logger "nanobragg", or to stderr if it has no handlers."""
    import logging

    logger = logging.getLogger("nanobragg")
    if logger.hasHandlers():
        logger.info(line)
    else:
        print(f"nanobragg: {line}", file=sys.stderr)


class Notices:
    """A log that can be switched off."""

    quiet = False

    def __init__(self, say=None):
        self.say = say or log

    def __call__(self, line):
        if not self.quiet:
            self.say(line)
