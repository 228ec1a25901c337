# SPDX-License-Identifier: MIT
"""Keywords that take arrays in place of files: error messages name the wrong value;
missing values; notes; objects of other packages; F as one array."""
import copy
import logging
import pickle

import numpy as np
import pytest

import nanobragg

SMALL = dict(cell=(70, 80, 90, 90, 90, 90), N=5, distance=100, detpixels=48, pixel=1.5, fluence=1e26, oversample=1,
             threads=1, device="cpu", misset=(10, 20, 30))
H = np.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10) for l in range(-9, 10)])
F = 50 + np.arange(len(H)) % 97 + 0.125


def replaced(array, i, value):
    other = np.array(array, dtype=float)
    other[i] = value
    return other


@pytest.mark.parametrize("arrays, message", [
    (dict(hkl=(replaced(H, (5, 1), 20000).astype(int), F)), r"^hkl\[5\]: Miller index 20000 is beyond"),
    (dict(hkl=(replaced(H, (5, 1), 2**40).astype(int), F)), r"^hkl\[5\]: Miller index \d+ is beyond"),
    (dict(hkl=(replaced(H, (5, 1), 1.5), F)), r"^hkl\[5\]: Miller indices must be integers, not 1.5"),
    (dict(hkl=(replaced(H, (5, 1), np.nan), F)), r"^hkl\[5\]: Miller indices must be integers, not nan"),
    (dict(hkl=(H, replaced(F, 7, np.inf))), r"^hkl\[7\]: F = inf is not a finite number"),
    (dict(hkl=(H, replaced(F, 7, 1e200))), r"^hkl\[7\]: F = 1e\+200 is beyond"),
    (dict(hkl=(H, np.full(len(H), np.nan))), "^hkl: none of the 6859 reflections has a value"),
    (dict(hkl=(H[:0], F[:0])), "^hkl: "),
    (dict(sources=([1.0, 0.0], [1, 1])), r"^sources\[1\]: wavelength 0 A"),
    (dict(sources=([1.0, np.nan], [1, 1])), r"^sources\[1\]: wavelength nan A"),
    (dict(sources=([1.0, 1.1], [1, -1])), r"^sources\[1\]: intensity -1 is negative"),
    (dict(sources=([1.0, 1.1], [1, np.nan])), r"^sources\[1\]: intensity nan is not finite"),
    (dict(sources=([1.0, 1.1], [0, 0])), "^sources: the intensities"),
    (dict(sources=([1.0, 1.1], [1, 1], np.zeros((2, 3)))), r"^sources\[0\]: X Y Z = 0 0 0 gives no direction"),
    (dict(sources=([1.0, 1.1], [1, 1], np.zeros((3, 3)))), r"^sources: directions must be \[2, 3\]"),
    (dict(sources=([], [])), "^sources: there is none"),
    (dict(matrix=np.diag([1, 1, np.nan])), r"^matrix\[8\]: nan is not a finite number"),
    (dict(matrix=np.ones((3, 3))), "^matrix: the matrix is singular"),
    (dict(A=np.diag([1, 1, np.nan])), r"^A\[8\]: nan is not a finite number"),
    (dict(A=np.ones((3, 3))), "^A: the matrix is singular"),
    (dict(A=np.ones(9)), r"^A: must be 3x3, not \(9,\)"),
    (dict(mask=np.ones((9, 9), dtype=bool), detpixels=48), "^memory:mask: -mask has 9 x 9 pixels"),
])
def test_errors_name_the_place(arrays, message):
    words = {**SMALL, "hkl": (H, F), **arrays}
    if "matrix" in arrays or "A" in arrays:
        words["cell"] = None
    with pytest.raises(ValueError, match=message):
        nanobragg.Simulation(**words)
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F), sources=([1.0, 1.02], [1, 1]))
    before = sim.render()
    with pytest.raises(ValueError, match=message):
        sim.set(**arrays)
    assert np.array_equal(sim.render(), before)  # the simulation is unchanged


