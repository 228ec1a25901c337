# SPDX-License-Identifier: MIT
"""Objects of gemmi, cctbx and dxtbx where a parameter is: known by what they can do, so that none of these packages
is needed."""

from ._arrays import type_name

_CELL = ("a", "b", "c", "alpha", "beta", "gamma")


def _call(value, name):
    method = getattr(value, name, None)
    return method() if callable(method) else None


def _cell(value):
    """Of gemmi.UnitCell; of unit_cell, crystal symmetry and Miller array of cctbx; of dxtbx.model.Crystal."""
    inner = _call(value, "get_unit_cell") or _call(value, "unit_cell") or value
    if all(hasattr(inner, axis) for axis in _CELL):
        return tuple(float(getattr(inner, axis)) for axis in _CELL)
    numbers = _call(inner, "parameters")
    return None if numbers is None else tuple(float(x) for x in numbers)


def _space_group(value):
    """Of gemmi.SpaceGroup; of space_group(_info) and crystal symmetry of cctbx; of dxtbx.model.Crystal."""
    inner = _call(value, "get_space_group") or _call(value, "space_group_info") or value
    symbol = _call(inner, "xhm")
    return symbol or _call(_call(inner, "type"), "lookup_symbol")


def _wavelength(value):
    """Of dxtbx.model.Beam."""
    return _call(value, "get_wavelength")


_TAKEN = {"cell": _cell, "sg": _space_group, "lambda": _wavelength}


def plain(flag, value):
    """Numbers or text in the place of such an object; every other value as it is."""
    take = _TAKEN.get(flag)
    if take is None or isinstance(value, (str, bytes, int, float)) or hasattr(value, "__array__") \
            or isinstance(value, (tuple, list)):
        return value
    found = take(value)
    return value if found is None else found


def refusal(flag, value):
    """What to say of an object that no parameter takes."""
    mend = ""
    if callable(getattr(value, "as_file", None)):
        mend = "; write it to a file with as_file() and give the path (expt=)"
    elif "dxtbx" in type_name(value):
        mend = "; put it into an ExperimentList, write that with as_file() and give the path (expt=)"
    elif "gemmi" in type_name(value):
        mend = "; write it to a file and give the path (mtz=, pdb=, cif=)"
    return f"{flag}: takes numbers, text or a path, not {type_name(value)}{mend}"
