# SPDX-License-Identifier: MIT
"""Calls the library from several Python threads, for the thread sanitizer: tests/python/tsan.sh starts it.
usage: tsan.py [--race]     --race: eight objects write to one array, which the sanitizer has to report"""
import sys
import threading

import numpy as np

import nanobragg

SMALL = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0, distance=100, detpixels=48,
             misset=(10, 20, 30), fluence=1e26, seed=3, device="cpu")
OBJECTS, THREADS = 8, 2


def together(work, count=OBJECTS):
    """Calls work(0), work(1) ... in threads that begin at the same time; returns the list
    of results."""
    results, barrier = [None] * count, threading.Barrier(count)

    def run(i):
        barrier.wait()
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def everything(i):
    """Uses many methods of an object that only this thread has."""
    sim = nanobragg.Simulation(**SMALL, threads=1 + i % THREADS)
    first = sim.render()
    for angle in range(3):
        sim.set(misset=(10 + angle, 20, 30))
        sim.render(out=first)
    sim.set_parameters({"misset_x": 10, "N_a": 8})
    image = sim.render(statistics=True)[0]
    there = np.from_dlpack(sim.render(where="device"))
    assert (there == image).all()
    return [image, sim.noise(), sim.integers(), sim.reflections()["intensity"], there,
            sim.derivatives(["misset_x"])["misset_x"], np.array(list(sim.pullback(image, ["misset", "N"]).values()))]


def one_object(_):
    """Eight threads call one object: each call succeeds, or raises an error because the
    object is in use."""
    refused = []
    sim = nanobragg.Simulation(**SMALL, threads=1)

    def use(i):
        for k in range(20):
            try:
                sim.set(phi=float(k), detpixels=40 + k) if i % 2 else sim.render()
                assert sim.shape[0] > 0 and "pixels" in repr(sim) and sim.seed == 3
                assert len(sim.panel_names) == 1 and sim.times["render"] >= 0
            except RuntimeError as error:
                assert "another thread" in str(error)
                refused.append(i)

    together(use)
    assert sim.render().sum() > 0
    return len(refused)


def given_away():
    """Other threads release images of one object."""
    sim = nanobragg.Simulation(**SMALL, threads=1)
    want, threads, wrong = sim.render().copy(), [], []

    def take(image):
        if not (np.from_dlpack(image) == want).all():
            wrong.append(image)

    for _ in range(2 * OBJECTS):
        threads.append(threading.Thread(target=take, args=(sim.render(where="device"),)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert not wrong


def race():
    """Eight objects render into one array: a race, which the sanitizer must find."""
    out = np.empty((48, 48), np.float32)
    sims = [nanobragg.Simulation(**SMALL, threads=1, isa="scalar") for _ in range(OBJECTS)]
    together(lambda i: [sims[i].render(out=out) for _ in range(10)])


def main():
    if sys.argv[1:] == ["--race"]:
        race()
        return
    results = together(everything)
    for other in results[1:]:
        for a, b in zip(results[0], other):
            assert np.array_equal(a, b)
    print(f"{OBJECTS} objects at once: the same bytes")
    print(f"one object, {OBJECTS} threads: {one_object(None)} calls were refused")
    given_away()
    print("images were let go by other threads")


main()
