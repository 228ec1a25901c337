# SPDX-License-Identifier: MIT
"""Compares the contents of the master files (HDF5) of two series.

usage: python3 tests/support/master.py A B: prints the names of entries that differ
"""
import sys

RUN = ("command_line", "config", "start_time", "end_time", "end_time_estimated")  # data sets that differ in every run

OF_FILES = ("/entry/data/data",)  # the attributes of this entry depend on how frames are divided into data files


def pixels(place):
    """Values of a data set. None for a virtual set whose filter is missing: other code
    compares the bytes of the data files."""
    try:
        return place[()]
    except OSError:
        if not place.is_virtual:
            raise
        return None


def contents(h5py, path):
    """{name: (type, shape, bytes)} of every data set and attribute, through the links to the data files."""
    found = {}

    def look(name, place):
        for key, value in place.attrs.items() if name not in OF_FILES else ():
            found[f"{name}@{key}"] = (type(value).__name__, getattr(value, "shape", ()),
                                      value.tobytes() if hasattr(value, "tobytes") else str(value))
        if isinstance(place, h5py.Dataset):
            if name.split("/")[-1] not in RUN:
                value = pixels(place)
                found[name] = (str(place.dtype), place.shape, value.tobytes() if hasattr(value, "tobytes") else value)
            return
        for key in place:
            if not key.startswith("data_0"):  # links to data files: one per process
                look(f"{name}/{key}", place[key])

    with h5py.File(path) as h5:
        look("", h5)
    return found


def differences(one, two):
    """Names that are in one master only, or have other values."""
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


if __name__ == "__main__":
    try:
        import h5py as library
    except ImportError:
        sys.exit(0)  # without h5py the caller compares only pixels
    print("\n".join(differences(*(contents(library, path) for path in sys.argv[1:3]))), end="")
