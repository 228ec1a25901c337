# SPDX-License-Identifier: MIT
"""Images as arrays: read from files, compared, shown as pictures."""

import contextlib
import os

import numpy as np

from . import _nanobragg
from ._arrays import real

PAGE_BYTES = 9600000  # approximate size of the pixels of a page


def made(name, write):
    """Return the bytes of the file that write(path) makes."""
    import tempfile  # imported here, because loading this module takes milliseconds

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        write(path)
        with open(path, "rb") as file:
            return file.read()


class Page(str):
    """HTML page for a browser; a notebook shows it in a frame."""

    def _repr_html_(self):
        import html

        return f'<iframe srcdoc="{html.escape(self)}" title="image" style="width: 100%; height: 42em; border: 0"></iframe>'


class Image(np.ndarray):
    """A numpy array [slow, fast] that a notebook shows as a picture."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """Return a result without dimensions, such as a sum, as a number in every version
        of numpy."""
        if array.ndim == 0:
            return array[()]
        return array.view(Image)

    def _repr_png_(self):
        if self.ndim != 2 or self.size == 0:
            return None
        pixels = real("image", self, np.float32)
        return made("image.png", lambda path: _nanobragg.picture(pixels, self.shape[1], self.shape[0], path))


class Difference(dict):
    """Result of compare(); its values are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def read_image(path, frame=None, shape=None):
    """Read an image: SMV, CBF, TIFF, PGM, HDF5 (NXmx) or float32 without header.

    frame: from 0, in an HDF5 file.  shape: (slow, fast) without header; None: square.
    Returns an Image of float32; its attributes: format, pedestal and centre (fast, slow:
    pixels from the outer corner).  Errors: OSError, ValueError, NotImplementedError."""
    slow, fast = shape or (0, 0)
    name = os.fspath(path)
    if frame is not None:
        name += f":{int(frame)}"
    return of_file(_nanobragg.read_image(name, fast, slow))


def of_file(read):
    """Make an Image; left_out: uint8 [slow, fast] | None, 1 at marked pixels."""
    pixels, fast, slow, kind, centre, pedestal, left_out = read
    image = np.frombuffer(pixels, dtype=np.float32).reshape(slow, fast).copy().view(Image)
    image.format, image.centre, image.pedestal = kind, centre, pedestal
    image.left_out = None if left_out is None else np.frombuffer(left_out, dtype=np.uint8).reshape(slow, fast)
    return image


def compare(a, b):
    """Compare image a with the reference b, as `nanobragg compare` does.  Returns a Difference."""
    a, b = (real("compare", x, np.float32) for x in (a, b))
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(f"images of one size are compared, not {a.shape} and {b.shape}")
    return Difference(_nanobragg.compare(a, b, a.shape[1], a.shape[0]))


def page(image, path=None, names=None):
    """HTML page of an image with pan, zoom, pixel values and plots; a notebook shows it.

    image: [slow, fast]; a list of 2 to 4 images of one size, compared with the first; or
    a Simulation: its last image, geometry and report.  path: an .html file to write.
    names: titles for a list of images.  Errors: ValueError, OSError."""
    if path is not None and not os.fspath(path).endswith(".html"):
        raise ValueError(f"path: {os.fspath(path)!r} must end in .html")
    if hasattr(image, "write") and hasattr(image, "render"):
        if path is None:
            return Page(made("page.html", lambda name: image.write(report=name)).decode())
        image.write(report=os.fspath(path))
        with open(path, encoding="utf-8") as file:
            return Page(file.read())
    some = [real("image", one, np.float32) for one in (image if isinstance(image, (list, tuple)) else [image])]
    names = ["image"] if names is None and len(some) == 1 else names or [f"image {i + 1}" for i in range(len(some))]
    if any(one.ndim != 2 or one.size == 0 or one.shape != some[0].shape for one in some) or not some:
        raise ValueError(f"a page shows images [slow, fast] of one size, not {[one.shape for one in some]}")
    if len(names) != len(some):
        raise ValueError(f"names: {len(names)} for {len(some)} images")
    text = Page(page_text(some, map(str, names)))
    if path is not None:
        write(path, text)
    return text


def page_text(images, names, more="{}", sim=None, number=-1, size=PAGE_BYTES):
    """Page (src/tools/page.html) of float32 arrays [slow, fast], or its part `number`.
    more: JSON members.  sim: Sim with geometry.  size: approximate bytes of pixels."""
    slow, fast = images[0].shape
    json = _nanobragg.page(sim, tuple(images), tuple(names), fast, slow, more, size)
    element = f'<script type="application/json" id="meta{"" if number < 0 else f"{number}_"}">{json}</script>\n'
    return element if number >= 0 else _nanobragg.PAGE.replace("<!--NB-DATA-->", element, 1)


def write(path, data):
    """Write text or bytes to a file, complete or absent, or to standard output ("-")."""
    if path == "-":
        print(data, end="")
        return
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as stream:
            stream.write(data if isinstance(data, bytes) else data.encode())
        os.replace(part, path)
    except OSError as why:
        with contextlib.suppress(OSError):
            os.remove(part)
        raise OSError(f"cannot create {path}: {why.strerror}") from None