@pytest.mark.parametrize("name, call", [
    ("transmission", lambda sim, i: sim.set(transmission=i)),
    ("add", lambda sim, i: nanobragg.Simulation(**SMALL, hkl=(H, F), add=i)),
    ("matrix", lambda sim, i: nanobragg.Simulation(matrix=1j * np.eye(3), hkl=(H, F))),
    ("sources", lambda sim, i: sim.set(sources=([1 + 0j], [1]))),
    ("mosaic_blocks", lambda sim, i: sim.set(mosaic_blocks=1j * np.zeros((3, 3)))),
    ("dL_dimage", lambda sim, i: sim.pullback(i, ["rot_x"])),
    ("photons", lambda sim, i: sim.normal(i, ["rot_x"])),
    ("background", lambda sim, i: sim.normal(i.imag, ["rot_x"], background=i)),
    ("compare", lambda sim, i: nanobragg.compare(i, i)),
    ("image", lambda sim, i: nanobragg.page(i)),
])
def test_complex_numbers_are_refused(name, call):
    """Complex arrays are refused, because numpy would drop the imaginary part."""
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F))
    with pytest.raises(TypeError, match=f"^{name}: the values must be real, not complex"):
        call(sim, 1j * np.ones(sim.shape))


@pytest.mark.parametrize("name", ["A", "matrix"])
def test_a_crystal_of_another_package_is_named(name):
    with pytest.raises(TypeError, match=f"^{name}: takes an array of numbers, not .*object"):
        nanobragg.Simulation(hkl=(H, F), **{name: object()})


def test_missing_values_are_left_out_as_of_mtz():
    """Float indices and NaN are accepted: gemmi returns such columns of an MTZ file."""
    gone = np.arange(len(F)) % 3 == 0
    table = np.column_stack([H, np.where(gone, np.nan, F)]).astype(np.float32)
    sim = nanobragg.Simulation(**SMALL, hkl=(table[:, :3], table[:, 3]))
    less = nanobragg.Simulation(**SMALL, hkl=(H[~gone], F[~gone].astype(np.float32)))
    assert np.array_equal(sim.render(), less.render())


def test_fields_and_miller_arrays():
    class MillerArray:  # like the class of cctbx
        def indices(self):
            return [tuple(row) for row in H.tolist()]

        def data(self):
            return F.tolist()

    table = np.zeros(len(H), dtype=[("h", int), ("k", int), ("l", int), ("F", float)])
    table["h"], table["k"], table["l"], table["F"] = *H.T, F
    image = nanobragg.Simulation(**SMALL, hkl=(H, F)).render()
    for value in (table, MillerArray()):
        assert np.array_equal(nanobragg.Simulation(**SMALL, hkl=value).render(), image)
    with pytest.raises(TypeError, match="^hkl: takes a path or .*, not .*test_arrays.*object|^hkl: takes .* not object"):
        nanobragg.Simulation(**SMALL, hkl=object())


@pytest.mark.parametrize("as_file", [False, True])
def test_notes_about_lists(as_file, caplog, tmp_path):
    def notes(h, f, **more):
        caplog.clear()
        value = (h, f)
        if as_file:
            value = tmp_path / "a.hkl"
            value.write_text("".join("%d %d %d %.17g\n" % (*i, x) for i, x in zip(h, f)))
        nanobragg.Simulation(**SMALL, hkl=value, **more)
        return " ".join(record.message for record in caplog.records)

    caplog.set_level(logging.INFO, logger="nanobragg")
    half = (H @ [361, 19, 1]) > 0
    name = "a.hkl" if as_file else "hkl"
    assert f"{name} names no space group: P 1 is used" in notes(H[half], F[half])
    assert "space group" not in notes(H, F) and "space group" not in notes(H[half], F[half], sg="P 1")
    twice = notes(np.vstack([H, H[:3]]), np.append(F, [F[0], F[1] * 1.005, F[2] * 1.5]))
    assert f"{name}: 1 reflections have another value" in twice and "space group" not in twice
    assert f"{name}: 1 reflections have another value" in notes(
        np.vstack([H, H[:3]]), np.append(F, F[:3] * [1, 1, 1.5]), sg="P 1")
    half = (H[:, 0] >= 0) & (H[:, 1] >= 0)  # twice the asymmetric unit
    assert "mean is used" in notes(H[half], F[half], sg="P 2 2 2")


