# SPDX-License-Identifier: MIT
"""A test for each rule of docs/python.md."""
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import nanobragg
from nanobragg import _nanobragg

PROGRAM = os.environ["NANOBRAGG"]
SMALL = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0,
             distance=100, detpixels=64, misset=(10, 20, 30), fluence=1e26, seed=3)
FLAGS = ("-cell 79.1 79.1 37.9 90 90 90 -N 8 -default_F 100 -lambda 1 -distance 100 -detpixels 64 "
         "-misset 10 20 30 -fluence 1e26 -seed 3").split()


def program(folder, *flags):
    return subprocess.run([PROGRAM, *FLAGS, *flags], cwd=folder, capture_output=True, text=True,
                          check=False)


@pytest.mark.parametrize("device", [dict(isa="scalar"), dict(), dict(precision="double"),
                                    dict(threads=1)])
def test_image_is_the_programs_float_file(tmp_path, device):
    flags = [w for k, v in device.items() for w in (f"-{k}", str(v))]
    assert program(tmp_path, *flags, "-floatfile", "f.bin", "-noisefile", "n.img").returncode == 0
    sim = nanobragg.Simulation(**SMALL, **device)
    image = sim.render()
    assert image.tobytes() == (tmp_path / "f.bin").read_bytes()
    noise = (tmp_path / "n.img").read_bytes()[-64 * 64 * 2:]
    assert sim.noise().astype("<u2").tobytes() == noise


def test_unknown_keyword_names_the_nearest():
    with pytest.raises(TypeError, match="did you mean 'distance'"):
        nanobragg.Simulation(**SMALL, distanze=3)


def test_bad_value_says_what_the_program_says(tmp_path):
    done = program(tmp_path, "-distance", "-3")
    with pytest.raises(ValueError) as error:
        nanobragg.Simulation(**{**SMALL, "distance": -3})
    assert done.returncode == 2 and str(error.value) in done.stderr


def test_missing_file_is_an_os_error():
    with pytest.raises(OSError, match="nosuch.hkl"):
        nanobragg.Simulation(**{**SMALL, "hkl": "nosuch.hkl"})


def test_failed_write_and_noise_change_nothing(tmp_path):
    sim = nanobragg.Simulation(**SMALL)
    image, noise, config = sim.render().copy(), sim.noise(), sim.config
    with pytest.raises((OSError, ValueError), match="nosuch"):
        sim.write(noisefile=tmp_path / "nosuch" / "a.img", scale=3)
    with pytest.raises(ValueError, match="shape"):
        sim.noise(np.zeros((2, 2)), seed=77)
    assert not list(tmp_path.iterdir()) and sim.config == config and sim.get("scale") == "0"
    assert np.array_equal(sim.render(), image) and np.array_equal(sim.noise(), noise)


def test_files_stay_loaded(tmp_path):
    path = tmp_path / "a.hkl"
    path.write_text("".join(f"{h} {k} {l} {100 + h}\n" for h in range(-9, 10)
                            for k in range(-9, 10) for l in range(-5, 6)))
    sim = nanobragg.Simulation(**{**SMALL, "hkl": path})
    path.unlink()
    sim.set(misset=(1, 2, 3))
    assert sim.render().sum() > 0
    assert not (tmp_path / "Fdump.bin").exists() and not os.path.exists("Fdump.bin")


def test_arrays_in_place_of_files(tmp_path):
    h = np.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10) for l in range(-5, 6)])
    F = 50 + np.arange(len(h)) % 97 + 0.125
    text = tmp_path / "a.hkl"
    text.write_text("".join(f"{a} {b} {c} {f!r}\n" for (a, b, c), f in zip(h.tolist(), F.tolist())))
    mask = np.ones((64, 64), dtype=bool)
    mask[10:20, 5:50] = False
    sim = nanobragg.Simulation(**{**SMALL, "hkl": (h, F)}, mask=mask)
    image = sim.render()
    whole = nanobragg.Simulation(**{**SMALL, "hkl": text}).render()
    assert np.array_equal(image[mask], whole[mask]) and not image[~mask].any()
    turned = nanobragg.Simulation(**{**SMALL, "hkl": (h, F * np.exp(1j * h[:, 0]))}).render()
    assert np.allclose(turned, whole, rtol=1e-6, atol=0)  # complex F act as |F|
    with pytest.raises(TypeError, match="real"):
        nanobragg.Simulation(**SMALL, sources=([1.0, 1.02j], [1, 3]))


