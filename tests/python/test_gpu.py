# SPDX-License-Identifier: MIT
"""Tests that need a GPU (else skipped): images that stay in its memory, torch on the GPU,
and results equal to the program's files.

On a machine with a GPU:  make SET=gpu CUDA_ARCH=90 all python
    NANOBRAGG=build/gpu/nanobragg PYTHONPATH=build/gpu/python python3 -m pytest -q tests/python/test_gpu.py"""
import os
import subprocess
import time

import numpy as np
import pytest

import nanobragg

SMALL = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0, distance=100,
             detpixels_x=64, detpixels_y=48, misset=(10, 20, 30), fluence=1e26, seed=3)
FLAGS = ("-cell 79.1 79.1 37.9 90 90 90 -N 8 -default_F 100 -lambda 1 -distance 100 -detpixels_x 64 "
         "-detpixels_y 48 -misset 10 20 30 -fluence 1e26 -seed 3 -device cuda").split()


def reason():
    if nanobragg.features().get("CUDA", nanobragg.features().get("cuda")) is None:
        return "built without CUDA"
    try:
        nanobragg.Simulation(**SMALL, device="cuda").render()
    except (nanobragg.DeviceError, NotImplementedError) as error:
        return str(error)
    return None


WHY_NOT = reason()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"no GPU: {WHY_NOT}")


def gpu(**more):
    return nanobragg.Simulation(**{**SMALL, "device": "cuda", **more})


def has_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    return torch


def test_image_and_noise_are_the_programs(tmp_path):
    subprocess.run([os.environ["NANOBRAGG"], *FLAGS, "-floatfile", "f.bin", "-noisefile", "n.img"],
                   cwd=tmp_path, check=True, capture_output=True)
    sim = gpu()
    assert sim.render().tobytes() == (tmp_path / "f.bin").read_bytes()
    noise = (tmp_path / "n.img").read_bytes()[-64 * 48 * 2:]
    for where in ("host", "device"):
        sim.render(where=where)
        assert sim.noise().astype("<u2").tobytes() == noise


def test_image_stays_there():
    sim = gpu()
    there, stats = sim.render(where="device", statistics=True)
    assert there.device.startswith("cuda:") and there.__dlpack_device__()[0] == 2
    image = sim.render()
    assert np.array_equal(np.asarray(there), image) and stats["max"] == image.max()
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        np.from_dlpack(there)


def test_torch_shares_the_memory():
    torch = has_torch()
    sim = gpu()
    there = sim.render(where="device")
    tensor = torch.from_dlpack(there)
    assert tensor.is_cuda and tensor.dtype == torch.float32 and tuple(tensor.shape) == (48, 64)
    assert np.array_equal(tensor.cpu().numpy(), np.asarray(there))
    tensor[1, 2] = 5
    torch.cuda.synchronize()
    assert np.asarray(there)[1, 2] == 5
    del there, sim
    assert float(tensor[1, 2]) == 5 and float(tensor.sum()) > 0


def test_who_holds_an_image_keeps_it():
    torch = has_torch()
    sim = gpu()
    kept, copies, addresses = [], [], set()
    for step in range(12):
        sim.set(misset=(step, 20, 30))
        tensor = torch.from_dlpack(sim.render(where="device"))
        addresses.add(tensor.data_ptr())
        copies.append(sim.render())
        if step % 3 == 0:
            kept.append((step, tensor))
        del tensor
    for step, tensor in kept:
        assert np.array_equal(tensor.cpu().numpy(), copies[step]), step
    assert len(addresses) <= len(kept) + 3
    del sim
    assert all(float(tensor.sum()) > 0 for _, tensor in kept)


def test_work_that_is_queued_sees_its_image():
    """Python may release an image while torch's kernels that read it still wait."""
    torch = has_torch()
    sim = gpu(detpixels_x=1024, detpixels_y=1024)
    burden = torch.randn(4096, 4096, device="cuda")
    want, sums = [], []
    for step in range(8):
        sim.set(misset=(10 + step, 20, 30))
        tensor = torch.from_dlpack(sim.render(where="device"))
        for _ in range(4):
            burden = burden @ burden / 64
        sums.append(tensor.double().sum())  # the kernel of this sum waits for the products
        del tensor
    for step in range(8):
        sim.set(misset=(10 + step, 20, 30))
        want.append(sim.render().sum(dtype=float))
    assert [float(s) for s in sums] == pytest.approx(want, rel=1e-9)


def test_device_memory_does_not_grow():
    torch = has_torch()
    sim = gpu(detpixels_x=1024, detpixels_y=1024)
    for step in range(60):
        tensor = torch.from_dlpack(sim.render(where="device"))
        if step == 10:
            torch.cuda.synchronize()
            free = torch.cuda.mem_get_info()[0]
    torch.cuda.synchronize()
    assert tensor is not None and free - torch.cuda.mem_get_info()[0] < 16 << 20


def test_current_device_of_the_caller_stays():
    torch = has_torch()
    before = torch.cuda.current_device()
    tensor = torch.from_dlpack(gpu().render(where="device"))
    del tensor
    assert torch.cuda.current_device() == before


