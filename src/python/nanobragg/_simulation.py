# SPDX-License-Identifier: MIT
"""Simulation: loads files once, then changes parameters and renders images."""

import copy
import json
import weakref

import numpy as np

from . import _arrays, _derivatives, _nanobragg, _parameters, _progress, _rows
from ._device import DeviceImage
from ._images import Image, made

# nb_reflection of src/nanobragg/sim.h; the names are those that users know
REFLECTION = np.dtype([("frame", "i4"), ("h", "i4"), ("k", "i4"), ("l", "i4"), ("panel", "i4"),
                       ("crystal", "i2"), ("twin", "i2"),
                       ("fast", "f8"), ("slow", "f8"), ("intensity", "f8"), ("peak", "f8"), ("phi", "f8"),
                       ("wavelength", "f8"), ("excitation", "f8"), ("F", "f8"),
                       ("d", "f8"), ("background", "f8"), ("pixels", "f8"), ("sigma", "f8")], align=True)

# {address of an image's pixels: the simulation that last rendered into them}
_renderers = weakref.WeakValueDictionary()

_NO_NOISE, _NOISE_16, _NOISE_32 = range(3)  # kinds of integers in src/python/sim.c

def _address(array):
    return array.__array_interface__["data"][0]  # not array.ctypes.data, which leaks 56 bytes in numpy 1.24


def _code(offsets, sizes):
    """Index of h k l in the list of all h k l of a box, sorted by h, k, l."""
    return (offsets[:, 0] * sizes[1] + offsets[:, 1]) * sizes[2] + offsets[:, 2]


# Only the program writes default files.
_NO_FILES = [(name, []) for name in ("nofloat", "noint", "nonoise", "nopgm", "nodump")]


