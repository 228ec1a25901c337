# SPDX-License-Identifier: MIT
"""No leaks: memory of Python (tracemalloc), memory of the process, and open files."""
import gc
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import nanobragg

SMALL = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0, distance=100, detpixels=64,
             misset=(10, 20, 30), fluence=1e26, seed=3, device="cpu", threads=1)
MiB = 1 << 20


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_process_does_not_grow():
    """After the first ten objects and images, 990 more do not make the process larger."""
    for i in range(1000):
        nanobragg.Simulation(**SMALL).render()
        if i == 9:
            gc.collect()
            start = resident()
    gc.collect()
    assert resident() - start < MiB


HKL = (np.array([(h, k, l) for h in range(-4, 5) for k in range(-4, 5) for l in range(-4, 5)]), np.full(729, 50.0))


def everything():
    """Calls every method once, and makes some errors."""
    sim = nanobragg.Simulation(**{k: v for k, v in SMALL.items() if k != "default_F"}, hkl=HKL,
                               mask=np.ones((64, 64), bool))
    image, _ = sim.render(statistics=True)
    sim.set(misset=(1, 2, 3), mask=np.ones((64, 64), np.uint8))
    sim.set_parameters({"cell_a": 79.2, "N_a": 8.5})
    sim.fold_rotation()
    there = sim.render(where="device")
    there.__dlpack__()
    np.asarray(there)  # numpy.from_dlpack of numpy 1.24 leaks 59 bytes per call
    sim.noise(), sim.integers(), sim.reflections(), sim.trace(3, 4)
    sim.derivatives("misset,cell", image=True)
    sim.pullback(image, ["misset", "F"])
    sim.variables(), sim.parameter("misset_x"), sim.get("distance"), sim.config, sim.report, repr(sim), sim.times
    nanobragg.compare(image, image + 1)
    for bad, kind in ((dict(distance=-1), ValueError), (dict(nonsense=1), TypeError), (dict(hkl="nosuch"), OSError)):
        with pytest.raises(kind):
            sim.set(**bad)
    with pytest.raises(ZeroDivisionError):
        sim.render(progress=lambda fraction: 1 / 0)
    with pytest.raises(ValueError):
        sim.render(out=np.empty((3, 3), np.float32))


def test_every_method_gives_back_what_it_took():
    files = None
    tracemalloc.start(5)
    try:
        for i in range(25):
            everything()
            if i == 9:
                gc.collect()
                before, bytes_before, files = tracemalloc.take_snapshot(), resident(), len(os.listdir("/proc/self/fd"))
        gc.collect()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    hide = [tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, "<frozen *>")]
    grown = [d for d in after.filter_traces(hide).compare_to(before.filter_traces(hide), "lineno")
             if d.size_diff > 512 and d.count_diff >= 15]  # grew in each of 15 rounds
    assert not grown, "\n".join(map(str, grown[:5]))
    assert resident() - bytes_before < 2 * MiB
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_leak_would_be_seen():
    """tracemalloc shows the leak if a list keeps an object of each round."""
    kept = []
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    for _ in range(30):
        kept.append(nanobragg.Simulation(**SMALL).render())
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    assert any(d.size_diff > 30 * 64 * 64 * 4 and d.count_diff >= 30 for d in after.compare_to(before, "filename"))
    assert len(kept) == 30


LITTLE = """
import resource
import nanobragg
sim = nanobragg.Simulation(cell=50, N=5, default_F=10, detpixels=16, threads=1, device="cpu")
sim.render()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
for where in ("device", "host"):
    sim.set(detpixels=12000, pixel=0.01)
    try:
        sim.render(where=where)
    except MemoryError as error:
        print("MemoryError", where, error)
    sim.set(detpixels=16)
    assert sim.render().shape == (16, 16)
"""


def test_memory_errors():
    """With 64 MiB an image of 576 MB raises MemoryError, and the object stays usable."""
    done = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "MemoryError device" in done.stdout and "MemoryError host" in done.stdout
