# SPDX-License-Identifier: MIT
"""One simulation: files are loaded once, then parameters change and images are rendered."""

import copy
import json
import weakref

import numpy as np

from . import _arrays, _derivatives, _nanobragg, _parameters, _progress, _rows
from ._device import DeviceImage
from ._images import Image, made

# nb_reflection of src/nanobragg/sim.h; the name of a field that users know by another one
REFLECTION = np.dtype([("frame", "i4"), ("h", "i4"), ("k", "i4"), ("l", "i4"), ("panel", "i4"),
                       ("crystal", "i2"), ("twin", "i2"),
                       ("fast", "f8"), ("slow", "f8"), ("intensity", "f8"), ("peak", "f8"), ("phi", "f8"),
                       ("wavelength", "f8"), ("excitation", "f8"), ("F", "f8"),
                       ("d", "f8"), ("background", "f8"), ("pixels", "f8"), ("sigma", "f8")], align=True)

# By address of a kept image: the object whose pixels stand there.
_renderers = weakref.WeakValueDictionary()

_NO_NOISE, _NOISE_16, _NOISE_32 = range(3)  # of src/python/sim.c

def _address(array):
    return array.__array_interface__["data"][0]  # array.ctypes.data of numpy 1.24 leaks 56 bytes


def _code(offsets, sizes):
    """Of h k l in a box: one number, which grows as they do."""
    return (offsets[:, 0] * sizes[1] + offsets[:, 1]) * sizes[2] + offsets[:, 2]


# The program's default files belong to the program.
_NO_FILES = [(name, []) for name in ("nofloat", "noint", "nonoise", "nopgm", "nodump")]


