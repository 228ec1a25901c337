# SPDX-License-Identifier: MIT
"""docs/examples: the script finds the orientation, and all cells of the notebook run."""
import importlib.util
import os
import subprocess
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "examples")


def missing(*modules):
    return [m for m in modules if not importlib.util.find_spec(m)]


def test_orientation_is_recovered(tmp_path, monkeypatch, capsys):
    if missing("scipy"):
        pytest.skip("scipy is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    import recover_orientation as example

    assert example.off_by(example.matrix(example.angles(example.turned(example.TRUTH, example.OFF)))) > 0.29
    ways = example.main(str(tmp_path))
    assert set(ways) == {"least squares (scipy)", "nanobragg refine"} | (
        set() if missing("torch") else {"Adam (PyTorch)"})
    for name, points in ways.items():
        assert points[-1][1] < 0.01, (name, points[-1])
    assert (tmp_path / "recover_orientation.png").exists() or missing("matplotlib")
    assert "0.2988 degrees off" in capsys.readouterr().out


def test_adam_is_part_of_it():
    if missing("torch"):
        pytest.skip("torch is not installed: the example ran without Adam")


def test_notebook(tmp_path):
    absent = missing("nbconvert", "ipykernel", "scipy")
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                           "--output-dir", str(tmp_path), os.path.join(EXAMPLES, "recover_orientation.ipynb")],
                          env={**os.environ, "NANOBRAGG_EXAMPLES": EXAMPLES}, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    text = (tmp_path / "recover_orientation.ipynb").read_text()
    assert text.count('"image/png"') >= (2 if missing("matplotlib") else 3)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_network_learns_from_a_data_loader(start, monkeypatch):
    if missing("torch"):
        pytest.skip("torch is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([EXAMPLES, os.environ.get("PYTHONPATH", "")]))
    import train_on_frames as example

    if start == "spawn":  # spawn makes the same frames as fork, so a few frames are enough
        loader = example.DataLoader(example.Frames(4), batch_size=2, num_workers=1, multiprocessing_context="spawn")
        here = [example.Frames(4)[i][0] for i in range(4)]
        assert all((a == b).all() for a, b in zip(here, (x for frames, _ in loader for x in frames)))
        return
    if "NB_BIG" not in os.environ:
        monkeypatch.setattr(example, "SIZE", 16)
    before, after = example.train(*((128, 2) if "NB_BIG" in os.environ else (48, 1)), start)
    assert after < 0.5 * before
