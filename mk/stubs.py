# SPDX-License-Identifier: MIT
"""Write type stubs of the Python package; their keywords come from the library's table of parameters.

usage: python3 mk/stubs.py EXTENSION-MODULE >__init__.pyi
"""
import importlib.machinery
import importlib.util
import keyword
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src", "python", "nanobragg"))
import _rows  # noqa: E402  not through the package, which needs numpy

HEAD = '''# SPDX-License-Identifier: MIT
# Written by mk/stubs.py from the table of parameters: do not edit.
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

__version__: str

Path: TypeAlias = str | os.PathLike[str]
Numbers: TypeAlias = float | str | Sequence[float] | npt.NDArray[Any]
Names: TypeAlias = str | Sequence[str]
Array: TypeAlias = npt.NDArray[Any]
Indices: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike] | tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
# of factors(): all values, or (Miller indices, F) of some, or an array with the fields h k l F
Factors: TypeAlias = npt.ArrayLike | Indices
Progress: TypeAlias = bool | Callable[[float], object] | None

class DeviceError(RuntimeError): ...

class Page(str):
    def _repr_html_(self) -> str: ...

class Image(np.ndarray[Any, np.dtype[Any]]):
    format: str
    centre: tuple[float, float]
    pedestal: float
    def _repr_png_(self) -> bytes | None: ...

class DeviceImage:
    dtype: np.dtype[np.float32]
    ndim: int
    shape: tuple[int, int]
    @property
    def device(self) -> str: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array: ...
    def numpy(self) -> Image: ...

class Normal(NamedTuple):
    names: list[str]
    loss: float
    gradient: Array
    fisher: Array

class Difference(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

'''

TAIL = '''
class Simulation:
    def __init__(self, **keywords: Unpack[Parameters]) -> None: ...
    def set(self, **keywords: Unpack[Parameters]) -> None: ...
    def get(self, name: str) -> str: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def A(self) -> Array: ...
    @property
    def report(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def times(self) -> dict[str, float]: ...
    @overload
    def render(self, out: Array | None = None, progress: Progress = None,
               statistics: Literal[False] = False, where: Literal["host"] = "host",
               F: Factors | None = None) -> Image: ...
    @overload
    def render(self, out: Array | None = None, progress: Progress = None, *,
               statistics: Literal[True], where: Literal["host"] = "host",
               F: Factors | None = None) -> tuple[Image, dict[str, Any]]: ...
    @overload
    def render(self, out: None = None, progress: Progress = None, statistics: Literal[False] = False,
               *, where: Literal["device"], F: Factors | None = None) -> DeviceImage: ...
    @overload
    def render(self, out: None = None, progress: Progress = None, *, statistics: Literal[True],
               where: Literal["device"],
               F: Factors | None = None) -> tuple[DeviceImage, dict[str, Any]]: ...
    def factors(self) -> tuple[Array, Array]: ...
    def spectrum(self, frame: int = 0) -> Array: ...
    def noise(self, image: Array | DeviceImage | None = None, seed: int | None = None,
              dtype: npt.DTypeLike = ...) -> Image: ...
    def panels(self, image: npt.ArrayLike | DeviceImage) -> list[Image]: ...
    @property
    def panel_names(self) -> list[str]: ...
    def integers(self, image: Array | DeviceImage | None = None) -> Image: ...
    def reflections(self, image: Array | DeviceImage | None = None) -> Array: ...
    def diffuse(self, out: Array | None = None) -> Array: ...
    def diffuse_at(self, hkl: npt.ArrayLike) -> Array: ...
    def trace(self, fast: int, slow: int) -> str: ...
    @overload
    def derivatives(self, names: Names, dtype: npt.DTypeLike = ..., image: Literal[False] = False,
                    progress: Progress = None) -> dict[str, Image]: ...
    @overload
    def derivatives(self, names: Names, dtype: npt.DTypeLike = ..., *, image: Literal[True],
                    progress: Progress = None) -> tuple[dict[str, Image], Image]: ...
    def pullback(self, dL_dimage: npt.ArrayLike, names: Names,
                 progress: Progress = None) -> dict[str, Any]: ...
    def normal(self, photons: npt.ArrayLike, names: Names, sigma: float | None = None, background: npt.ArrayLike | None = None,
               radial: tuple[npt.ArrayLike, npt.ArrayLike] | None = None, progress: Progress = None) -> Normal: ...
    def variables(self, names: Names = ...) -> list[str]: ...
    def parameter(self, name: str) -> dict[str, Any]: ...
    def set_parameters(self, values: Mapping[str, float | Sequence[float] | Array]) -> None: ...
    def fold_rotation(self) -> None: ...
    def write(self, image: Array | DeviceImage | None = None, **files: Unpack[Parameters]) -> None: ...

def read_image(path: Path, frame: int | None = None,
               shape: tuple[int, int] | None = None) -> Image: ...
def compare(a: Array, b: Array) -> Difference: ...
def page(image: Array | DeviceImage | Simulation | Sequence[Array], path: Path | None = None,
         names: Sequence[str] | None = None) -> Page: ...
def refine(sim: Simulation, picture: Path | Array, names: Names, told: Callable[..., object] = ..., report: Path | None = None,
           **keywords: Any) -> Any: ...
def refine_series(sim: Simulation, pictures: Sequence[Path], names: Names, orientations: Path | None = None,
                  report: Path | None = None, workers: int | None = None, **keywords: Any) -> list[Any]: ...
def refine_joint(sim: Simulation, pictures: Sequence[Path], names: Names, joint: Names, orientations: Path | None = None,
                 report: Path | None = None, exptout: Path | None = None, workers: int | None = None,
                 **keywords: Any) -> tuple[Any, list[Any]]: ...
def parameters() -> dict[str, dict[str, Any]]: ...
def features() -> dict[str, str | None]: ...
def run_series(config: dict[str, Any], progress: Progress = None,
               **keywords: Unpack[SeriesParameters]) -> dict[str, Any]: ...
def draws(config: dict[str, Any], **keywords: Unpack[SeriesParameters]) -> Array: ...
def noise(input: Path, output: Path, progress: Progress = None, size: tuple[int, int] | None = None,  # type: ignore[misc]  # output is a flag of series, too
          pedestal: float | None = None, unit: float | None = None,
          **keywords: Unpack[SeriesParameters]) -> dict[str, Any]: ...
'''