def test_set_of_sources_reads_no_other_file(tmp_path):
    path = tmp_path / "a.hkl"
    path.write_text("".join("%d %d %d %.17g\n" % (*i, x) for i, x in zip(H, F)))
    sim = nanobragg.Simulation(**SMALL, hkl=path)
    path.unlink()
    for sources in (([1.0, 1.02], [1, 3]), ([0.9], [1]), ([1, 1.1], [1, 1], [[-1, 0, 0], [-1, 0.01, 0]])):
        sim.set(sources=sources)
        assert np.array_equal(sim.render(), nanobragg.Simulation(**SMALL, hkl=(H, F), sources=sources).render())
    lines = tmp_path / "s.txt"
    lines.write_text("-10 0 0 1 1.05e-10\n")
    sim.set(sources=lines)
    assert np.array_equal(sim.render(), nanobragg.Simulation(**SMALL, hkl=(H, F), sources=([1.05], [1])).render())
    lines.unlink()
    sim.set(wavelength=1.0)  # this call does not read the removed file


def test_set_of_sources_remakes_what_depends_on_the_wavelength():
    words = {**SMALL, "hkl": (H, F), "background": "water:0.5", "beamsize": 0.1, "sources": ([1.0, 1.01], [1, 2])}
    sim = nanobragg.Simulation(**words)
    for sources in ((np.linspace(0.9, 1.1, 20), np.ones(20)), ([1.2], [1])):
        sim.set(sources=sources)
        assert np.array_equal(sim.render(), nanobragg.Simulation(**{**words, "sources": sources}).render())


def test_set_of_a_matrix_reads_no_other_file(tmp_path):
    path = tmp_path / "a.hkl"
    path.write_text("".join("%d %d %d %.17g\n" % (*i, x) for i, x in zip(H, F)))
    words = {**SMALL, "cell": None, "misset": None}
    matrix = np.diag([1 / 70, 1 / 80, 1 / 90])
    sim = nanobragg.Simulation(**words, hkl=path, matrix=matrix)
    path.unlink()
    turn = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    sim.set(matrix=turn @ matrix)
    assert np.array_equal(sim.render(), nanobragg.Simulation(**words, hkl=(H, F), matrix=turn @ matrix).render())


def test_axes_in_A_keep_the_cell_where_a_matrix_follows_the_wavelength():
    words = {**SMALL, "hkl": (H, F), "cell": (70, 80, 90, 85, 95, 100)}
    typed = nanobragg.Simulation(**words)
    A = np.array([typed.config["crystal"][f"{axis}_star_per_A"] for axis in "abc"]).T
    words.update(cell=None, misset=None)
    given = nanobragg.Simulation(**words, A=A)
    for wavelength in (1.0, 1.1):
        typed.set(wavelength=wavelength)
        given.set(wavelength=wavelength)
        same = [given, copy.copy(given), pickle.loads(pickle.dumps(given))]
        assert all(np.allclose(one.render(), typed.render(), rtol=1e-6, atol=0) for one in same)
        assert [one.parameter("cell_a")["value"] for one in same] == pytest.approx([70] * 3)
    given.set(matrix=A)  # in units of 1/wavelength
    assert given.parameter("cell_a")["value"] == pytest.approx(70 * 1.1)
    given.set(wavelength=1.0, A=A * 0.5)
    assert given.parameter("cell_a")["value"] == pytest.approx(140)
    given.set(A=None, cell=50)
    assert given.parameter("cell_a")["value"] == 50
    with pytest.raises(ValueError, match="^A and matrix: give the axes of the crystal once"):
        given.set(matrix=A, A=A)


