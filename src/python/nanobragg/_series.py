# SPDX-License-Identifier: MIT
"""Series of frames."""

import threading

from . import _memory, _nanobragg, _parameters, _progress


def _run(words, own, show, stop):
    errors = []

    def progress(done, frames):
        try:
            if show:
                show(done / frames if frames else 1)
        except BaseException as error:  # it stops the series, and belongs to the caller
            errors.append(error)
        return bool(errors) or stop.is_set()

    value = _nanobragg.series(words, own, _parameters.log, progress)
    if errors:
        raise errors[0]
    return value


def run_series(config, progress=None, **keywords):
    """Render and write a series: run_series(dict(cell=..., N=20), frames=360, osc=0.1,
    hdf5="run_master.h5").

    config: a dict of parameters of a simulation.  keywords: parameters of the series and more of the
    simulation.  Returns a dict (frames, done, seconds, bytes, seed, ...).  Ctrl-C stops it; the frames
    that are done stay, and resume=True goes on."""
    kept, own, base = {}, [], dict(config)
    for name, value in keywords.items():
        row = _parameters._BY_NAME.get(name)
        if row and row["flags"] & _nanobragg.SERIES:
            own.append((name, value))
        else:
            base[name] = value
    words = _parameters.many(_memory.files_of(base, kept))
    own = _parameters.many(dict(own), series=True)
    show, stop, result = _progress.callback(progress, "series"), threading.Event(), {}

    def work():
        try:
            result["value"] = _run(words, own, show, stop)
        except BaseException as error:  # it belongs to the caller's thread
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