def test_sources_in_memory():
    sim = nanobragg.Simulation(**SMALL, sources=([1.0, 1.02], [1, 3]))
    assert len(sim.config["beam"]["sources"]) == 2 if isinstance(
        sim.config["beam"].get("sources"), list) else sim.render().sum() > 0
    with pytest.raises(ValueError, match="sources"):
        nanobragg.Simulation(**SMALL, sources=([1.0, 1.02], [1]))


def test_sources_of_five_columns(tmp_path):
    rows = np.array([[-10.0, 0.0, 0.0, 1.0, 1e-10], [-10.0, 0.01, 0.0, 2.0, 1.01e-10]])
    np.savetxt(tmp_path / "s.txt", rows, fmt="%.17g")
    images = [nanobragg.Simulation(**SMALL, sources=given).render()
              for given in (rows, tmp_path / "s.txt", (rows[:, 4] * 1e10, rows[:, 3]))]
    assert np.array_equal(images[0], images[1]) and not np.array_equal(images[0], images[2])
    with pytest.raises(ValueError, match="sources"):
        nanobragg.Simulation(**SMALL, sources=rows[:, :4])


def test_matrix_and_masks(tmp_path):
    matrix = np.diag([1 / 79.1, 1 / 79.1, 1 / 37.9])
    np.savetxt(tmp_path / "a.mat", matrix, fmt="%.17g")
    base = {k: v for k, v in SMALL.items() if k != "cell"}
    images = [nanobragg.Simulation(**base, **{name: given}).render()
              for name, given in (("matrix", matrix), ("matrix", matrix.tolist()), ("mat", tmp_path / "a.mat"))]
    assert np.array_equal(images[0], images[1]) and np.array_equal(images[0], images[2])
    with pytest.raises(ValueError, match="matrix"):
        nanobragg.Simulation(**base, matrix=[[1, 0], [0, 1]])
    mask = np.ones((64, 64), dtype=np.uint8)
    mask[20:30] = 0
    image = nanobragg.Simulation(**SMALL, mask=mask).render()
    assert not image[20:30].any() and image[:20].any()
    for bad in (mask.astype(float), mask[0], mask[:5]):
        with pytest.raises(ValueError, match="mask"):
            nanobragg.Simulation(**SMALL, mask=bad)


@pytest.mark.parametrize("value", [([[1, 2]], [3.0]), ([[1, 2, 3]], [3.0, 4.0]),
                                   ([[1.5, 2, 3]], [3.0])])
def test_bad_reflections(value):
    with pytest.raises(ValueError, match="hkl"):
        nanobragg.Simulation(**{**SMALL, "hkl": (np.array(value[0]), value[1])})


@pytest.mark.parametrize("out", [np.empty((64, 64)), np.empty((64, 63), np.float32),
                                 np.empty((64, 128), np.float32)[:, ::2], [1, 2]])
def test_bad_out(out):
    with pytest.raises(ValueError, match="out"):
        nanobragg.Simulation(**SMALL).render(out=out)