def test_sources_follow_the_beam_of_the_convention():
    for convention in ("mosflm", "xds", "dials"):
        words = {**SMALL, "hkl": (H, F), convention: True}
        one = nanobragg.Simulation(**words, wavelength=1.0).render()
        assert np.allclose(nanobragg.Simulation(**words, sources=([1.0], [1])).render(), one, rtol=1e-5, atol=1e-8)


def test_array_and_file_take_each_others_place(tmp_path):
    path = tmp_path / "a.hkl"
    path.write_text("".join("%d %d %d %.17g\n" % (*i, 2 * x) for i, x in zip(H, F)))
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F))
    image = sim.render()
    sim.set(hkl=path)
    assert np.allclose(sim.render(), 4 * image, rtol=1e-5, atol=0) and sim.get("hkl") == str(path)
    sim.set(hkl=(H, F), mask=np.ones((48, 48), dtype=bool))
    assert np.array_equal(sim.render(), image)
    sim.set(threads=2)  # loads all data again, from the arrays that the simulation keeps
    assert np.array_equal(sim.render(), image)


def test_mask_gives_the_size():
    words = {k: v for k, v in SMALL.items() if k != "detpixels"}
    assert nanobragg.Simulation(**words, default_F=1, mask=np.ones((30, 40), dtype=np.uint8)).shape == (30, 40)


def test_reflections_as_a_table_of_pandas():
    pandas = pytest.importorskip("pandas", reason="python3-pandas is not installed")
    sim = nanobragg.Simulation(cell=50, N=5, default_F=100, detpixels=128, pixel=1, fluence=1e26)
    sim.render()
    spots = sim.reflections()
    table = pandas.DataFrame(spots)
    assert list(table.columns) == list(spots.dtype.names) and len(table) == len(spots) > 5
    assert table.set_index(["h", "k", "l"]).intensity.sum() == pytest.approx(spots["intensity"].sum(), rel=1e-12)


def test_detector_by_name():
    sim = nanobragg.Simulation(cell=50, N=2, default_F=100, detector="Pilatus 300K", background="water:1", pixel=0.2)
    dark = sim.render() == 0
    assert dark.shape == (619, 487) and sim.config["parameters"]["pixel"] == 0.2
    assert np.flatnonzero(dark.all(axis=1)).tolist() == [*range(195, 212), *range(407, 424)] and dark.sum() == 34 * 487
    with pytest.raises(ValueError, match="the nearest names are pilatus_1m"):
        nanobragg.Simulation(cell=50, default_F=1, detector="pilatus_7m")


def test_series_of_arrays(tmp_path):
    words = {**SMALL, "hkl": (H, F), "mask": np.ones((48, 48), dtype=bool), "sources": ([1.0, 1.01], [1, 2])}
    made = nanobragg.run_series(words, frames=2, osc=0.5, output=str(tmp_path / "f_%03d.cbf"), seed=3)
    expected = nanobragg.Simulation(**words, osc=0.5).render().sum()
    frames = [nanobragg.read_image(path) for path in sorted(tmp_path.glob("f_*.cbf"))]
    assert made["done"] == len(frames) == 2 and frames[0].max() > 3
    assert abs(frames[0].sum() - expected) < 6 * np.sqrt(expected)
    with pytest.raises(ValueError, match=r"^hkl\[3\]: F = inf"):
        nanobragg.run_series({**words, "hkl": (H, replaced(F, 3, np.inf))}, frames=2, osc=0.5, output="x_%d.cbf")


# --- objects of other packages ---

class UnitCell:  # like the class of gemmi
    a, b, c, alpha, beta, gamma = 70, 80, 90, 90, 90, 90


class CctbxCell:
    def parameters(self):
        return (70, 80, 90, 90, 90, 90)


