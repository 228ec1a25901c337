# SPDX-License-Identifier: MIT
"""nanobragg.torch: PyTorch calculates gradients through images."""
import subprocess
import sys
import warnings

import numpy as np
import pytest

import nanobragg

torch = pytest.importorskip("torch", reason="torch is not installed")
from nanobragg.torch import Renderer, render  # noqa: E402  (it needs torch)

SMALL = dict(cell=(70, 80, 90, 88, 91, 93), N=5, default_F=100, wavelength=1.0, distance=100, detpixels=24,
             pixel=0.5, misset=(10, 20, 30), fluence=5e25, oversample=1, device="cpu", threads=1)  # pixels up to 1 photon
VALUES = dict(misset=(10, 20, 30), cell=(70, 80, 90, 88, 91, 93), N=(5, 5, 5), distance=100.0)


def tensors(dtype=torch.float64, names=VALUES):
    return {k: torch.tensor(VALUES[k], dtype=dtype, requires_grad=True) for k in names}


def test_image_is_that_of_render():
    sim = nanobragg.Simulation(**SMALL)
    image = render(sim, **tensors())
    assert image.dtype == torch.float32 and tuple(image.shape) == (24, 24) and image.requires_grad
    assert np.array_equal(image.detach().numpy(), nanobragg.Simulation(**SMALL).render())
    assert not render(sim).requires_grad and not render(sim, distance=101.0).requires_grad
    assert sim.parameter("distance")["value"] == 101
    assert torch.equal(render(sim, wavelength=1.1), render(sim, **{"lambda": 1.1}))


@pytest.mark.parametrize("shape, quick", [({}, False), ({"gauss_xtal": True}, True),
                                          ({"round_xtal": True}, True)])
def test_gradcheck(shape, quick):
    sim = nanobragg.Simulation(**SMALL, **shape, precision="double")
    names, values = list(VALUES), list(tensors().values())

    def image(*given):
        picture = render(sim, **dict(zip(names, given)))
        assert picture.dtype == torch.float64
        return picture

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.autograd.gradcheck(image, values, eps=1e-5, atol=1e-6, rtol=1e-5,
                                        fast_mode=quick)