TYPES = {"hkl": "Path | Indices | Array", "mask": "Path | Array", "mat": "Path | npt.ArrayLike",
         "sourcefile": "Path | npt.ArrayLike | Indices", "transmission": "Path | npt.ArrayLike", "add": "Path | npt.ArrayLike",
         "mosaic_blocks": "Path | npt.ArrayLike", "crystals": "int | Path | Sequence[Mapping[str, Any]]",
         "vary": "str | Mapping[str, Sequence[Any]]"}
INT, FLOAT = 2, 3  # NB_KIND_INT, NB_KIND_DOUBLE of src/params/params.h; other kinds take Numbers


def load(path):
    loader = importlib.machinery.ExtensionFileLoader("_nanobragg", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_nanobragg", loader))
    loader.exec_module(module)
    return module


def type_of(row, module):
    if row["name"] in TYPES:
        return TYPES[row["name"]]
    if row["kind"] in (module.SWITCH, module.PRESET):
        return "bool"
    if row["kind"] == module.FILE:
        return "Path"
    if row["words_max"] == 1 and row["kind"] in (INT, FLOAT):
        return "int" if row["kind"] == INT else "float"
    words = [c for c in row["choices"] if c]
    if words:
        literal = f"Literal[{', '.join(repr(w) for w in words)}]"
        return literal if row["kind"] == 7 else f"{literal} | float"
    return "Numbers"


def described(rows, module):
    """{keyword: (its type, its text)} of rows of the table of parameters."""
    return {word: (type_of(row, module), _rows.text(row)) for row in rows for word in _rows.names(row)}


def table(name, base, words):
    """Text of a TypedDict; editors show the text that follows each keyword."""
    out = [f"class {name}({base}, total=False):"]
    for word, (kind, text) in words.items():
        out += [f"    {word}: {kind} | None", f"    {text!r}"]
    return "\n".join([*out, "\n"])


ARRAYS = {"sources": ("Path | npt.ArrayLike | Indices", "[n, 5]: x y z, intensity, wavelength in m; or (wavelengths in A, weights)"),
          "A": ("npt.ArrayLike", "3x3: a*, b*, c* in the columns [1/A]")}


def main():
    module = load(sys.argv[1])
    rows = [row for row in module.params() if not row["flags"] & module.INNER]
    own = described([row for row in rows if not row["flags"] & module.SERIES], module)
    # Keywords that a class cannot have as names of members.
    odd = {word: own.pop(word) for word in list(own) if keyword.iskeyword(word) or not word.isidentifier()}
    print(HEAD, "_Odd = TypedDict('_Odd', {", *(f"{word!r}: {kind} | None, " for word, (kind, _) in odd.items()), "}, total=False)\n\n",
          table("_Image", "_Odd", {**own, **ARRAYS}),
          table("Parameters", "_Image", {"F": ("Factors", "all structure factors, or (Miller indices, F) of some [electrons]")}),
          table("SeriesParameters", "_Image", described([row for row in rows if row["flags"] & module.SERIES], module)),
          TAIL, sep="", end="")


if __name__ == "__main__":
    sys.exit(main())