class Crystal:  # like the class of dxtbx
    def get_unit_cell(self):
        return CctbxCell()

    def get_space_group(self):
        return SpaceGroupInfo()


class SpaceGroup:  # like the class of gemmi
    def xhm(self):
        return "P 2 2 2"


class SpaceGroupInfo:  # like the class of cctbx
    def type(self):
        class Type:
            def lookup_symbol(self):
                return "P 2 2 2"
        return Type()


class Beam:  # like the class of dxtbx
    def get_wavelength(self):
        return 1.1


class Detector:
    def __iter__(self):  # iteration yields panels
        return iter([object()])


class ExperimentList:
    def as_file(self, name):
        raise AssertionError("it is not called")


Detector.__module__ = ExperimentList.__module__ = "dxtbx.model"


@pytest.mark.parametrize("cell", [UnitCell(), CctbxCell(), Crystal()])
def test_cells_of_other_packages(cell):
    sim = nanobragg.Simulation(**{**SMALL, "cell": cell}, default_F=1)
    assert sim.get("cell").split() == ["70", "80", "90", "90", "90", "90"]


def test_space_groups_and_beams_of_other_packages():
    half = (H >= 0).all(axis=1)
    for group in (SpaceGroup(), SpaceGroupInfo(), Crystal()):
        assert nanobragg.Simulation(**SMALL, hkl=(H[half], F[half]), sg=group).get("sg") == "P 2 2 2"
    assert float(nanobragg.Simulation(**SMALL, default_F=1, wavelength=Beam()).get("lambda")) == 1.1


def test_gemmi_itself():
    gemmi = pytest.importorskip("gemmi")
    sim = nanobragg.Simulation(**{**SMALL, "cell": gemmi.UnitCell(70, 80, 90, 90, 90, 90)}, hkl=(H, F),
                               sg=gemmi.SpaceGroup("P 21 21 21"))
    assert sim.get("cell").split() == ["70", "80", "90", "90", "90", "90"] and sim.get("sg") == "P 21 21 21"
    with pytest.raises(TypeError, match="^pdb: takes numbers, text or a path, not gemmi.Structure; write it"):
        nanobragg.Simulation(pdb=gemmi.Structure())


def test_cctbx_and_dxtbx_themselves():
    models = pytest.importorskip("dxtbx.model")
    crystal, miller = pytest.importorskip("cctbx.crystal"), pytest.importorskip("cctbx.miller")
    flex = pytest.importorskip("cctbx.array_family.flex")
    part = H[(H >= 0).all(axis=1)]
    symmetry = crystal.symmetry((70, 80, 90, 90, 90, 90), "P 2 2 2")
    indices = miller.set(symmetry, flex.miller_index([tuple(row) for row in part.tolist()]), anomalous_flag=False)
    array = indices.array(flex.complex_double([30j] * len(part)))
    words = {**SMALL, "cell": (70, 80, 90, 90, 90, 90), "sg": "P 2 2 2", "hkl": (part, np.full(len(part), 30.0))}
    image = nanobragg.Simulation(**words).render()
    dials = models.Crystal((70, 0, 0), (0, 80, 0), (0, 0, 90), space_group_symbol="P 2 2 2")
    for cell, group in ((symmetry, symmetry), (symmetry.unit_cell(), symmetry.space_group_info()), (array, array),
                        (dials, dials), (dials, dials.get_space_group())):
        sim = nanobragg.Simulation(**{**words, "cell": cell, "sg": group, "hkl": array})
        assert np.array_equal(sim.render(), image)
    for name, value, kind in (("distance", models.Detector(), "Detector"), ("expt", models.ExperimentList(), "ExperimentList")):
        with pytest.raises(TypeError, match=f"^{name}: takes numbers, text or a path, not dxtbx.*{kind};"):
            nanobragg.Simulation(**{name: value})