def test_gradcheck_finds_a_wrong_gradient(monkeypatch):
    sim = nanobragg.Simulation(**SMALL, precision="double")
    real = nanobragg.torch._Render.backward
    monkeypatch.setattr(nanobragg.torch._Render, "backward",
                        staticmethod(lambda ctx, s: tuple(g * 1.01 if g is not None else g
                                                          for g in real(ctx, s))))
    misset = tensors(names=["misset"])["misset"]
    assert not torch.autograd.gradcheck(lambda m: render(sim, misset=m), misset, eps=1e-5,
                                        atol=1e-6, rtol=1e-5, raise_exception=False, fast_mode=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_backward_is_the_pullback(dtype):
    sim = nanobragg.Simulation(**SMALL)
    given = tensors(dtype)
    image = render(sim, **given)
    weight = torch.linspace(-1, 2, 576, dtype=torch.float32).reshape(24, 24)
    (image * weight).sum().backward()
    g = nanobragg.Simulation(**SMALL).pullback(weight.numpy(), list(VALUES))
    flat = torch.cat([t.grad.reshape(-1).double() for t in given.values()]).numpy()
    assert all(t.grad.dtype == dtype and t.grad.shape == t.shape for t in given.values())
    assert flat == pytest.approx(list(g.values()), rel=1e-6 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_renderer_of_one_tensor(dtype):
    given = tensors()
    sim = nanobragg.Simulation(**SMALL)
    draw = Renderer(sim, list(VALUES))
    assert draw.names == sim.variables(list(VALUES))
    numbers = torch.cat([t.detach().reshape(-1) for t in given.values()]).to(dtype).requires_grad_()
    weight = torch.linspace(-1, 2, 576).reshape(24, 24)
    for sign in (1, -1):  # the second round uses the renderer again
        numbers.grad = None
        image = draw(numbers)
        assert torch.equal(image, render(nanobragg.Simulation(**SMALL), **given))
        (sign * image * weight).sum().backward()
        g = nanobragg.Simulation(**SMALL).pullback(sign * weight, list(VALUES))
        assert numbers.grad.dtype == dtype
        assert numbers.grad.numpy() == pytest.approx(list(g.values()), rel=1e-6 if dtype == torch.float32 else 1e-12)
    assert not draw(numbers.detach()).requires_grad


def test_renderer_refuses():
    sim = nanobragg.Simulation(**SMALL)
    draw = Renderer(sim, "misset")
    for bad in (torch.zeros(2), torch.zeros(3, 1), torch.zeros(3, dtype=torch.int64)):
        with pytest.raises(ValueError, match="values: must be 3 floating-point numbers"):
            draw(bad)
    with pytest.raises(ValueError, match="misst"):
        Renderer(sim, "misst")
    misset = tensors(names=["misset"])["misset"]
    image = draw(misset)
    first, = torch.autograd.grad((image ** 2).sum(), misset, create_graph=True)
    with pytest.raises(NotImplementedError, match="double backward"):
        first.sum().backward()
    sim.set(distance=90)
    with pytest.raises(RuntimeError, match="render it again"):
        image.sum().backward()


def test_renderer_gradcheck():
    draw = Renderer(nanobragg.Simulation(**SMALL, precision="double"), "misset,distance")
    values = torch.tensor([10, 20, 30, 100.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(draw, values, eps=1e-5, atol=1e-6, rtol=1e-5)


def test_only_what_requires_a_gradient_has_one():
    sim = nanobragg.Simulation(**SMALL)
    given = tensors()
    given["cell"].requires_grad_(False)
    render(sim, **given, fluence=5e25).sum().backward()
    assert given["cell"].grad is None and given["misset"].grad.abs().sum() > 0
    assert torch.is_tensor(given["N"].grad)


def test_double_backward_raises():
    sim = nanobragg.Simulation(**SMALL)
    misset = tensors(names=["misset"])["misset"]
    image = render(sim, misset=misset)
    first, = torch.autograd.grad((image ** 2).sum(), misset, create_graph=True)
    with pytest.raises(NotImplementedError, match="double backward"):
        first.sum().backward()


@pytest.mark.parametrize("draw", [lambda sim, m: render(sim, misset=m), lambda sim, m: Renderer(sim, "misset")(m)])
def test_double_backward_of_a_linear_loss_raises(draw):
    misset = tensors(names=["misset"])["misset"]
    first, = torch.autograd.grad(draw(nanobragg.Simulation(**SMALL), misset).sum(), misset, create_graph=True)
    with pytest.raises(NotImplementedError, match="double backward"):
        ((first ** 2).sum() + misset.sum()).backward()


def test_two_images_in_one_graph():
    sim = nanobragg.Simulation(**SMALL)
    a = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    loss = 0
    for weight, angle in ((1.0, 0.0), (-2.0, 0.3)):
        misset = torch.stack([10 + a + angle, torch.tensor(20.0), torch.tensor(30.0)])
        loss = loss + weight * (render(sim, misset=misset) ** 2).sum()
    loss.backward()
    want = 0
    for weight, angle in ((1.0, 0.0), (-2.0, 0.3)):
        one = nanobragg.Simulation(**{**SMALL, "misset": (10 + angle, 20, 30)})
        want += weight * one.pullback(2 * one.render(), ["misset_x"])["misset_x"]
    assert float(a.grad) == pytest.approx(want, rel=1e-6)
    assert sim.parameter("misset_x")["value"] == pytest.approx(10.3)


def test_a_changed_simulation_is_found():
    sim = nanobragg.Simulation(**SMALL)
    misset = tensors(names=["misset"])["misset"]
    image = render(sim, misset=misset)
    sim.set(distance=90)
    with pytest.raises(RuntimeError, match="render it again"):
        image.sum().backward()
    render(sim, misset=misset).sum().backward()


def test_errors():
    sim = nanobragg.Simulation(**SMALL)
    with pytest.raises(TypeError, match="misset"):
        render(sim, misst=torch.zeros(3))
    with pytest.raises(ValueError, match="misset: needs 3 numbers"):
        render(sim, misset=torch.zeros(2))
    with pytest.raises(TypeError, match="floating point"):
        render(sim, misset=torch.zeros(3, dtype=torch.int32))
    with pytest.raises(ValueError):
        render(sim, distance=torch.tensor(-1.0))
    with pytest.raises(ValueError, match="not finite"):
        (render(sim, **tensors()) * float("nan")).sum().backward()
    assert render(sim, **tensors()).sum() > 0


def test_images_are_freed():
    sim = nanobragg.Simulation(**SMALL)
    addresses = set()
    for _ in range(10):
        misset = tensors(names=["misset"])["misset"]
        image = render(sim, misset=misset)
        addresses.add(image.data_ptr())
        (image ** 2).sum().backward()
        del image
    assert len(addresses) <= 4


def test_torch_is_imported_by_nobody_else():
    done = subprocess.run([sys.executable, "-c", "import sys, nanobragg, nanobragg.selftest\n"
                           "assert 'torch' not in sys.modules"], check=False)
    assert done.returncode == 0