class Simulation:
    """Simulation(**parameters): each keyword is a flag of the program without its dash.

    Vectors are tuples, switches are booleans, files are paths.  Arrays in place of files:
    hkl=(indices [n, 3], F [n]), A= and matrix=3x3, mask=, transmission= and add=array
    [slow, fast], sources=array [n, 5] or (wavelengths in A, weights).
    Errors: TypeError (no such parameter), ValueError (a bad value), OSError (a file),
    NotImplementedError (not in this build), DeviceError.

    copy.copy, copy.deepcopy, pickle make an equal simulation; unpickling reads files."""

    def __init__(self, **keywords):
        keywords = dict(keywords)
        F = keywords.pop("F", None)
        keywords, arrays = _arrays.split(keywords)
        self._open(_parameters.many(keywords), arrays)
        if F is not None:
            self._set_factors(F)

    @classmethod
    def _of_words(cls, words, say=None):
        """Simulation of a command line [(parameter, words)]; say(line) gets notices."""
        sim = cls.__new__(cls)
        sim._open(words, {}, say)
        return sim

    def _open(self, words, arrays, say=None):
        self._begin(_parameters.Notices(say), words)
        self._words.update(_arrays.words_of(arrays))
        self._sim = _nanobragg.Sim(_NO_FILES + words, arrays, self._notices)
        self._own = set(self.__dict__)

    def _begin(self, notices, words):
        self._image = None
        # _given: values set by nanobragg.torch. Caches: _opened (names in groups),
        # _listed (result of _list())
        self._version, self._given, self._opened, self._double, self._listed = 0, None, {}, None, None
        self._words = dict(words)  # all typed words by the name of the parameter
        self._notices = notices
        self._spots = None  # Miller indices of the last reflections()
        self._sim = self._own = None

    def __getstate__(self):
        return {"words": list(self._words.items()), "arrays": self._sim.arrays(), "seed": self.seed,
                "moves": self._sim.moves(), "F": self.factors()[1] if self._sim.has_F else None, "more": self._more()}

    def _more(self):
        """Attributes that subclasses and users keep in the object."""
        return {name: value for name, value in self.__dict__.items() if name not in self._own}

    def __setstate__(self, state):
        words = [(name, value) for name, value in state["words"] if name not in dict(_arrays.words_of(state["arrays"]))]
        if "seed" not in dict(words):  # keep the seed from the clock, because the crystal may depend on it
            words.append(("seed", [str(state["seed"])]))
        self._open(words, state["arrays"])
        self._notices.quiet = True
        if state["moves"]:  # set before F, because new parameters may need more reflections
            self._sim.set_parameters(*zip(*state["moves"]))
        if state["F"] is not None:
            self._set_factors(state["F"])
        self._notices.quiet = False
        self.__dict__.update(state["more"])

    def __copy__(self):
        return self._copy(self._more())

    def __deepcopy__(self, memo):
        other = self._copy({}, memo)
        other.__dict__.update(copy.deepcopy(self._more(), memo))
        return other

    def _copy(self, more, memo=None):
        other = object.__new__(type(self))
        if memo is not None:
            memo[id(self)] = other
        other._begin(_parameters.Notices(), self._words)
        other._sim = self._copy_of_sim(other._notices)
        other._own = set(other.__dict__)
        other.__dict__.update(more)
        return other

    def _copy_of_sim(self, notices):
        notices.quiet = True
        try:
            return self._sim.copy(notices)
        finally:
            notices.quiet = False

    def set(self, **keywords):
        """Change parameters.  The last value of a keyword counts; None resets it.  A file
        is read again only if its name is given again.  On an error nothing changes.

        F: array or tensor of all structure factors as in factors(), or of some: [n] as in
        the last reflections(), (indices [n, 3], F [n]), or with the fields h k l F."""
        F = keywords.pop("F", None)
        before = self._words, self._copy_of_sim(self._notices) if F is not None and keywords else None
        if keywords:
            self._type(keywords)
        if F is not None:
            try:
                self._set_factors(F)
            except BaseException:
                if keywords:
                    self._words, self._sim = before
                    self._changed()
                raise

    def _type(self, keywords):
        """Add these keywords, and set all words again."""
        rest, arrays = _arrays.split(keywords)
        pairs = _parameters.pairs(rest) + _arrays.words_of(arrays)
        words = dict(self._words)
        for name, value in pairs:
            words.pop(name, None)  # the last typed value counts
            if value is not None:
                words[name] = value
        self._sim.set(_NO_FILES + list(words.items()), arrays, [name for name, _ in pairs])
        self._words = words
        self._changed()

    def _set_factors(self, F):
        listed = self._listed
        self._give_factors(self._all_factors(F))
        self._changed()
        self._listed = listed  # keep the list, because the reflections are the same

    def _give_factors(self, F):
        self._sim.set_factors(F)
        self._image = None

    def _all_factors(self, F):
        """All structure factors in the order of factors(), with the new F."""
        if not (isinstance(F, (tuple, list)) and len(F) == 2 and np.ndim(F[0]) == 2) \
                and not getattr(getattr(F, "dtype", None), "names", None):
            values = _arrays.amplitudes(F)
            if values.ndim != 1:
                raise ValueError(f"F: must be [n], the values of factors(), not {values.shape}")
            return self._put(self._places_of(len(values)), values)
        hkl, some = _arrays.reflections(F)
        return self._put(self._places(hkl)[0], some)

    def _places_of(self, n):
        """Indices in factors() of n values in the order of reflections(); None if they
        are all of factors()."""
        if n == self._count():
            return None
        if self._spots is None or n != len(self._spots):
            spots = "" if self._spots is None else f", and the last reflections() had {len(self._spots)}"
            raise ValueError(f"F: has {n} values, but the simulation has {self._count()} reflections (factors()){spots}")
        return self._places(self._spots)[0]

    def _put(self, places, values):
        """Values of factors() with new values at these indices."""
        if places is None:
            return values
        F = self.factors()[1]
        F[places] = values
        return F

    def _list(self):
        """Box of the indices of factors(): (lower limits, sizes, _code() of each index)."""
        if self._listed is None:
            listed = self.factors()[0].astype(np.int64)
            low = listed.min(axis=0)
            sizes = listed.max(axis=0) - low + 1
            self._listed = low, sizes, _code(listed - low, sizes)
        return self._listed

    def _count(self):
        """Number of reflections of factors()."""
        return len(self._list()[2])

    def _places(self, hkl, all_there=True):
        """Return (indices in factors(), found) for hkl. With all_there, ValueError if any
        is absent."""
        low, sizes, codes = self._list()
        hkl = np.asarray(hkl, dtype=np.int64)
        inside = ((hkl >= low) & (hkl < low + sizes)).all(axis=1)
        wanted = _code(np.where(inside[:, None], hkl - low, 0), sizes)
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        inside &= codes[places] == wanted
        if all_there and not inside.all():
            i = int(np.argmin(inside))
            raise ValueError(f"F[{i}]: reflection {' '.join(map(str, hkl[i]))} has no structure factor here (factors())")
        return places, inside

    def factors(self):
        """Structure factors, sorted: (indices int32 [n, 3], F [n] in electrons)."""
        hkl, F = self._sim.factors()
        return np.frombuffer(hkl, dtype=np.int32).reshape(-1, 3).copy(), np.frombuffer(F).copy()

    def spectrum(self, frame=0):
        """Spectrum of a frame of a series or of the image, empty without -spectrum:
        structured array of energy (eV), wavelength (A), weight (mean 1), part (index of
        a colour; 1 for a seeded line). The dtype's metadata: factor of the fluence."""
        if frame < 0:
            raise ValueError(f"frame {frame}: frames are counted from 0")
        lines, factor = self._sim.spectrum(frame)
        fields = np.dtype([("energy", "f8"), ("wavelength", "f8"), ("weight", "f8"), ("part", "i4")], align=True)
        return np.frombuffer(lines, dtype=np.dtype(fields, metadata={"factor": factor})).copy()

    def _changed(self):
        self._version += 1
        self._given = self._image = self._double = None
        self._opened = {}
        self._listed = None

    def _is_double(self):
        """True if images are float64. The answer is stored for the renders of
        nanobragg.torch."""
        if self._double is None:
            self._double = self.get("precision") == "double"
        return self._double

    def get(self, name):
        """Text of a parameter as on the command line; "" if it is unset."""
        return self._sim.get(_parameters.find(name, False)["name"])

    @property
    def shape(self):
        """(slow, fast): the shape of an image."""
        fast, slow = self._sim.size
        return slow, fast

    @property
    def config(self):
        """The resolved configuration, as -show_config prints it: a dict."""
        return json.loads(self._sim.text("config"))

    @property
    def A(self):
        """U B, float64 [3, 3]: a*, b*, c* in the columns, 1/A, lab frame at phi 0; as A=."""
        crystal = self.config["crystal"]
        return np.array([crystal[f"{axis}_star_per_A"] for axis in "abc"]).T

    @property
    def report(self):
        """The report that the program prints: text."""
        return self._sim.text("report")

    @property
    def seed(self):
        """Seed of the noise."""
        return self._sim.seed

    @property
    def backend(self):
        """Renderer: device or instruction set, precision, threads."""
        return self._sim.backend

    @property
    def times(self):
        """Seconds of each stage so far: a dict."""
        return self._sim.times

    def _memory_for(self, out):
        if out is None:
            return np.empty(self.shape, dtype=np.float32).view(Image)
        if not isinstance(out, np.ndarray) or out.dtype != np.float32:
            raise ValueError(f"out: must be an array of float32, not {getattr(out, 'dtype', type(out))}")
        if out.shape != self.shape:
            raise ValueError(f"out: has the shape {out.shape}, but the image is {self.shape}")
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise ValueError("out: must be C-contiguous and writable")
        return out

    def render(self, out=None, progress=None, statistics=False, where="host", F=None):
        """Render expected photons: float32 [slow, fast], into `out` if given.

        progress: a function of the fraction, or True for a bar.  statistics=True: returns
        the image and a dict (sum, max, mean, ...).  where="device": returns a DeviceImage
        in memory of the device (torch.from_dlpack).  F: structure factors, as in set().

        noise(), integers(), reflections() without image use this array: change a copy."""
        if F is not None:
            self.set(F=F)
        if where not in ("host", "device"):
            raise ValueError(f"where: must be 'host' or 'device', not {where!r}")
        if where == "device" and out is not None:
            raise ValueError("out: is memory of the host; leave it out with where='device'")
        image = self._memory_for(out) if where == "host" else None
        show = _progress.callback(progress, "render")
        if where == "host":
            stats = self._sim.render(image, show, bool(statistics))
            _renderers[_address(image)] = self
        else:
            self._image = None  # free the memory of the last image, so that this image can use it
            memory, stats = self._sim.render_device(show, bool(statistics))
            image = DeviceImage(memory, self.shape)
        if show:
            show(1.0)
        self._image = image
        return (image, stats) if statistics else image

    def _of(self, image):
        if image is None:
            image = self._image
            if isinstance(image, np.ndarray) and _renderers.get(_address(image)) is not self:
                image = None  # another object rendered into this memory
            image = self.render() if image is None else image
        image = _arrays.shaped("image", image, self.shape, np.float32, "detector")
        if not np.isfinite(image).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(image))[0])
            raise ValueError(f"image: pixel {at} (slow, fast) is {image[at]}; all must be finite")
        return image

    def panels(self, image):
        """Views [slow, fast] of the panels in an image, in the order of panel_names."""
        pixels = np.asarray(image)
        if pixels.shape != self.shape:
            raise ValueError(f"image: has the shape {pixels.shape}, but the detector is {self.shape}")
        flat, views, at = np.ascontiguousarray(pixels).reshape(-1), [], 0
        for _, slow, fast in self._sim.panels:
            views.append(flat[at:at + slow * fast].reshape(slow, fast).view(Image))
            at += slow * fast
        return views

    @property
    def panel_names(self):
        """Names of the panels, in order."""
        return [name for name, _, _ in self._sim.panels]

    def noise(self, image=None, seed=None, dtype=np.uint16):
        """Counts with noise of `image` or the last image: uint16 [slow, fast], ADU with
        the offset of -adc.  Equal images and seeds give equal counts.  dtype=np.int32: as
        in a series, without offset unless -adc is given, and not cut at 65535."""
        dtype = np.dtype(dtype)
        if dtype not in (np.dtype(np.uint16), np.dtype(np.int32)):
            raise ValueError(f"dtype: must be uint16 or int32, not {dtype}")
        image, out = self._of(image), np.empty(self.shape, dtype=dtype)
        if seed is not None:
            kept = self._image
            self._type({"seed": seed})
            self._image = kept
        self._sim.integers(image, out, _NOISE_32 if dtype == np.int32 else _NOISE_16)
        return out.view(Image)

    def integers(self, image=None):
        """Integer image without noise: uint16 [slow, fast]."""
        out = np.empty(self.shape, dtype=np.uint16)
        self._sim.integers(self._of(image), out, _NO_NOISE)
        return out.view(Image)

    def reflections(self, image=None):
        """Reflections of an image: a structured array (h k l fast slow intensity ...).
        The metadata of its dtype has photons of the background, and unassigned photons
        (of no listed spot)."""
        records, background, unassigned = self._sim.reflections(self._of(image))
        kind = np.dtype(REFLECTION, metadata={"background": background, "unassigned": unassigned})
        found = np.frombuffer(records, dtype=kind).copy()
        self._spots = np.stack([found[x] for x in "hkl"], axis=-1)
        return found

    def trace(self, fast, slow):
        """Every intermediate quantity of a pixel: lines of text."""
        return self._sim.trace(fast, slow)

    def diffuse(self, out=None):
        """Render only the photons of diffuse scattering, after absorption and pixel
        factors: float32 [slow, fast], into `out` if given.  Needs diffuse_sigma."""
        plane = self._memory_for(out)
        self._sim.diffuse(plane)
        _renderers.pop(_address(plane), None)
        return plane

    def diffuse_at(self, hkl):
        """Exact diffuse scattering of a block at fractional hkl [..., 3]: electrons^2
        [...], to add to |F|^2 |F_latt|^2 (docs/physics.md).  Needs diffuse_sigma."""
        hkl = _arrays.real("hkl", hkl)
        if hkl.ndim < 1 or hkl.shape[-1] != 3:
            raise ValueError(f"hkl: must be an array [..., 3], not {list(hkl.shape)}")
        out = np.empty(hkl.shape[:-1])
        self._sim.diffuse_at(hkl, out, out.size)
        return out

    def derivatives(self, names, dtype=np.float32, image=False, progress=None):
        """dI/dp of the expected photons: a dict of arrays [slow, fast], photons per unit of p.

        names: names or groups of docs/physics.md, section 26: "misset_x,cell" or a list.
        image=True: returns the dict and the image of the same pass."""
        return _derivatives.planes(self._sim, self.shape, names, dtype, image,
                                   _progress.callback(progress, "derivatives"))

    def pullback(self, dL_dimage, names, progress=None):
        """Gradient of a loss: a dict of floats, the sums over pixels of dL/dI dI/dp.

        dL_dimage: array or PyTorch tensor [slow, fast]; stays on a rendering GPU.
        The name "F" stands for all structure factors: (hkl [n, 3], dL/dF [n])."""
        return _derivatives.gradient(self._sim, self.shape, dL_dimage, names,
                                     _progress.callback(progress, "pullback"), self._opened)

    def normal(self, photons, names, sigma=None, background=None, radial=None, progress=None):
        """Normal equations of a fit to a picture: names, loss, gradient [n], fisher [n, n] (J^T W J).

        photons: [slow, fast], NaN at unused pixels.  The loss is for Poisson counts; with
        sigma (photons), for normal errors of variance model + sigma^2.  background: fixed
        photons [slow, fast].  radial: (knots, levels) of a background linear in
        sin(theta)/lambda (1/A); levels (photons) follow the names in the equations."""
        return _derivatives.normal(self._sim, self.shape, photons, names, sigma, background, radial,
                                   _progress.callback(progress, "normal"))

    def variables(self, names="misset,cell,N"):
        """List of names, from names and groups: each group is replaced by its names."""
        return _derivatives.keys_of(self._sim, names)[1]

    def parameter(self, name):
        """Facts of a parameter: a dict (name, value, unit, flag, can_move, ...)."""
        return self._sim.parameter(name)

    def set_parameters(self, values):
        """Set parameters (docs/physics.md, section 26): {"misset": (1, 2, 3)}.  Steps and
        domains keep their number.  Rebuilds only the scene.  An error changes nothing."""
        names, numbers = [], []
        for name, value in values.items():
            part, flat = (self.variables([name]), _parameters._flat(value)) if np.ndim(value) else ([name], [value])
            if len(flat) != len(part):
                raise ValueError(f"{name}: needs {len(part)} numbers ({', '.join(part)}), not {len(flat)}")
            names += part
            numbers += map(float, flat)
        self._give_parameters(names, numbers)
        self._changed()

    def _give_parameters(self, names, numbers):
        self._sim.set_parameters(names, numbers)
        self._image = None

    def fold_rotation(self):
        """Add the rotation rot_x, rot_y, rot_z to the orientation, and set them to 0."""
        self._sim.fold_rotation()
        self._changed()

    def write(self, image=None, **files):
        """Write files of an image: write(noisefile="a.img", tifffile="a.tif").  Each file
        is complete or absent."""
        self._sim.write(_parameters.many(files), self._of(image))

    def _repr_png_(self):
        """PNG of the last image, as of -pngfile, for notebooks."""
        return made("image.png", lambda path: self.write(pngfile=path))

    def __repr__(self):
        slow, fast = self.shape
        return f"<nanobragg.Simulation {fast} x {slow} pixels, {self.backend}>"


Simulation.__doc__ = _rows.Doc(Simulation.__doc__, lambda: [
    row for row in _parameters.parameters().values() if not row["flags"] & _nanobragg.SERIES])