@pytest.mark.parametrize("name, value, message", [
    ("expt", ExperimentList(), r"^expt: takes .*, not dxtbx.model.ExperimentList; .*as_file\(\)"),
    ("distance", Detector(), r"^distance: takes numbers, text or a path, not dxtbx.model.Detector; put it into an Exp"),
    ("cell", Detector(), "^cell: takes numbers, text or a path, not dxtbx.model.Detector"),
    ("hkl", Detector(), "^hkl: takes a path or .*, not dxtbx.model.Detector"),
])
def test_other_objects_are_refused_by_their_type(name, value, message):
    with pytest.raises(TypeError, match=message):
        nanobragg.Simulation(**{name: value})


# --- F as one array ---

def test_all_F_at_once():
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F))
    hkl, values = sim.factors()
    assert np.array_equal(hkl, H) and np.array_equal(values, F)
    sim.set(F=values * 2)
    twice = nanobragg.Simulation(**SMALL, hkl=(H, 2 * F)).render()
    assert np.array_equal(sim.render(), twice) and np.array_equal(sim.factors()[1], 2 * F)
    sim.set(misset=(10, 20, 31))
    sim.set(misset=(10, 20, 30), threads=2)  # a new device, with the same F
    assert np.array_equal(sim.render(), twice)
    assert np.array_equal(sim.render(F=values), nanobragg.Simulation(**SMALL, hkl=(H, F)).render())
    sim.set(hkl=(H, F), F=2 * F)
    assert np.array_equal(sim.render(), twice)
    sim.set(hkl=(H, F))
    assert np.array_equal(sim.factors()[1], F)


def test_some_F():
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F))
    sim.set(F=(H[[100, 7]], [1, 2]))
    values = sim.factors()[1]
    assert values[100] == 1 and values[7] == 2 and (values != F).sum() == 2
    sim.set(F=F)
    spots = sim.reflections()
    assert len(spots) > 5 and np.allclose(spots["F"], F[sim._places(np.stack([spots[x] for x in "hkl"], 1))[0]])
    image = sim.render()
    sim.set(F=spots["F"] * 3)
    assert (sim.factors()[1] == 3 * F).sum() == len({tuple(s[["h", "k", "l"]]) for s in spots})
    sim.set(F=F)
    assert np.array_equal(sim.render(), image)
    brighter = spots.copy()
    brighter["F"] *= 2
    sim.set(F=brighter)  # in the order of the reflections
    more = sim.reflections()
    shared = {tuple(s[["h", "k", "l", "panel"]]): s["intensity"] for s in more}
    ratios = [shared[tuple(s[["h", "k", "l", "panel"]])] / s["intensity"] for s in spots]
    assert np.allclose(ratios, 4, rtol=0.01) and len(more) >= len(spots)


@pytest.mark.parametrize("value, message", [
    (F[:-1], r"^F: has 6858 values, but the simulation has 6859 reflections"),
    (replaced(F, 9, np.nan), r"^F\[9\]: nan is not a finite number"),
    (np.ones((3, 3)), r"^F: must be \[n\]"),
    (([[1, 2, 3], [50, 0, 0]], [1, 1]), r"^F\[1\]: reflection 50 0 0 has no structure factor"),
    (([[1, 2, 3]], [1, 1]), "^hkl: indices must be"),
])
def test_bad_F_changes_nothing(value, message):
    sim = nanobragg.Simulation(**SMALL, hkl=(H, F))
    image = sim.render()
    with pytest.raises(ValueError, match=message):
        sim.set(F=value)
    with pytest.raises(ValueError, match=message):
        sim.set(misset=(1, 2, 3), F=value)
    assert np.array_equal(sim.render(), image)


def test_F_needs_one_table():
    with pytest.raises(ValueError, match="^F: .*every reflection is -default_F"):
        nanobragg.Simulation(**SMALL, default_F=1).set(F=[1.0])


