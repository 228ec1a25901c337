# SPDX-License-Identifier: MIT
"""Pages about Python: the blocks of each page run in order, in one folder, and tables
name parameters that exist."""
import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import nanobragg

BIG = "NB_BIG" in os.environ
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def page(name):
    with open(os.path.join(SOURCE, "docs", name), encoding="utf-8") as file:
        return file.read()


def run_blocks(name, folder, monkeypatch, kind="python", shorter=lambda block: block):
    blocks = list(map(shorter, re.findall(rf"^```{kind}\n(.*?)^```", page(name), re.S | re.M)))
    os.symlink(os.path.join(SOURCE, "golden_data"), folder / "golden_data")
    monkeypatch.chdir(folder)
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/{name} block {number}", "exec"), names)
    return len(blocks), names


def of_two_stills(block):
    """The joint refinement of the page, of two of its eight stills."""
    return block if BIG else block.replace("stills=8", "stills=2").replace("(8, 3)", "(2, 3)").replace("range(8)", "range(2)")


def of_one_angle(block):
    """The loop of the README over three orientations, of one of them."""
    return block if BIG else block.replace("in 0, 30, 60:", "in (0,):")


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    blocks, names = run_blocks("python.md", tmp_path, monkeypatch, shorter=of_two_stills)
    assert blocks >= 4 and names["strong"].size > 0
    off, sigma = names["off"], names["sigma"]  # errors of the joint refinement
    assert np.sqrt(np.mean(off ** 2)) < 2 and (sigma < 0.02 * (1 if BIG else (8 / 2) ** 0.5)).all(), (off, sigma)


def test_block_of_the_readme_runs(tmp_path, monkeypatch):
    blocks, names = run_blocks("../README.md", tmp_path, monkeypatch, shorter=of_one_angle)
    assert blocks == 1 and names["photons"].sum() > 1e6 and (tmp_path / "last.png").stat().st_size


def test_no_block_is_left_out():
    kinds = re.findall(r"^```(.*)\n", page("python.md"), re.M)[::2]
    assert set(kinds) == {"sh", "python", "python torch"} and len(kinds) >= 8


def test_block_of_torch_runs(tmp_path, monkeypatch):
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed")
    text = page("python.md")
    autograd = importlib.import_module("torch").autograd
    if not hasattr(autograd, "set_multithreading_enabled"):  # torch before 2.0
        monkeypatch.setattr(autograd, "set_multithreading_enabled", contextlib.nullcontext, raising=False)
    monkeypatch.setattr(__import__("builtins"), "nanobragg", nanobragg, raising=False)  # nanobragg, as if an earlier block had imported it
    blocks, names = run_blocks("python.md", tmp_path, monkeypatch, "python torch")
    assert blocks == text.count("```python torch") == 5
    assert [pictures.shape for pictures, _ in names["batches"]] == [(4, 64, 64)] * 2 and names["batches"][0][0].max() > 40
    assert abs(names["misset"].detach().numpy() - (10, 20, 30)).max() < 0.03


def without_torch():
    """A module in place of torch with the names that the page's Dataset needs."""
    fake = types.ModuleType("torch")
    fake.from_numpy = lambda array: array
    fake.utils = types.SimpleNamespace(data=types.SimpleNamespace(Dataset=object))
    return fake