def test_read_only_out():
    out = np.zeros((64, 64), np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        nanobragg.Simulation(**SMALL).render(out=out)


def test_out_is_filled_in_place():
    sim = nanobragg.Simulation(**SMALL)
    out = np.full((64, 64), np.nan, np.float32)
    assert sim.render(out=out) is out and np.array_equal(out, sim.render())


def test_statistics():
    image, stats = nanobragg.Simulation(**SMALL).render(statistics=True)
    assert stats["sum"] == pytest.approx(image.sum(dtype=float), rel=1e-6)
    assert image[stats["max_slow"], stats["max_fast"]] == image.max()


def test_counts_of_32_bits(tmp_path):
    nanobragg.run_series(SMALL, frames=1, hdf5=str(tmp_path / "a_master.h5"), hdf5type="int32")
    sim = nanobragg.Simulation(**SMALL)
    counts = sim.noise(dtype=np.int32)
    assert counts.dtype == np.int32 and np.array_equal(counts, nanobragg.read_image(tmp_path / "a_master.h5", frame=0))
    small = sim.noise()
    assert np.array_equal(counts + 40, small)  # 40: default offset of 16-bit files
    bright = nanobragg.Simulation(**{**SMALL, "fluence": 1e31})
    assert bright.noise(dtype="int32").max() > 65535 and bright.noise().max() == 65535
    with pytest.raises(ValueError, match="uint16 or int32"):
        sim.noise(dtype=float)


NOISE = dict(flicker=1, calibration=3, gain=2.5, readout_noise=3, psf="gauss", psf_fwhm=150, saturation=900,
             deadtime=100, exposure=1)


def test_noise_of_a_detector_is_the_programs(tmp_path):
    flags = [word for name, value in NOISE.items() for word in ("-" + name, str(value))]
    done = program(tmp_path, *flags, "-noisefile", "n.img")
    assert done.returncode == 0, done.stderr
    counts = nanobragg.Simulation(**SMALL, **NOISE).noise()
    assert counts.astype("<u2").tobytes() == (tmp_path / "n.img").read_bytes()[-64 * 64 * 2:]


def test_panels_are_views():
    detector = os.path.join(os.path.dirname(__file__), "..", "..", "golden_data", "detectors", "geom", "quad.geom")
    sim = nanobragg.Simulation(**{k: v for k, v in SMALL.items() if k not in ("detpixels", "distance")}, geom=detector)
    image = sim.render()
    panels = sim.panels(image)
    assert len(panels) == len(sim.panel_names) > 1 and len(set(sim.panel_names)) == len(panels)
    assert np.array_equal(np.concatenate([p.ravel() for p in panels]), image.ravel())
    assert all(p.ndim == 2 and np.shares_memory(p, image) for p in panels)
    assert panels[0]._repr_png_().startswith(b"\x89PNG")
    one = nanobragg.Simulation(**SMALL)
    assert one.panels(one.render())[0].shape == (64, 64)
    with pytest.raises(ValueError, match="shape"):
        one.panels(np.zeros((3, 3)))


def test_reflections():
    sim = nanobragg.Simulation(**SMALL)
    image = sim.render()
    spots = sim.reflections(image)
    assert len(spots) > 3 and 0.5 < spots["intensity"].sum() / image.sum() < 1.0001
    assert spots.dtype.names[:4] == ("frame", "h", "k", "l")
    rest = spots.dtype.metadata["background"] + spots.dtype.metadata["unassigned"]
    assert rest > 0 and spots["intensity"].sum() + rest == pytest.approx(image.sum(dtype=float), rel=1e-6)


def test_written_files_are_the_programs(tmp_path):
    program(tmp_path, "-noisefile", "n.img", "-tifffile", "t.tif")
    sim = nanobragg.Simulation(**SMALL)
    sim.write(noisefile=tmp_path / "mine.img", floatfile=tmp_path / "mine.bin")
    assert (tmp_path / "mine.img").read_bytes() == (tmp_path / "n.img").read_bytes()
    assert (tmp_path / "mine.bin").read_bytes() == (tmp_path / "floatimage.bin").read_bytes()
    assert sim.get("noisefile") == nanobragg.Simulation(**SMALL).get("noisefile")


def test_read_and_compare(tmp_path):
    sim = nanobragg.Simulation(**SMALL)
    sim.write(floatfile=tmp_path / "a.bin", noisefile=tmp_path / "a.img")
    a = nanobragg.read_image(tmp_path / "a.bin")
    assert np.array_equal(a, sim.render()) and a.format == "float"
    b = nanobragg.read_image(tmp_path / "a.img")
    assert b.format == "SMV" and b.shape == (64, 64)
    difference = nanobragg.compare(2 * a, a)
    assert difference.correlation == pytest.approx(1) and difference.sum_ratio == pytest.approx(2)
    with pytest.raises(ValueError):
        nanobragg.compare(a, a[:32])
    with pytest.raises(OSError):
        nanobragg.read_image(tmp_path / "none.img")


def test_picture():
    assert nanobragg.Simulation(**SMALL).render()._repr_png_().startswith(b"\x89PNG")


def test_picture_of_a_simulation():
    sim = nanobragg.Simulation(**SMALL)
    before = sim.render()
    dark = sim._repr_png_()
    assert dark.startswith(b"\x89PNG")
    sim.set(detpixels=30)
    assert sim._repr_png_() != dark and before.shape != sim.shape


def test_page(tmp_path):
    sim = nanobragg.Simulation(**SMALL)
    image = sim.render()
    alone = nanobragg.page(image)
    assert alone.startswith("<!doctype html>") and alone.count('"pixels":') == 1
    assert "&lt;!doctype html" in alone._repr_html_() and alone._repr_html_().startswith("<iframe srcdoc=")
    both = nanobragg.page([image, 2 * image], tmp_path / "two.html", names=["a", "b"])
    assert (tmp_path / "two.html").read_text(encoding="utf-8") == both and both.count('"pixels":') == 2
    assert '"name":\t"b"' in both or '"name":"b"' in both
    whole = nanobragg.page(sim)
    assert "wavelength" in whole and '"report":' in whole and "beam      wavelength" in whole
    for wrong in ([image, image[1:]], image[0], [], [image] * 5):
        with pytest.raises(ValueError):
            nanobragg.page(wrong)
    with pytest.raises(ValueError, match=".html"):
        nanobragg.page(image, tmp_path / "page.png")
    assert [file.name for file in tmp_path.iterdir()] == ["two.html"]


def test_texts_with_nul_are_refused(tmp_path):
    sim = nanobragg.Simulation(**SMALL)
    for use in (lambda: sim.set(floatfile="a\0b"), lambda: nanobragg.Simulation(**{**SMALL, "hkl": "a\0b"}),
                lambda: sim.parameter("distance\0x"), lambda: sim.variables("distance\0x"),
                lambda: sim.set_parameters({"distance\0x": 90}), lambda: sim.write(floatfile=f"{tmp_path}/a\0b")):
        with pytest.raises(ValueError, match="null character"):
            use()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_images_that_are_not_finite_are_refused(bad, tmp_path):
    sim = nanobragg.Simulation(**SMALL)
    image = sim.render().copy()
    image[3, 5] = bad
    for use in (sim.noise, sim.integers, sim.reflections, lambda x: sim.write(x, floatfile=tmp_path / "a.bin")):
        with pytest.raises(ValueError, match=r"pixel \(3, 5\) \(slow, fast\) is"):
            use(image)


@pytest.mark.parametrize("fluence", [0, 1e-320, 1e-300])
def test_no_slope_by_a_fluence_of_zero(fluence):
    sim = nanobragg.Simulation(**{**SMALL, "fluence": fluence})
    for use in (sim.derivatives, lambda names: sim.pullback(np.ones(sim.shape), names)):
        with pytest.raises(ValueError, match="fluence"):
            use(["fluence"])
        assert all(np.isfinite(x).all() for x in use(["misset", "distance"]).values())
    sim.set_parameters({"fluence": 1e20})
    assert np.isfinite(sim.derivatives(["fluence"])["fluence"]).all()


def test_fork_after_a_render():
    sim = nanobragg.Simulation(**SMALL, threads=2)

    def sums():
        fresh = nanobragg.Simulation(**SMALL, threads=3)
        return [float(one.render().sum()) for one in (sim, fresh)] + [float(fresh.noise().sum())]

    want, context = sums(), multiprocessing.get_context("fork")
    answers = context.Queue()
    children = [context.Process(target=lambda: answers.put(sums()), daemon=True) for _ in range(2)]
    for child in children:
        child.start()
    assert [answers.get() for _ in children] == [want] * 2
    assert sums() == want


def test_one_object_in_two_threads_raises():
    sim = nanobragg.Simulation(**{**SMALL, "detpixels": 400, "isa": "scalar", "threads": 1})
    errors, started, asked = [], threading.Event(), threading.Event()

    def wait(_):  # the render goes on when the calls of the other thread are over
        started.set()
        asked.wait()

    def render():
        try:
            sim.render(progress=wait)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=render)
    thread.start()
    started.wait()
    with pytest.raises(RuntimeError, match="another thread"):
        sim.render()
    assert "400 x 400" in repr(sim) and sim.shape == (400, 400) and sim.seed == 3  # these values need no lock
    asked.set()
    thread.join()
    assert not errors and sim.render().sum() > 0