def test_F_of_a_list_with_a_space_group():
    half = (H >= 0).all(axis=1)
    sim = nanobragg.Simulation(**SMALL, hkl=(H[half], F[half]), sg="P 2 2 2")
    hkl, values = sim.factors()
    assert len(values) > 2 * half.sum()
    image = sim.render()
    sim.set(F=2 * values)
    assert np.allclose(sim.render(), 4 * image, rtol=1e-5, atol=0)
    assert np.array_equal(sim.factors()[1], 2 * values)
    sim.set(phi=0.1, distance=110)
    assert np.array_equal(sim.factors()[1], 2 * values)


def test_gradient_by_all_F():
    torch = pytest.importorskip("torch")
    from nanobragg.torch import render

    sim = nanobragg.Simulation(**SMALL, hkl=(H, F), precision="double")
    _, values = sim.factors()
    F_all = torch.tensor(values, requires_grad=True)
    misset = torch.tensor([10.0, 20.0, 30.0], dtype=torch.float64, requires_grad=True)
    weights = torch.linspace(0, 1, 48 * 48, dtype=torch.float64).reshape(48, 48)
    (render(sim, misset=misset, F=F_all) * weights).sum().backward()
    gradient = F_all.grad.numpy()
    assert gradient.shape == F.shape and (gradient != 0).sum() > 20 and misset.grad.abs().min() > 0
    for i in np.argsort(-abs(gradient))[[0, 3, 10]]:
        change = [(sim.render(F=replaced(F, i, F[i] + d)).astype(float) * weights.numpy()).sum() for d in (0.5, -0.5)]
        assert abs(change[0] - change[1] - gradient[i]) < 1e-4 * abs(gradient[i])
    with pytest.raises(ValueError, match="^F: has 5 values, but the simulation has 6859 reflections"):
        render(sim, F=F_all[:5])
    sim.set(F=values)
    spots = sim.reflections()
    some = torch.tensor(spots["F"], requires_grad=True)  # in the order of the reflections
    (render(sim, F=some) * weights).sum().backward()
    assert np.allclose(some.grad, gradient[sim._places(np.stack([spots[x] for x in "hkl"], 1))[0]], rtol=1e-6)
    single = torch.tensor(values, dtype=torch.float32, requires_grad=True)
    render(sim, F=single).sum().backward()
    assert single.grad.dtype == torch.float32


def test_planes_of_pixels():
    """With arrays transmission and add, an image is transmission x plain + add. New
    arrays change the image."""
    base = dict(cell=(70, 80, 90, 90, 90, 90), default_F=100, N=5, detpixels=16, seed=1, device="cpu", oversample=1)
    rng = np.random.default_rng(1)
    factor, add = (rng.uniform(0, 2, (16, 16)).astype(np.float32) for _ in range(2))
    plain = nanobragg.Simulation(**base).render()
    sim = nanobragg.Simulation(**base, transmission=factor, add=add)
    want = (factor.astype(float) * plain + add).astype(np.float32)
    assert (sim.render() == want).all()
    sim.set(add=2 * add)
    assert (sim.render() == (factor.astype(float) * plain + 2 * add).astype(np.float32)).all()
    with pytest.raises(ValueError, match="2-D"):
        nanobragg.Simulation(**base, add=[1, 2])
    with pytest.raises(ValueError, match="8 x 8 pixels, but the detector has 16 x 16"):
        nanobragg.Simulation(**base, transmission=np.ones((8, 8)))


def test_diffuse_at():
    """diffuse_at accepts indices of any shape; its values are proportional to F^2."""
    hkl = np.array([[[1.5, 2, 3], [2.25, -1, 0.5]], [[0.1, 4.4, -3], [3, 3, 2.9]]])
    made = [nanobragg.Simulation(**SMALL, hkl=(H, scale * F), diffuse_sigma=0.4, diffuse_gamma=10) for scale in (1, 2)]
    one, two = (sim.diffuse_at(hkl) for sim in made)
    assert one.shape == (2, 2) and (one > 0).all() and len(set(one.flat)) == 4
    assert np.allclose(two, 4 * one, rtol=1e-12)
    assert made[0].diffuse_at(hkl[1, 0]) == one[1, 0]
    assert np.array_equal(made[0].diffuse_at(hkl[:, ::-1]), one[:, ::-1])
    assert made[0].diffuse_at(np.empty((0, 3))).shape == (0,)
    with pytest.raises(ValueError, match=r"^hkl: must be an array \[..., 3\], not \[2\]"):
        made[0].diffuse_at([1, 2])
    with pytest.raises(ValueError, match="diffuse_sigma"):
        nanobragg.Simulation(**SMALL, hkl=(H, F)).diffuse_at(hkl)


