# SPDX-License-Identifier: MIT
"""Series of frames."""

import os
import threading

from . import _arrays, _nanobragg, _parameters, _progress


def _run(words, arrays, own, show, stop):
    errors = []

    def progress(done, frames):
        try:
            if show:
                show(done / frames if frames else 1)
        except BaseException as error:  # the error stops the series, and is raised in the caller
            errors.append(error)
        return bool(errors) or stop.is_set()

    value = _nanobragg.series(words, arrays, own, _parameters.log, progress)
    if errors:
        raise errors[0]
    return value


def run_series(config, progress=None, **keywords):
    """Render and write a series: run_series(dict(cell=..., N=20), frames=9, hdf5="a.h5").

    config: dict of parameters of a simulation.  keywords: parameters of series and
    simulation; vary may be a dict, as {"N": ("uniform", 5, 30)}.  Returns a dict (frames,
    done, seconds, bytes, seed, ...).  Ctrl-C or time_limit (seconds; then done < frames)
    stops the series; finished frames stay, and resume=True continues."""
    return _start(dict(config), keywords, [], progress)


def draws(config, **keywords):
    """Draw -vary without rendering: structured array (frame, crystal, seed, vary names).
    Arguments as for run_series: draws(config, vary={"N": ("uniform", 5, 30)})."""
    import tempfile

    import numpy

    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "draws.txt")
        run_series({**config, "draws": table}, output=os.path.join(folder, "%d.bin"), **keywords)
        kinds = {"frame": "i8", "crystal": "i8", "seed": "i8"}
        with open(table, encoding="ascii") as lines:
            names = lines.readline().split()
            rows = [tuple(line.split()) for line in lines]
    return numpy.array(rows, dtype=[(name, kinds.get(name, "f8")) for name in names])


def noise(input, output, progress=None, size=None, pedestal=None, unit=None, **keywords):
    """Add background and noise, as `nanobragg noise`: noise("in.h5", "out.h5", seed=7).

    input: an image, an HDF5 file (all frames, or "file.h5:3"), or numbered files
    ("in_%05d.bin").  output: the extension sets the format; "%05d" makes a file per
    frame.  size: (fast, slow) of headerless images.  pedestal: pixel value without
    photons.  unit: photons per unit of a pixel.  keywords: parameters of noise,
    background and geometry, hdf5type and compress.  Returns the dict of run_series."""
    words = [("noise_input", [os.fspath(input)])]
    for name, value in (("noise_size", size), ("noise_pedestal", pedestal), ("noise_unit", unit)):
        if value is not None:
            words.append((name, [str(x) for x in _parameters._flat(value)]))
    name = os.fspath(output)
    kind = "hdf5" if os.path.splitext(name)[1].lower() in (".h5", ".hdf5", ".nxs", ".cxi") else "output"
    return _start({}, {**keywords, kind: name}, words, progress)


def _law(name, law):
    """Text of an item of -vary."""
    if not isinstance(law, (tuple, list)):
        raise TypeError(f"vary: {name} needs a law and its numbers, as ('uniform', 5, 30), not {law!r}")
    return ":".join(map(str, (name, *law)))


def _start(base, keywords, own, progress):
    ours = {}
    for name, value in keywords.items():
        row = _parameters._BY_NAME.get(name)
        if row and row["flags"] & _nanobragg.SERIES:
            ours[name] = value
        else:
            base[name] = value
    if isinstance(ours.get("vary"), dict):
        ours["vary"] = ",".join(_law(name, law) for name, law in ours["vary"].items())
    base, arrays = _arrays.split(base)
    words = _parameters.many(base)
    own = _parameters.many(ours, series=True) + own
    show, stop, result = _progress.callback(progress, "series"), threading.Event(), {}

    def work():
        try:
            result["value"] = _run(words, arrays, own, show, stop)
        except BaseException as error:  # raised in the caller's thread
            result["error"] = error

    thread = threading.Thread(target=work, name="nanobragg series")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
    except BaseException:
        stop.set()
        thread.join()
        raise
    if "error" in result:
        raise result["error"]
    return result["value"]