def test_many_objects_at_once():
    reference = nanobragg.Simulation(**SMALL).render()
    results = []

    def render():
        results.append(np.array_equal(nanobragg.Simulation(**SMALL).render(), reference))

    threads = [threading.Thread(target=render) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 8


def test_progress_and_its_errors():
    sim = nanobragg.Simulation(**SMALL)
    seen = []
    sim.render(progress=seen.append)
    assert seen and seen[-1] == 1 and seen == sorted(seen)

    def fail(fraction):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sim.render(progress=fail)
    assert sim.render().sum() > 0


@pytest.mark.parametrize("bar", ["tqdm", "own"])
def test_bar(bar, monkeypatch, capfd):
    if bar == "own":
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    else:
        pytest.importorskip("tqdm", reason="tqdm is not installed")
    sim = nanobragg.Simulation(**SMALL)
    assert np.array_equal(sim.render(progress=True), sim.render())
    assert ("100%" in capfd.readouterr().err) == (bar == "tqdm")  # the program's line needs a terminal


def test_features_and_memory_errors():
    assert set(nanobragg.features()) >= {"OpenMP", "CUDA", "libpng"}
    with pytest.raises((NotImplementedError, nanobragg.DeviceError), match="cuda"):
        if nanobragg.features()["CUDA"] is None:
            nanobragg.Simulation(**SMALL, device="cuda")
        else:
            nanobragg.Simulation(**SMALL, device="cuda:99").render()
    assert issubclass(nanobragg.DeviceError, RuntimeError)
    with pytest.raises((MemoryError, ValueError)):
        nanobragg.Simulation(**{**SMALL, "detpixels": 2000000}).render()


CTRL_C = """
import os, signal, threading, time, nanobragg
sim = nanobragg.Simulation(cell=100, N=8, default_F=100, detpixels=1000, isa="scalar", threads=1,
                           mosaic=0.5, mosaic_domains=4000, misset=(1, 2, 3))  # a row takes seconds
t = []
def strike():
    time.sleep(0.5)
    t.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=strike).start()
try:
    sim.render()
except KeyboardInterrupt:
    late = time.process_time() - t[0]
    sim.set(detpixels=16)
    print("usable", sim.render().shape, late)
    assert late < 1  # of processor time; 0.05 s is usual
"""


def run(code, **kwargs):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, **kwargs)


