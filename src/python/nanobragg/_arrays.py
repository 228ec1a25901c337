# SPDX-License-Identifier: MIT
"""Convert arrays in place of files to the types of nb_arrays (src/nanobragg/arrays.h).
The library checks arrays as it checks files."""

import io
import os

import numpy as np

ANGSTROM = 1e-10  # m


def real(what, value, dtype=float):
    """Array of real numbers of this type. TypeError if the values are complex, for which
    numpy would only warn."""
    array = np.asarray(value)
    if np.iscomplexobj(array):
        raise TypeError(f"{what}: the values must be real, not complex")
    try:
        return np.ascontiguousarray(array, dtype=dtype)
    except TypeError:
        raise TypeError(f"{what}: takes an array of numbers, not {type_name(value)}") from None


def shaped(what, value, shape, dtype=float, of="image"):
    """real() with a check of the shape."""
    array = real(what, value, dtype)
    if array.shape != shape:
        raise ValueError(f"{what}: has the shape {array.shape}, but the {of} is {shape}")
    return array


def amplitudes(value):
    """Structure factors as float64: the modulus of complex F, the numbers of a tensor."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    F = np.asarray(value)
    return np.ascontiguousarray(np.abs(F) if np.iscomplexobj(F) else F, dtype=float)


def _whole(indices):
    """Miller indices as int32; the indices from an MTZ file are float."""
    if not np.issubdtype(indices.dtype, np.integer):
        if not np.issubdtype(indices.dtype, np.floating):
            raise ValueError(f"hkl: Miller indices must be integers, not {indices.dtype}")
        bad = np.argwhere(~(indices == np.round(indices)))
        if len(bad):
            i, axis = bad[0]
            raise ValueError(f"hkl[{i}]: Miller indices must be integers, not {indices[i, axis]}")
    far = np.iinfo(np.int32).max
    return np.ascontiguousarray(np.clip(indices, -far, far), dtype=np.int32)


def reflections(value):
    """(hkl int32 [n, 3], F [n]) from a pair, from an array with the fields h k l F, or
    from a cctbx Miller array."""
    if getattr(getattr(value, "dtype", None), "names", None):
        indices, F = np.stack([value[x] for x in "hkl"], axis=-1), value["F"]
    elif callable(getattr(value, "indices", None)) and callable(getattr(value, "data", None)):
        indices, F = np.array(list(value.indices())), np.array(list(value.data()))
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        indices, F = np.asarray(value[0]), value[1]
    else:
        raise TypeError(f"hkl: takes a path or (Miller indices [n, 3], F [n]), not {type_name(value)}")
    F = amplitudes(F)
    if indices.ndim != 2 or indices.shape[1] != 3 or F.shape != indices.shape[:1]:
        raise ValueError(f"hkl: indices must be [n, 3] and F [n], not {indices.shape} and {F.shape}")
    return _whole(indices), F


def _mask(value):
    """Mask [slow, fast] of bool or uint8"""
    mask = np.asarray(value)
    if mask.ndim != 2 or mask.dtype not in (np.dtype(bool), np.dtype(np.uint8)):
        raise ValueError(f"mask: must be a 2-D array of bool or uint8, not {mask.dtype} {mask.shape}")
    slow, fast = mask.shape
    return (np.ascontiguousarray(mask).view(np.uint8),), fast, slow


def _axes(name):
    """Convert 3x3 numbers, columns a* b* c*: A in 1/A, matrix times the wavelength."""
    def convert(value):
        matrix = real(name, value)
        if matrix.shape != (3, 3):
            raise ValueError(f"{name}: must be 3x3, not {matrix.shape}")
        return (matrix,),

    return convert


def _sources(value):
    """Sources from an array [n, 5] of x y z of the source, intensity, wavelength (m), or
    from a tuple (wavelengths in A, weights) with optional directions [n, 3]"""
    if isinstance(value, tuple) and (len(value) == 2 or (len(value) == 3 and np.ndim(value[2]) == 2)):
        wavelengths, weights = (real("sources", v) for v in value[:2])
        if wavelengths.ndim != 1 or wavelengths.shape != weights.shape:
            raise ValueError("sources: wavelengths and weights must be two lists of one length")
        directions = real("sources", value[2]) if len(value) == 3 else None
        if directions is not None and directions.shape != (len(wavelengths), 3):
            raise ValueError(f"sources: directions must be [{len(wavelengths)}, 3], not {directions.shape}")
        return (np.ascontiguousarray(wavelengths * ANGSTROM), weights, directions),
    rows = real("sources", value)
    if rows.ndim != 2 or rows.shape[1] != 5:
        raise ValueError(f"sources: must be [n, 5] or (wavelengths, weights), not {rows.shape}")
    return tuple(np.ascontiguousarray(x) for x in (rows[:, 4], rows[:, 3], rows[:, :3])),


def _plane(name):
    """Plane [slow, fast] with a number for each pixel"""
    def convert(value):
        plane = real(name, value, np.float32)
        if plane.ndim != 2:
            raise ValueError(f"{name}: must be a 2-D array [slow, fast], not {plane.shape}")
        return (plane,), plane.shape[1], plane.shape[0]

    return convert


def _blocks(value):
    """Text of a file of rotations [n, 3], [n, 4] (+ weight), [n, 3, 3], [n, 9 or 10]"""
    rows = real("mosaic_blocks", value)
    out = io.BytesIO()
    np.savetxt(out, rows.reshape(len(rows), -1), fmt="%.17g")
    return (out.getvalue(),),


# for each keyword: name in the dict of arrays, and function that makes the value (parts,
# fast, slow)
_ARRAYS = {"hkl": ("hkl", lambda value: (reflections(value),)), "mask": ("mask", _mask), "sources": ("sourcefile", _sources),
           "sourcefile": ("sourcefile", _sources), "matrix": ("mat", _axes("matrix")), "mat": ("mat", _axes("matrix")),
           "A": ("A", _axes("A")), "transmission": ("transmission", _plane("transmission")), "add": ("add", _plane("add")),
           "mosaic_blocks": ("mosaic_blocks", _blocks)}

# for each name in the dict of arrays: flag, and word in place of a file name
# (nanobragg/arrays.h)
_WORDS = {"hkl": ("hkl", "hkl"), "mask": ("mask", "mask"), "sourcefile": ("sourcefile", "sources"), "mat": ("mat", "matrix"),
          "A": ("mat", "A"), "transmission": ("transmission", "transmission"), "add": ("add", "add"),
          "mosaic_blocks": ("mosaic_blocks", "blocks")}


def type_name(value):
    """Full name of the type of a value, for messages."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def words_of(arrays):
    """[(flag, words)] that stand for arrays."""
    return [(_WORDS[name][0], [f"memory:{_WORDS[name][1]}"]) for name in arrays]


def split(keywords):
    """Split keywords into (keywords without arrays, arrays by name)."""
    rest, arrays = {}, {}
    axes = [name for name in ("A", "matrix", "mat") if keywords.get(name) is not None]
    if len(axes) > 1:
        raise ValueError(f"{' and '.join(axes)}: give the axes of the crystal once")
    for name, value in keywords.items():
        key, convert = _ARRAYS.get(name, (name, None))
        if convert and value is not None and (key == "A" or not isinstance(value, (str, os.PathLike))):
            arrays[key] = convert(value)
            rest.pop(key, None)
        elif name in ("sources", "A"):
            rest[_WORDS[key][0]] = value
        else:
            rest[name] = value
    return rest, arrays
