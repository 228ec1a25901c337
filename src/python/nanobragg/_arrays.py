# SPDX-License-Identifier: MIT
"""Arrays in place of files: they are written to memory that has the name of a file, so that the
library checks them as it checks a file."""

import os

import numpy as np


class MemoryFile:
    """A file in memory; it lives as long as this object."""

    def __init__(self, name, data):
        self._fd = os.memfd_create(name)
        with os.fdopen(os.dup(self._fd), "wb") as file:
            file.write(data)
        self.path = f"/proc/self/fd/{self._fd}"

    def __del__(self):
        try:
            os.close(self._fd)
        except (AttributeError, OSError):
            pass


def _rows(table, formats):
    lines = (" ".join(f % x for f, x in zip(formats, row)) for row in table)
    return ("\n".join(lines) + "\n").encode()


def _real(value):
    """As doubles; numpy would drop an imaginary part with a warning."""
    array = np.asarray(value)
    if np.iscomplexobj(array):
        raise TypeError("the values must be real, not complex")
    return array.astype(float)


def _hkl(value):
    """(indices [n, 3], F [n]); of a complex F its modulus"""
    indices, F = value
    indices, F = np.asarray(indices), np.asarray(F)
    F = (np.abs(F) if np.iscomplexobj(F) else F).astype(float)
    if indices.ndim != 2 or indices.shape[1] != 3 or F.shape != indices.shape[:1]:
        raise ValueError(f"hkl: indices must be [n, 3] and F [n], not {indices.shape} and {F.shape}")
    if not np.issubdtype(indices.dtype, np.integer):
        raise ValueError("hkl: Miller indices must be integers")
    return _rows(((*i, f) for i, f in zip(indices.tolist(), F.tolist())), ["%d"] * 3 + ["%.17g"])


def _mask(value):
    """[slow, fast], bool or uint8: an SMV image"""
    mask = np.asarray(value)
    if mask.ndim != 2 or mask.dtype not in (np.dtype(bool), np.dtype(np.uint8)):
        raise ValueError(f"mask: must be a 2-D array of bool or uint8, not {mask.dtype} {mask.shape}")
    slow, fast = mask.shape
    header = (f"{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n"
              f"SIZE1={fast};\nSIZE2={slow};\n}}\n")
    return header.encode().ljust(512) + (mask != 0).astype("<u2").tobytes()


def _matrix(value):
    """3x3: reciprocal axes in its columns, as MOSFLM has them"""
    matrix = _real(value)
    if matrix.shape != (3, 3):
        raise ValueError(f"matrix: must be 3x3, not {matrix.shape}")
    return _rows(matrix.tolist(), ["%.17g"] * 3)


def _sources(value):
    """[n, 5]: x y z of the source, intensity, wavelength (m); or (wavelengths in A, weights)"""
    if isinstance(value, tuple) and len(value) == 2:
        wavelengths, weights = (_real(v) for v in value)
        if wavelengths.ndim != 1 or wavelengths.shape != weights.shape:
            raise ValueError("sources: wavelengths and weights must be two lists of one length")
        rows = np.zeros((len(wavelengths), 5))
        rows[:, 0] = -10.0
        rows[:, 3], rows[:, 4] = weights, wavelengths * 1e-10
        return _rows(rows.tolist(), ["%.17g"] * 5)
    rows = _real(value)
    if rows.ndim != 2 or rows.shape[1] != 5:
        raise ValueError(f"sources: must be [n, 5] or (wavelengths, weights), not {rows.shape}")
    return _rows(rows.tolist(), ["%.17g"] * 5)


ARRAYS = {"hkl": ("hkl", _hkl), "mask": ("mask", _mask), "sources": ("sourcefile", _sources),
          "sourcefile": ("sourcefile", _sources), "matrix": ("mat", _matrix), "mat": ("mat", _matrix)}


def files_of(keywords, kept):
    """Keywords with arrays replaced by names of files in memory; they go to kept, by flag."""
    out = {}
    for name, value in keywords.items():
        flag, write = ARRAYS.get(name, (name, None))
        if write and value is not None and not isinstance(value, (str, os.PathLike)):
            kept[flag] = MemoryFile(flag, write(value))
            out[flag] = kept[flag].path
        elif name == "sources":
            out[flag] = value
        else:
            out[name] = value
    return out