def test_ctrl_c():
    done = run(CTRL_C)
    assert "usable (16, 16)" in done.stdout, done.stderr


def test_fork_and_exit_with_live_objects():
    done = run("import os, nanobragg\n"
               "sim = nanobragg.Simulation(cell=100, N=5, default_F=9, detpixels=32, threads=1)\n"
               "sim.render()\n"
               "pid = os.fork()\n"
               "if pid == 0:\n"
               "    sim.render(); os._exit(0)\n"
               "print('child', os.waitpid(pid, 0)[1])")
    assert done.returncode == 0 and "child 0" in done.stdout, done.stderr


def test_series(tmp_path):
    result = nanobragg.run_series(SMALL, frames=3, osc=0.5, output=str(tmp_path / "f_%03d.img"))
    assert result["done"] == 3 and len(list(tmp_path.glob("f_*.img"))) == 3
    with pytest.raises(TypeError):
        nanobragg.run_series(SMALL, framez=3)
    with pytest.raises(ValueError):
        nanobragg.run_series(SMALL, frames=-3, output=str(tmp_path / "g_%03d.img"))


def test_noise_of_files(tmp_path):
    """noise() of a file makes the same counts as Simulation.noise()."""
    sim = nanobragg.Simulation(**{**SMALL, "seed": 5}, precision="double", gain=1.5, readout_noise=2)
    image = sim.render()
    image.tofile(tmp_path / "f.bin")
    slow, fast = image.shape
    result = nanobragg.noise(tmp_path / "f.bin", tmp_path / "f.h5", size=(fast, slow), seed=5, gain=1.5,
                             readout_noise=2, hdf5type="int32")
    assert result["done"] == 1 and result["seed"] == 5
    counts = nanobragg.read_image(tmp_path / "f.h5")
    assert np.array_equal(counts, sim.noise(image, dtype=np.int32))
    nanobragg.noise(tmp_path / "f.bin", tmp_path / "twice.bin", size=(fast, slow), unit=2)
    assert np.array_equal(np.fromfile(tmp_path / "twice.bin", np.float32), 2 * image.ravel())
    with pytest.raises(ValueError, match="size"):
        nanobragg.noise(tmp_path / "f.bin", tmp_path / "g.img", size=(fast, slow + 1))
    with pytest.raises(ValueError, match="fluence"):
        nanobragg.noise(tmp_path / "f.bin", tmp_path / "g.img", size=(fast, slow), background="water:1", distance=100,
                        pixel=0.1, wavelength=1)
    assert not (tmp_path / "g.img").exists()


