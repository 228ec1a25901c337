# SPDX-License-Identifier: MIT
"""Parameters given as objects of gemmi, cctbx and dxtbx. An object is recognized by its
methods, so that the packages need not be installed."""

from ._arrays import type_name

_CELL = ("a", "b", "c", "alpha", "beta", "gamma")


def _call(value, name):
    method = getattr(value, name, None)
    return method() if callable(method) else None


def _cell(value):
    """Cell of gemmi.UnitCell; cctbx cell, symmetry, Miller array; dxtbx.model.Crystal."""
    inner = _call(value, "get_unit_cell") or _call(value, "unit_cell") or value
    if all(hasattr(inner, axis) for axis in _CELL):
        return tuple(float(getattr(inner, axis)) for axis in _CELL)
    numbers = _call(inner, "parameters")
    return None if numbers is None else tuple(float(x) for x in numbers)


def _space_group(value):
    """Symbol of gemmi.SpaceGroup, cctbx group or symmetry, or dxtbx.model.Crystal."""
    inner = _call(value, "get_space_group") or _call(value, "space_group_info") or value
    symbol = _call(inner, "xhm")
    return symbol or _call(_call(inner, "type"), "lookup_symbol")


def _wavelength(value):
    """Wavelength of dxtbx.model.Beam."""
    return _call(value, "get_wavelength")


_TAKEN = {"cell": _cell, "sg": _space_group, "lambda": _wavelength}


def plain(flag, value):
    """Numbers or text of such an object; other values unchanged."""
    take = _TAKEN.get(flag)
    if take is None or isinstance(value, (str, bytes, int, float)) or hasattr(value, "__array__") \
            or isinstance(value, (tuple, list)):
        return value
    found = take(value)
    return value if found is None else found


def refusal(flag, value):
    """Message for an object that no parameter accepts."""
    mend = ""
    if callable(getattr(value, "as_file", None)):
        mend = "; write it to a file with as_file() and give the path (expt=)"
    elif "dxtbx" in type_name(value):
        mend = "; put it into an ExperimentList, write that with as_file() and give the path (expt=)"
    elif "gemmi" in type_name(value):
        mend = "; write it to a file and give the path (mtz=, pdb=, cif=)"
    return f"{flag}: takes numbers, text or a path, not {type_name(value)}{mend}"
