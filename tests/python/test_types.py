# SPDX-License-Identifier: MIT
"""The type stub describes the package, and the self-test passes."""
import ast
import importlib.util
import inspect
import os
import pydoc
import subprocess
import sys

import pytest

import nanobragg

PACKAGE = os.path.dirname(nanobragg.__file__)
STUB = os.path.join(PACKAGE, "__init__.pyi")


def stub():
    with open(STUB, encoding="utf-8") as text:
        return ast.parse(text.read())


def keys(name):
    """{keyword: its docstring} of a TypedDict of the stub."""
    node = next(n for n in stub().body if name in (getattr(n, "name", ""), *(t.id for t in getattr(n, "targets", ()))))
    if isinstance(node, ast.Assign):
        return {key.value: "" for key in node.value.args[1].keys}
    members = zip(node.body[::2], node.body[1::2])
    return {**(keys(node.bases[0].id) if node.bases[0].id != "TypedDict" else {}), **{m.target.id: text.value.value for m, text in members}}


def test_stub_has_every_public_name():
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))
    nodes = {getattr(node, "name", None) or getattr(getattr(node, "target", None) or getattr(node, "targets", [None])[0], "id", None):
             node for node in stub().body}
    assert set(nanobragg.__all__) <= set(nodes)
    methods = {n.name for n in nodes["Simulation"].body if isinstance(n, ast.FunctionDef)}
    real = {n for n in vars(nanobragg.Simulation) if not n.startswith("_")} | {"__init__"}
    assert methods == real


def test_stub_has_every_argument():
    def check(nodes, of):
        stated = {}  # {function: arguments of all its overloads}
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                stated.setdefault(node.name, set()).update(a.arg for a in [*node.args.args, *node.args.kwonlyargs])
            elif isinstance(node, ast.ClassDef) and node.name == "Simulation":
                check(node.body, nanobragg.Simulation)
        for name, arguments in stated.items():
            real = getattr(of, name)
            if inspect.isfunction(real):
                there = inspect.signature(real).parameters.values()
                assert arguments == {a.name for a in there if a.kind != a.VAR_KEYWORD}, name

    check(stub().body, nanobragg)


def test_stub_has_every_parameter():
    known, everywhere = keys("Parameters"), keys("SeriesParameters")
    for name, row in nanobragg.parameters().items():
        assert {name, *row["synonyms"].split()} <= set(everywhere), name
    assert {"cell", "misset", "lambda", "wavelength", "sources", "A", "hkl"} <= set(known)
    assert "frames" in set(everywhere) - set(known) and "distanze" not in everywhere


def test_help_and_stub_have_the_unit_of_every_parameter():
    page, known = pydoc.plain(pydoc.render_doc(nanobragg.Simulation)), keys("SeriesParameters")
    assert "wave, wavelength l: wavelength; of -lambda and -energy the last is used [A] (default: 1)" in page
    for name, row in nanobragg.parameters().items():
        text = row["help"] + (f" [{row['unit']}]" if row["unit"] else "")
        assert text in page or name not in keys("Parameters"), name
        assert known[name].startswith(text) or name in ("lambda", "4stol"), name


def test_mypy_finds_wrong_keywords(tmp_path):
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    (tmp_path / "good.py").write_text(
        "import nanobragg\nsim = nanobragg.Simulation(cell=(50, 50, 50, 90, 90, 90), wavelength=1.0)\n"
        "print(sim.render(statistics=True)[1]['sum'])\n"
        "import numpy as np\nmore: nanobragg.Parameters = dict(cell=100.0, N=5)\nnanobragg.Simulation(**more)\n"
        "nanobragg.Simulation(crystals=[{'N': 10}, {'hkl': 'b.hkl'}])\n"
        "sim.set(A=np.eye(3), mosaic_blocks=np.zeros((3, 3)), add=np.zeros((4, 4)))\n"
        "sim.set_parameters({'cell': [1, 2, 3, 4, 5, 6], 'distance': 3})\n"
        "for run in (nanobragg.draws, nanobragg.run_series):\n    run(dict(more), stills=3, vary={'N': ('uniform', 3, 4)})\n")
    (tmp_path / "bad.py").write_text("import nanobragg\nnanobragg.Simulation(distanze=3)\n")
    for name, status in (("good.py", 0), ("bad.py", 1)):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", name], cwd=tmp_path, check=False,
                              env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)},
                              capture_output=True, text=True)
        assert done.returncode == status, done.stdout


def test_mypy_accepts_the_examples(tmp_path):
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "examples")
    (tmp_path / "torch_user.py").write_text(
        "import torch\nimport nanobragg\nfrom nanobragg.torch import render\n"
        "sim = nanobragg.Simulation(cell=(50, 50, 50, 90, 90, 90))\n"
        "render(sim, misset=torch.zeros(3)).sum().backward()\n"
        "print(sim.render(where='device').device, sim.derivatives(['N_a'])['N_a'].shape)\n")
    files = [os.path.join(folder, "recover_orientation.py"), os.path.join(folder, "train_on_frames.py"), str(tmp_path / "torch_user.py")]
    without = ["--ignore-missing-imports", "--disable-error-code", "no-untyped-call"]
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", *without, *files], cwd=tmp_path, check=False,
                          env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_selftest():
    done = subprocess.run([sys.executable, "-m", "nanobragg.selftest"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and done.stdout.endswith("works\n"), done.stdout
    assert "ok image_and_noise" in done.stdout
