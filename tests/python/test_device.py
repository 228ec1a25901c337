# SPDX-License-Identifier: MIT
"""Images that stay in the memory of the device (where="device"), and how numpy and torch
use them. These tests use the CPU; test_gpu.py has the tests for a GPU."""
import gc
import os
import threading

import numpy as np
import pytest

import nanobragg

SMALL = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0, distance=100,
             detpixels_x=64, detpixels_y=48, misset=(10, 20, 30), fluence=1e26, device="cpu")


def test_host_image_is_a_dlpack_producer():
    image = nanobragg.Simulation(**SMALL).render()
    assert image.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(image)
    image[3, 4] = 77
    assert shared[3, 4] == 77 and shared.shape == (48, 64)


def test_image_stays_in_memory_of_the_host():
    sim = nanobragg.Simulation(**SMALL)
    there, stats = sim.render(where="device", statistics=True)
    image = sim.render()
    assert there.device == "cpu" and there.shape == (48, 64) and there.__dlpack_device__() == (1, 0)
    assert "64 x 48" in repr(there) and stats["sum"] == pytest.approx(image.sum(dtype=float), rel=1e-6)
    assert np.array_equal(np.from_dlpack(there), image) and np.array_equal(np.asarray(there), image)
    assert there.numpy()._repr_png_().startswith(b"\x89PNG")
    assert np.from_dlpack(there).ctypes.data == np.from_dlpack(there).ctypes.data


def test_who_holds_an_image_keeps_it():
    sim = nanobragg.Simulation(**SMALL)
    first = sim.render(where="device")
    shared, copy = np.from_dlpack(first), np.asarray(first)
    del first
    sim.set(misset=(1, 2, 3))
    second = sim.render(where="device")
    assert np.array_equal(shared, copy)
    assert not np.array_equal(shared, np.asarray(second))
    address = np.from_dlpack(second).ctypes.data
    assert address != shared.ctypes.data
    del second
    again = sim.render(where="device")  # in the free memory of `second`
    assert np.from_dlpack(again).ctypes.data == address
    del sim
    gc.collect()
    assert np.array_equal(shared, copy) and np.asarray(again).sum() > 0


def test_memory_comes_back():
    sim = nanobragg.Simulation(**{**SMALL, "threads": 1})
    addresses, kept = set(), None
    for step in range(20):
        kept = np.from_dlpack(sim.render(where="device"))
        addresses.add(kept.ctypes.data)
    assert len(addresses) <= 3


def test_host_render_and_size_between():
    sim = nanobragg.Simulation(**SMALL)
    shared = np.from_dlpack(sim.render(where="device"))
    copy = shared.copy()
    sim.render()
    sim.set(detpixels_x=300, detpixels_y=200)
    large = sim.render(where="device")
    assert large.shape == (200, 300) and np.array_equal(np.asarray(large), sim.render())
    sim.set(detpixels_x=20, detpixels_y=10)
    assert np.asarray(sim.render(where="device")).shape == (10, 20)
    assert np.array_equal(shared, copy)


def test_what_is_made_of_an_image_that_stays():
    sim, other = (nanobragg.Simulation(**SMALL, seed=5) for _ in range(2))
    sim.render(where="device")
    other.render()
    assert np.array_equal(sim.noise(), other.noise())
    assert np.array_equal(sim.integers(), other.integers())
    assert len(sim.reflections()) == len(other.reflections()) > 3


def test_errors():
    sim = nanobragg.Simulation(**SMALL)
    with pytest.raises(ValueError, match="where"):
        sim.render(where="moon")
    with pytest.raises(ValueError, match="out"):
        sim.render(where="device", out=np.zeros((48, 64), np.float32))
    there = sim.render(where="device")
    with pytest.raises(BufferError):
        there.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        type(there._memory)()
    mine = np.from_dlpack(there)
    copied = there.__dlpack__(copy=True)
    assert "dltensor" in repr(copied) and mine.sum() > 0
    del copied  # an unused capsule frees its memory
    with pytest.raises(ValueError):
        there.__array__(copy=False)


def test_images_are_freed():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def use():
        sim = nanobragg.Simulation(**{**SMALL, "detpixels_x": 256, "detpixels_y": 256, "threads": 1})
        kept = [np.from_dlpack(sim.render(where="device")) for _ in range(4)]
        capsules = [sim.render(where="device").__dlpack__() for _ in range(4)]
        del sim, capsules
        return kept[0].sum()

    for i in range(60):
        use()
        if i == 20:
            gc.collect()
            start = resident()
    gc.collect()
    assert resident() - start < 1 << 20


def test_images_are_let_go_by_other_threads():
    sim = nanobragg.Simulation(**{**SMALL, "threads": 1})
    reference = sim.render().copy()
    errors = []

    def use(image):
        if not np.array_equal(np.from_dlpack(image), reference):
            errors.append("an image changed while it was held")

    threads = []
    for _ in range(40):
        threads.append(threading.Thread(target=use, args=(sim.render(where="device"),)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert not errors


def test_torch_shares_the_memory():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    sim = nanobragg.Simulation(**SMALL)
    there = sim.render(where="device")
    tensor = torch.from_dlpack(there)
    assert tensor.dtype == torch.float32 and tuple(tensor.shape) == (48, 64)
    assert tensor.data_ptr() == np.from_dlpack(there).ctypes.data
    tensor[1, 2] = 5
    assert np.asarray(there)[1, 2] == 5
    del there, sim
    assert tensor[1, 2] == 5
    host = nanobragg.Simulation(**SMALL).render()
    assert torch.from_dlpack(host).data_ptr() == host.ctypes.data