def test_render_in_a_graph():
    torch = has_torch()
    from nanobragg.torch import render
    sim = gpu()
    there = dict(dtype=torch.float64, device="cuda", requires_grad=True)
    misset = torch.tensor([10.0, 20, 30], **there)
    cell = torch.tensor([79.1, 79.1, 37.9, 90, 90, 90], **there)
    image = render(sim, misset=misset, cell=cell)
    assert image.is_cuda and np.array_equal(image.detach().cpu().numpy(), gpu().render())
    (image ** 2).sum().backward()
    g = nanobragg.Simulation(**{**SMALL, "device": "cpu"})
    g = g.pullback(2 * g.render(), "misset,cell")
    ours = torch.cat([misset.grad, cell.grad]).double().cpu().numpy()
    assert misset.grad.is_cuda
    want = np.array(list(g.values()))
    assert abs(ours - want).max() < 1e-3 * abs(want).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pullback_of_slopes_that_are_there(dtype):
    torch = has_torch()
    names = ["misset", "cell", "N", "distance"]
    for more in ({}, {"oversample": 2}):  # kernels without and with planes of derivatives
        sim = gpu(**more)
        slopes = torch.linspace(-1, 2, 64 * 48, dtype=torch.float64).reshape(48, 64).to(getattr(torch, dtype))
        want = sim.pullback(slopes.numpy(), names)
        there = slopes.cuda()
        assert sim.pullback(there, names) == want
        assert sim.pullback(there.t().contiguous().t(), names) == want
        assert sim.pullback(there.cpu(), names) == want
        exact = nanobragg.Simulation(**{**SMALL, **more, "device": "cpu", "precision": "double"})
        for name, value in exact.pullback(slopes.double().numpy(), names).items():
            scale = abs(slopes.double().numpy() * exact.derivatives(name, dtype=float)[name]).sum()
            assert abs(want[name] - value) <= 5e-6 * scale, name
        with pytest.raises(ValueError, match="has the shape"):
            sim.pullback(there[1:], names)
        with pytest.raises(ValueError, match="not finite"):
            sim.pullback(there * float("nan"), names)


@pytest.mark.parametrize("more", [{}, {"roi": (10, 40, 5, 30)}, {"oversample": 2, "roi": (10, 40, 5, 30)}])
def test_a_slope_that_is_not_finite_is_found_anywhere(more):
    sim = gpu(**more)
    slopes = np.ones((48, 64), np.float32)
    sim.pullback(slopes, "misset")
    for bad in (np.nan, np.inf):
        for pixel in (0, 20 * 64 + 20, 48 * 64 - 1):
            wrong = slopes.copy()
            wrong.flat[pixel] = bad
            with pytest.raises(ValueError, match=f"not finite at pixel {pixel} of 3072"):
                sim.pullback(wrong, "misset")


def test_large_slopes_are_sent_whole():
    """pullback copies slopes that need more bytes than the buffer of pinned memory."""
    sim = gpu(detpixels_x=2048, detpixels_y=2048)
    slopes = np.random.default_rng(4).normal(size=(2048, 2048))  # 32 MB
    planes = sim.derivatives("misset_x,fluence", dtype=float)
    for name, value in sim.pullback(slopes, "misset_x,fluence").items():
        terms = slopes * planes[name]
        assert abs(value - terms.sum()) <= 1e-6 * abs(terms).sum(), name


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_renderer_of_one_tensor(where):
    torch = has_torch()
    from nanobragg.torch import Renderer
    names = ["misset", "cell"]
    draw = Renderer(gpu(), names)
    values = torch.tensor([10.0, 20, 30, 79.1, 79.1, 37.9, 90, 90, 90], dtype=torch.float64, device=where,
                          requires_grad=True)
    image = draw(values)
    assert image.is_cuda and np.array_equal(image.detach().cpu().numpy(), gpu().render())
    (image ** 2).sum().backward()
    want = gpu().pullback(2 * gpu().render(), names)
    assert values.grad.device.type == where
    assert values.grad.cpu().numpy() == pytest.approx(list(want.values()), rel=1e-5, abs=1e-5 * max(map(abs, want.values())))


def test_gradcheck():
    torch = has_torch()
    from nanobragg.torch import render
    sim = gpu(detpixels_x=24, detpixels_y=24, pixel=0.5, precision="double", fluence=5e25)
    misset = torch.tensor([10.0, 20, 30], dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda m: render(sim, misset=m), misset, eps=1e-5, atol=1e-6,
                                    rtol=1e-4, fast_mode=True)


def test_time_of_an_image_that_stays():
    """Prints (with -s) the times of an image that stays on the GPU and of a copy."""
    sim = gpu(detpixels_x=1024, detpixels_y=1024)
    times = {}
    out = sim.render()
    for name, call in (("device", lambda: sim.render(where="device")), ("host", lambda: sim.render(out=out))):
        least = 1e9
        for _ in range(50):
            start = time.perf_counter()
            image = call()
            least = min(least, time.perf_counter() - start)
        times[name] = least * 1e6
        del image
    print(f"\n1024x1024, left on the device {times['device']:.0f} us, fetched {times['host']:.0f} us")
    assert times["device"] < times["host"]