LIGHT = dict(hkl=(H, F), diffuse_sigma=0.4, diffuse_gamma=3)


def test_diffuse():
    """diffuse() is the image with diffuse light less the image without, both with the
    factors of pixels."""
    factors = dict(transmission=np.linspace(0, 2, 48 * 48, dtype=np.float32).reshape(48, 48), water=10)
    with_it, without = (nanobragg.Simulation(**SMALL, **more, **factors) for more in (LIGHT, dict(hkl=(H, F))))
    plane = with_it.diffuse()
    assert plane.dtype == np.float32 and plane.shape == (48, 48) and plane[0, 0] == 0 and (plane.flat[1:] > 0).all()
    assert np.allclose(with_it.render().astype(float) - without.render(), plane, rtol=1e-5, atol=2e-7 * with_it.render().max())
    out = np.empty((48, 48), np.float32)
    assert with_it.diffuse(out=out) is out and np.array_equal(out, plane)
    assert np.array_equal(nanobragg.Simulation(**SMALL, **LIGHT, diffuse_only=True).render(),
                          nanobragg.Simulation(**SMALL, **LIGHT).diffuse())
    with pytest.raises(ValueError, match="no diffuse light: give -diffuse_sigma"):
        without.diffuse()


@pytest.mark.parametrize("more", [{}, dict(crystals=2, beamstop="disc:20:0.5", water=1e-5)])
def test_truth_of_diffuse_light(tmp_path, more):
    """Photons of reflections, background, diffuse light and those not listed add up to
    the frame, with several crystals too."""
    h5py = pytest.importorskip("h5py")
    words = {**SMALL, **LIGHT, "truth": "spots", "gauss_xtal": True, "mosaic": 0.3, "mosaic_dom": 10, "fluence": 1e28, **more}
    nanobragg.run_series(words, stills=2, seed=5, hdf5=str(tmp_path / "a_master.h5"), hdf5type="float32")
    with h5py.File(tmp_path / "a_master.h5") as h5:
        data, lists = h5["/entry/data/data"][...].astype(float), h5["/entry/simulation/reflections"]
        columns = {name: lists[name][...] for name in ("background", "diffuse", "unassigned", "first", "count")}
        intensity = lists["table"][...]["intensity"]
        assert lists["diffuse"].attrs["units"] == b"photon"
    for k, image in enumerate(data):
        listed = intensity[columns["first"][k]:columns["first"][k] + columns["count"][k]].sum()
        parts = {name: columns[name][k] for name in ("background", "diffuse", "unassigned")}
        assert parts["diffuse"] > 1e-3 * image.sum() and (parts["background"] > 0) == ("water" in more)
        assert abs(parts["unassigned"]) < 5e-3 * listed
        assert abs(listed + sum(parts.values()) - image.sum()) < 1e-6 * image.sum()


def test_A_of_a_simulation_makes_the_same_crystal():
    words = dict(default_F=100, N=5, detpixels=64, pixel=1, oversample=1)
    sim = nanobragg.Simulation(**words, cell=(70, 80, 90, 75, 85, 95), misset=(10, 20, 30))
    again = nanobragg.Simulation(**words, A=sim.A)
    assert np.allclose(again.A, sim.A, rtol=1e-12, atol=1e-17)
    assert np.allclose(again.render(), sim.render(), rtol=0, atol=1e-5 * sim.render().max())
