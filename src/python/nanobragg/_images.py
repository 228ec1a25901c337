# SPDX-License-Identifier: MIT
"""Images as arrays: read from files, compared, shown as pictures."""

import os

import numpy as np

from . import _nanobragg


class Image(np.ndarray):
    """A numpy array [slow, fast] that a notebook shows as a picture."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """A sum is a number, in every numpy."""
        if array.ndim == 0:
            return array[()]
        return array.view(Image)

    def _repr_png_(self):
        if self.ndim != 2 or self.size == 0:
            return None
        import tempfile  # it takes milliseconds to load

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image.png")
            pixels = np.ascontiguousarray(self, dtype=np.float32)
            _nanobragg.picture(pixels, self.shape[1], self.shape[0], path)
            with open(path, "rb") as file:
                return file.read()


class Difference(dict):
    """What compare found; its values are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def read_image(path, frame=None, shape=None):
    """An image from SMV, CBF, TIFF, PGM, HDF5 (NXmx) or a headerless file of float32.

    frame: of an HDF5 file, from 0.  shape: (slow, fast) of a headerless file; None: square.
    Returns an Image of float32 with the attributes format, centre (fast, slow: pixels from the outer
    corner) and pedestal.  Errors: OSError, ValueError, NotImplementedError."""
    slow, fast = shape or (0, 0)
    name = os.fspath(path)
    if frame is not None:
        name += f":{int(frame)}"
    pixels, fast, slow, kind, centre, pedestal = _nanobragg.read_image(name, fast, slow)
    image = np.frombuffer(pixels, dtype=np.float32).reshape(slow, fast).copy().view(Image)
    image.format, image.centre, image.pedestal = kind, centre, pedestal
    return image


def compare(a, b):
    """Compare image a with the reference b, as `nanobragg compare` does.  Returns a Difference."""
    a, b = (np.ascontiguousarray(x, dtype=np.float32) for x in (a, b))
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(f"images of one size are compared, not {a.shape} and {b.shape}")
    return Difference(_nanobragg.compare(a, b, a.shape[1], a.shape[0]))