class Simulation:
    """Simulation(**parameters): each keyword is a flag of the program without its dash.

    Vectors are tuples, switches booleans, files paths.  hkl=(indices [n, 3], F [n]), mask=array,
    sources=array [n, 5] or (wavelengths in A, weights), A= and matrix=3x3, transmission= and add=array [slow, fast] take arrays in
    place of files.
    Errors: TypeError (no such parameter), ValueError (a bad value), OSError (a file),
    NotImplementedError (not in this build), DeviceError.

    copy.copy, copy.deepcopy and pickle make an equal simulation; a pickle reads its files again."""

    def __init__(self, **keywords):
        keywords = dict(keywords)
        F = keywords.pop("F", None)
        keywords, arrays = _arrays.split(keywords)
        self._open(_parameters.many(keywords), arrays)
        if F is not None:
            self._set_factors(F)

    @classmethod
    def _of_words(cls, words, say=None):
        """A simulation of [(parameter, words)], as a command line has them; say: a function of a notice's line."""
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
        # _given: the last values of nanobragg.torch; _opened: its names by group; _listed: see _list()
        self._version, self._given, self._opened, self._double, self._listed = 0, None, {}, None, None
        self._words = dict(words)  # all that is typed: words by the name of the parameter
        self._notices = notices
        self._spots = None  # the Miller indices of the last reflections()
        self._sim = self._own = None

    def __getstate__(self):
        return {"words": list(self._words.items()), "arrays": self._sim.arrays(), "seed": self.seed,
                "moves": self._sim.moves(), "F": self.factors()[1] if self._sim.has_F else None, "more": self._more()}

    def _more(self):
        """Attributes that subclasses and users keep in the object."""
        return {name: value for name, value in self.__dict__.items() if name not in self._own}

    def __setstate__(self, state):
        words = [(name, value) for name, value in state["words"] if name not in dict(_arrays.words_of(state["arrays"]))]
        if "seed" not in dict(words):  # drawn from the clock; it may turn the crystal
            words.append(("seed", [str(state["seed"])]))
        self._open(words, state["arrays"])
        self._notices.quiet = True
        if state["moves"]:  # which may need more reflections
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
        """Change parameters: the simulation is then the one of all keywords so far, the last of each name.  None takes a
        keyword back.  No file is read again, unless its name is typed again; on an error nothing changes.

        F: all structure factors, an array or a tensor in the number and order of factors(); or some of them, in those of
        the last reflections(), or as (Miller indices [n, 3], F [n]), or as an array with the fields h k l F."""
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
        """Type these keywords, and set all words again."""
        rest, arrays = _arrays.split(keywords)
        pairs = _parameters.pairs(rest) + _arrays.words_of(arrays)
        words = dict(self._words)
        for name, value in pairs:
            words.pop(name, None)  # the last that is typed counts
            if value is not None:
                words[name] = value
        self._sim.set(_NO_FILES + list(words.items()), arrays, [name for name, _ in pairs])
        self._words = words
        self._changed()

    def _set_factors(self, F):
        listed = self._listed
        self._give_factors(self._all_factors(F))
        self._changed()
        self._listed = listed  # the reflections are the same

    def _give_factors(self, F):
        self._sim.set_factors(F)
        self._image = None

    def _all_factors(self, F):
        """In the order of factors()."""
        if not (isinstance(F, (tuple, list)) and len(F) == 2 and np.ndim(F[0]) == 2) \
                and not getattr(getattr(F, "dtype", None), "names", None):
            values = _arrays.amplitudes(F)
            if values.ndim != 1:
                raise ValueError(f"F: must be [n], the values of factors(), not {values.shape}")
            return self._put(self._places_of(len(values)), values)
        hkl, some = _arrays.reflections(F)
        return self._put(self._places(hkl)[0], some)

    def _places_of(self, n):
        """Where n values belong in factors(): None, all in its order; or those of the last reflections()."""
        if n == self._count():
            return None
        if self._spots is None or n != len(self._spots):
            spots = "" if self._spots is None else f", and the last reflections() had {len(self._spots)}"
            raise ValueError(f"F: has {n} values, but the simulation has {self._count()} reflections (factors()){spots}")
        return self._places(self._spots)[0]

    def _put(self, places, values):
        """The values of factors() with these in their places."""
        if places is None:
            return values
        F = self.factors()[1]
        F[places] = values
        return F

    def _list(self):
        """Of factors(): lower limits and sizes of its box of indices, and where in it they are, in their order."""
        if self._listed is None:
            listed = self.factors()[0].astype(np.int64)
            low = listed.min(axis=0)
            sizes = listed.max(axis=0) - low + 1
            self._listed = low, sizes, _code(listed - low, sizes)
        return self._listed

    def _count(self):
        """How many reflections factors() has."""
        return len(self._list()[2])

    def _places(self, hkl, all_there=True):
        """Where reflections are in factors(), and which of them are there; all_there: ValueError if one is not."""
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
        """The structure factors of the images: (Miller indices int32 [n, 3], F [n] in electrons), by h, k, l."""
        hkl, F = self._sim.factors()
        return np.frombuffer(hkl, dtype=np.int32).reshape(-1, 3).copy(), np.frombuffer(F).copy()

    def spectrum(self, frame=0):
        """The -spectrum of a frame of a series, or of the image: a structured array [wavelengths] with energy (eV),
        wavelength (A), weight (of mean 1) and part (a colour; 1: the seeded line).  Its dtype's metadata has the
        factor of the fluence.  Empty without -spectrum."""
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
        """Whether images are float64; asked for in each render of nanobragg.torch."""
        if self._double is None:
            self._double = self.get("precision") == "double"
        return self._double

    def get(self, name):
        """A parameter as text, as the command line takes it; "" if it is unset."""
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
    def report(self):
        """The report that the program prints: text."""
        return self._sim.text("report")

    @property
    def seed(self):
        """Of the noise."""
        return self._sim.seed

    @property
    def backend(self):
        """What renders: device or instruction set, precision, threads."""
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
        """Render expected photons: float32 [slow, fast], into `out` if that is given.

        progress: a function of the fraction, or True for a bar.  statistics=True: returns the image
        and a dict (sum, max, mean, ...).  where="device": the image stays where it is rendered; returns
        a DeviceImage, for torch.from_dlpack and the like.  F: other structure factors from now on, as in set().

        noise(), integers() and reflections() without an image take the array that this returns: change a copy of it."""
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
            self._image = None  # or the image before could not give its memory to this one
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
                image = None  # another object rendered into its memory
            image = self.render() if image is None else image
        image = _arrays.shaped("image", image, self.shape, np.float32, "detector")
        if not np.isfinite(image).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(image))[0])
            raise ValueError(f"image: pixel {at} (slow, fast) is {image[at]}; all must be finite")
        return image

    def panels(self, image):
        """An image of this detector as its panels: a list of views [slow, fast], in their order."""
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
        """The names of the panels, in their order."""
        return [name for name, _, _ in self._sim.panels]

    def noise(self, image=None, seed=None, dtype=np.uint16):
        """Counts with noise: uint16 [slow, fast], of `image` or the last one.  ADU with the offset of
        -adc; the same image and seed give the same counts.  dtype=np.int32: as in an int32 frame
        of a series, without the offset unless -adc is given, and not cut at 65535."""
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
        """The integer image without noise: uint16 [slow, fast]."""
        out = np.empty(self.shape, dtype=np.uint16)
        self._sim.integers(self._of(image), out, _NO_NOISE)
        return out.view(Image)

    def reflections(self, image=None):
        """The reflections of an image: a structured array (h k l fast slow intensity peak phi ...).  Its dtype's metadata
        has background and unassigned, the photons of the image that belong to no reflection of the list."""
        records, background, unassigned = self._sim.reflections(self._of(image))
        kind = np.dtype(REFLECTION, metadata={"background": background, "unassigned": unassigned})
        found = np.frombuffer(records, dtype=kind).copy()
        self._spots = np.stack([found[x] for x in "hkl"], axis=-1)
        return found

    def trace(self, fast, slow):
        """Every intermediate quantity of a pixel: lines of text."""
        return self._sim.trace(fast, slow)

    def diffuse(self, out=None):
        """The photons of diffuse scattering in each pixel of an image, behind absorption and the factors of pixels: float32
        [slow, fast], into `out` if that is given.  Nothing else is rendered.  Needs diffuse_sigma."""
        plane = self._memory_for(out)
        self._sim.diffuse(plane)
        _renderers.pop(_address(plane), None)
        return plane

    def diffuse_at(self, hkl):
        """Diffuse scattering at fractional indices hkl [..., 3]: an array [...], electrons^2 of a block beside
        |F|^2 |F_latt|^2 (docs/physics.md), the sum over all reflections without a table.  Needs diffuse_sigma."""
        hkl = _arrays.real("hkl", hkl)
        if hkl.ndim < 1 or hkl.shape[-1] != 3:
            raise ValueError(f"hkl: must be an array [..., 3], not {list(hkl.shape)}")
        out = np.empty(hkl.shape[:-1])
        self._sim.diffuse_at(hkl, out, out.size)
        return out

    def derivatives(self, names, dtype=np.float32, image=False, progress=None):
        """dI/dp of the expected photons: a dict of arrays [slow, fast], photons per unit of p.

        names: of docs/physics.md, section 26, groups too: ["misset_x", "cell"] or "misset_x,cell".
        image=True: returns the dict and the image of the same pass."""
        return _derivatives.planes(self._sim, self.shape, names, dtype, image,
                                   _progress.callback(progress, "derivatives"))

    def pullback(self, dL_dimage, names, progress=None):
        """The gradient of a loss: a dict of floats, the sums over pixels of dL/dI dI/dp.

        dL_dimage: [slow, fast], an array, or a tensor of PyTorch; one on the GPU that renders stays there.
        The name "F" stands for all structure factors: (hkl [n, 3], dL/dF [n])."""
        return _derivatives.gradient(self._sim, self.shape, dL_dimage, names,
                                     _progress.callback(progress, "pullback"), self._opened)

    def normal(self, photons, names, sigma=None, background=None, radial=None, progress=None):
        """Normal equations of a fit to a picture: names, loss, gradient [n], fisher [n, n] (J^T W J).

        photons: [slow, fast], NaN where a pixel is not used.  The loss is that of Poisson counts; with sigma (photons), that of
        a normal distribution of variance model + sigma^2.  background: [slow, fast] photons that are added and stay.  radial:
        (knots, levels), a background linear in sin(theta)/lambda (1/A) between knots, whose levels (photons) follow the names
        in the equations."""
        return _derivatives.normal(self._sim, self.shape, photons, names, sigma, background, radial,
                                   _progress.callback(progress, "normal"))

    def variables(self, names="misset,cell,N"):
        """The names that a list of names and groups opens to."""
        return _derivatives.keys_of(self._sim, names)[1]

    def parameter(self, name):
        """What an image can be differentiated by: a dict (name, value, unit, flag, can_move, ...)."""
        return self._sim.parameter(name)

    def set_parameters(self, values):
        """Give parameters (docs/physics.md, section 26) new values: {"rot_x": 0.1, "cell_a": 79.2, "misset": (1, 2, 3)}.  Only the
        scene is built again; counts (steps, domains) stay; on an error nothing changes."""
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
        """Fold the rotation rot_x, rot_y, rot_z into the crystal's orientation, and set it to 0."""
        self._sim.fold_rotation()
        self._changed()

    def write(self, image=None, **files):
        """Write files of an image: write(noisefile="a.img", tifffile="a.tif").  Each is complete or
        absent."""
        self._sim.write(_parameters.many(files), self._of(image))

    def _repr_png_(self):
        """The last image, as -pngfile draws it; a notebook shows it."""
        return made("image.png", lambda path: self.write(pngfile=path))

    def __repr__(self):
        slow, fast = self.shape
        return f"<nanobragg.Simulation {fast} x {slow} pixels, {self.backend}>"


Simulation.__doc__ = _rows.Doc(Simulation.__doc__, lambda: [
    row for row in _parameters.parameters().values() if not row["flags"] & _nanobragg.SERIES])