def test_series_stops(tmp_path):
    seen = []

    def stop(fraction):
        seen.append(fraction)
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        nanobragg.run_series(SMALL, frames=50, osc=0.5, output=str(tmp_path / "f_%03d.img"),
                             progress=stop)
    assert len(seen) < 50


def test_repr_and_table():
    sim = nanobragg.Simulation(**SMALL)
    assert "64 x 64" in repr(sim) and "\n" not in repr(sim)
    table = nanobragg.parameters()
    assert table["distance"]["unit"] == "mm" and "wavelength" in table["lambda"]["synonyms"]
    assert len(table) > 150 and all(not p["flags"] & _nanobragg.INNER for p in table.values())


def test_crystals_have_numbers_of_their_own(tmp_path):
    """crystals= takes a list of dicts, for which a later set() gives defaults; mosaic
    blocks may be an array; a series draws values of each crystal."""
    base = dict(cell=(30, 40, 50), default_F=100, N=6, detpixels=32, pixel=3, distance=100, seed=5, device="cpu", fluence=1e28, oversample=1)
    lines = [{"N": 4}, {"misset": (1, 2, 3), "gauss_xtal": True}]
    sim = nanobragg.Simulation(**base, crystals=lines)
    first = np.array(sim.render())
    sim.set(N=7)
    again = nanobragg.Simulation(**{**base, "N": 7}, crystals=lines)
    assert (sim.render() == again.render()).all() and (first != again.render()).any()
    assert sorted(set(sim.reflections()["crystal"])) == [0, 1]
    assert sim.derivatives(["N_a"])["N_a"].any()
    blocks = nanobragg.Simulation(**base, mosaic_blocks=[[0, 0, 0, 1], [1, 0, 0, 3]]).render()
    parts = [np.asarray(nanobragg.Simulation(**base, misset=(x, 0, 0)).render(), float) for x in (0, 1)]
    assert np.abs(blocks - parts[0] / 4 - parts[1] * 3 / 4).max() <= 1e-6 * blocks.max()
    table = nanobragg.draws(base, stills=3, vary={"N": ("uniform", 5, 9), "crystals": ("poisson", 1)})
    assert table.dtype.names == ("frame", "crystal", "seed", "N", "crystals") and set(table["frame"]) == {0, 1, 2}
    with pytest.raises(TypeError, match="vary: N needs a law and its numbers"):
        nanobragg.draws(base, stills=3, vary={"N": 5})