def test_page_of_training_sets(tmp_path, monkeypatch):
    """The page's command, for 5 frames, makes a series that its Dataset reads; without
    torch it returns numpy arrays."""
    if "NB_ALONE" not in os.environ:
        # run in a separate process, because a process that loads bitshuffle's library
        # flushes denormal numbers to zero
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
                               f"{__file__}::test_page_of_training_sets"], env={**os.environ, "NB_ALONE": "1"},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        if "1 skipped" in done.stdout:
            pytest.skip(done.stdout.split("SKIPPED", 1)[-1].strip().splitlines()[0])
        return
    h5py = pytest.importorskip("h5py")
    if not h5py.h5z.filter_avail(32008):
        pytest.skip("h5py has no plugin for bitshuffle and LZ4")
    if not importlib.util.find_spec("torch"):
        monkeypatch.setitem(sys.modules, "torch", without_torch())
    command, = re.findall(r"^```sh\n(.*?)^```", page("training.md"), re.S | re.M)
    assert "-stills 10000 " in command
    os.symlink(os.path.join(SOURCE, "golden_data"), tmp_path / "golden_data")
    path = os.path.dirname(os.environ["NANOBRAGG"]) + os.pathsep + os.environ["PATH"]
    subprocess.run(["bash", "-ec", command.replace("-stills 10000 ", "-stills 5 -device cpu ")], cwd=tmp_path, check=True,
                   capture_output=True, env={**os.environ, "PATH": path})
    os.remove(tmp_path / "golden_data")
    blocks, names = run_blocks("training.md", tmp_path, monkeypatch)
    frames = names["frames"]
    samples = [frames[k] for k in range(len(frames))]
    assert blocks == 1 and len(samples) == 5 and len({sample["crystals"] for sample in samples}) > 2
    for sample in samples:
        image, spots = np.asarray(sample["image"]), np.asarray(sample["spots"])
        assert image.shape == (1065, 1030) and len(sample["U"]) == sample["crystals"] and (len(spots) > 0) == (sample["crystals"] > 0)
        bright = spots[spots[:, 2] > 200]
        inside = (bright[:, 0] > 1) & (bright[:, 0] < 1028) & (bright[:, 1] > 1) & (bright[:, 1] < 1063)
        for fast, slow, photons in bright[inside]:  # light is where the truth has the spot
            around = image[int(slow) - 1:int(slow) + 2, int(fast) - 1:int(fast) + 2]
            assert around.sum() > 0.2 * photons, (fast, slow, photons, around)


def test_frames_go_to_a_spawned_worker(tmp_path):
    """The page's Dataset works in spawned processes if the parent has read a frame."""
    pytest.importorskip("torch", reason="torch is not installed")
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    nanobragg.run_series(dict(cell=70, default_F=100, N=5, detpixels=64, pixel=1, fluence=1e25, oversample=1, crystals=2),
                         stills=4, orientations="random", spectrum="sase", bandwidth=0.2, pulse_length=10, wavelengths=4, beamsize=0.1,
                         hdf5=tmp_path / "train.h5", truth="spots", compress="none")
    block, = re.findall(r"^```python\n(.*?)^```", page("training.md"), re.S | re.M)
    (tmp_path / "page.py").write_text(block)
    (tmp_path / "main.py").write_text(
        "from torch.utils.data import DataLoader\nfrom page import frames, sample\nif __name__ == '__main__':\n"
        "    loader = DataLoader(frames, batch_size=None, num_workers=1, multiprocessing_context='spawn')\n"
        "    print([int(one['image'].sum()) for one in loader])\n")
    done = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "train.h5") as file:
        assert done.stdout.split() == str(file["/entry/data/data"][:].sum(axis=(1, 2)).tolist()).split()


def test_page_for_those_who_come_from_other_programs(tmp_path, monkeypatch):
    blocks, names = run_blocks("coming-from.md", tmp_path, monkeypatch)
    assert blocks == 1 and names["counts"].max() > 0
    known = {word for row in nanobragg.parameters().values()
             for word in [row["name"], *row["synonyms"].split()]} | {"A", "sources", "nanobragg"}
    found = 0
    for line in page("coming-from.md").splitlines():
        cells = line.split(" | ")
        if len(cells) < 2 or not line.startswith("| `"):
            continue
        for word in re.findall(r"(?:^|[`, ])(\w+)=", cells[1]):
            assert word in known, line
            found += 1
        for word in re.findall(r"`-(\w+)", cells[1]):
            assert word in known, line
            found += 1
    assert found > 60
