# SPDX-License-Identifier: MIT
"""NXmx masters, CBF and SMV files have the geometry and beam of the simulation.

usage: NANOBRAGG=program python3 tests/cli/nexus_check.py
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import PROGRAM, in_folder, ok, read, run  # noqa: E402
from series_check import png_pixels  # noqa: E402

X = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "8", "-detpixels", "40", "-pixel", "1",
     "-fluence", "3e28", "-distance", "100", "-seed", "7", "-quiet"]
NO_FLUENCE = [word for word in X if word not in ("-fluence", "3e28")]
# Fields of /entry that NXmx (NeXus definitions of June 2026) and DIALS require.
REQUIRED = """definition start_time end_time_estimated data/data sample/name sample/depends_on
    instrument/name instrument/detector/module/data_origin instrument/detector/module/data_size
    instrument/detector/module/fast_pixel_direction instrument/detector/module/slow_pixel_direction
    instrument/detector/sensor_material instrument/detector/sensor_thickness
    instrument/detector/distance instrument/detector/count_time instrument/detector/beam_center_x
    instrument/beam/incident_wavelength instrument/beam/incident_beam_size
    instrument/beam/profile instrument/beam/total_flux
    instrument/beam/incident_polarization_stokes source/name""".split()


def required_fields(h5py):
    """Rotations and stills have all required fields; their times are reproducible."""
    for kind, flags in (("rotation", ["-osc", 1, "-frames", 3, "-frames_per_file", 2]),
                        ("stills", ["-stills", 3, "-jitter_fluence", 10])):
        run(*NO_FLUENCE, *flags, "-flux", 1e12, "-exposure", 2.5, "-beamsize", 0.05, "-hdf5", "a.h5",
            env={"SOURCE_DATE_EPOCH": "86400"})
        with h5py.File("a.h5") as h5:
            entry = h5["/entry"]
            missing = [name for name in REQUIRED if name not in entry]
            ok(f"required-fields-{kind}", not missing, missing)
            module = entry["instrument/detector/module"]
            axes = [module[name].attrs for name in ("fast_pixel_direction", "slow_pixel_direction",
                                                    "module_offset")]
            ok(f"axes-{kind}", all(key in axis for axis in axes for key in
                                   ("transformation_type", "vector", "offset", "depends_on")))
            times = [entry[name][()].decode() for name in ("start_time", "end_time_estimated")]
            ok(f"times-{kind}", times == ["1970-01-02T00:00:00Z", "1970-01-02T00:00:08Z"], times)
            flux = entry["instrument/beam/total_flux"]
            good = flux.attrs["units"] in ("Hz", b"Hz") and (
                abs(flux[()] / 1e12 - 1) < 1e-12 if kind == "rotation" else
                flux.shape == (3,) and len(set(flux[...])) == 3)
            ok(f"total-flux-{kind}", good, flux[...])
            if kind == "stills":
                ok("stills-have-no-goniometer", entry["sample/depends_on"][()] == b".")


def one_set_of_frames(h5py):
    """/entry/data holds only the set "data": fabio would count other names that begin
    with "data" as frames. Frames of a missing data file read as `empty`, not as 0."""
    for kind, empty in (("uint16", 65535), ("int32", -2147483648), ("float32", math.nan)):
        run(*X, "-osc", 1, "-frames", 4, "-frames_per_file", 2, "-hdf5", "b_master.h5",
            "-hdf5type", kind)
        with h5py.File("b_master.h5") as h5:
            ok(f"one-set-{kind}", list(h5["/entry/data"]) == ["data"] and
               h5["/entry/data/data"].shape[0] == 4, list(h5["/entry/data"]))
        os.remove("b_data_000002.h5")
        with h5py.File("b_master.h5") as h5:
            value = h5["/entry/data/data"][3, 5, 5]
            ok(f"missing-file-{kind}", value == empty or value != value, value)
        error = run("view", "b_master.h5:3", "b.png", status=2)[1]
        ok(f"view-names-missing-file-{kind}", "/entry/files/data_000002" in error, error)


def unit(v):
    return v / math.sqrt(v @ v)


def nexus_frame(numpy, fast, beam):
    """Rows: axes x, y, z of the NeXus frame as lab vectors. z is along the beam, x
    opposite to the fast axis."""
    x = unit((fast @ beam) * beam - fast)
    return numpy.array([x, numpy.cross(beam, x), beam])


def turn_about(numpy, axis, degrees):
    """Returns the matrix of a rotation about a unit axis (Rodrigues' formula)."""
    angle = math.radians(degrees)
    K = numpy.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return numpy.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def place_of(numpy, h5, frame, pixel):
    """Position of pixel (fast, slow) in mm in the NeXus frame, from the chain of axes."""
    axis = h5["/entry/instrument/detector/module/fast_pixel_direction"]
    slow = h5["/entry/instrument/detector/module/slow_pixel_direction"]
    point = axis[()] * pixel[0] * axis.attrs["vector"] + slow[()] * pixel[1] * slow.attrs["vector"]
    name = axis.attrs["depends_on"]
    while name not in (".", b"."):
        axis = h5[name]
        value = numpy.broadcast_to(axis[()], (len(h5["/entry/data/data"]),))[frame]
        if axis.attrs["transformation_type"] in ("rotation", b"rotation"):
            point = turn_about(numpy, axis.attrs["vector"], value) @ point
        else:
            point = point + value * axis.attrs["vector"]
        name = axis.attrs["depends_on"]
    return point


def moving_detector(h5py, numpy):
    """With -jobs, each frame has another geometry: the file has the axes, distance and
    truth of each frame, and the text of the jobs."""
    lines = ['{"distance": 110}', '{"distance": 120, "twotheta": 10}',
             '{"detector_rotx": 5, "detector_roty": -70, "detector_rotz": 4, "N": 7, "Xbeam": 9}']
    with open("move.jsonl", "w", encoding="ascii") as out:
        out.write("\n\n".join(lines) + "\n")
    _, err = run(*X, "-jobs", "move.jsonl", "-hdf5", "m.h5", "-hdf5type", "float32", "-nonoise")
    ok("moving-is-said-once", err.count("DIALS uses that of the first") == 1, err)
    with h5py.File("m.h5") as h5:
        truth = h5["/entry/simulation"]
        ok("jobs-are-kept", [x.decode() for x in truth["job"][...]] == lines and
           truth["jobs_file"][()] == read("move.jsonl"), truth["job"][...])
        ok("N-by-frame", truth["N"][...].tolist() == [[8] * 3, [8] * 3, [7] * 3])
        ok("distance-by-frame", numpy.allclose(h5["/entry/instrument/detector/distance"][:2],
                                               [110, 120]))
        axes = nexus_frame(numpy, numpy.array([0., 0, 1]), numpy.array([1., 0, 0]))
        off = [abs(place_of(numpy, h5, k, pixel) - axes @ (
            truth["pix0_vector"][k] + truth["fdet_vector"][k] * pixel[0]
            + truth["sdet_vector"][k] * pixel[1])).max() for k in range(3)
            for pixel in ((0, 0), (40, 0), (3, 40))]
        ok("chain-puts-each-frame", max(off) < 1e-10, off)
        ok("frames-differ", len({tuple(row) for row in truth["pix0_vector"][...]}) == 3)
    run(*X, "-jobs", "move.jsonl", "-hdf5", "n.h5", "-hdf5type", "float32", "-nonoise")
    ok("moving-same-bytes", read("m.h5").replace(b"m_data", b"n_data").replace(b"m.h5", b"n.h5")
       == read("n.h5"))
    with open("same.jsonl", "w", encoding="ascii") as out:
        out.write('{"distance": 110}\n{"distance": 110, "N": 3}\n')
    _, err = run(*X, "-jobs", "same.jsonl", "-hdf5", "m.h5")
    ok("one-place-is-no-notice", "DIALS" not in err, err)


def two_in_a_master():
    """Jobs with two values of a field that exists once in a master file are refused
    before a file is written."""
    rotation = ["-frames", 2, "-osc", 1]
    for name, line, more in (("pixel size", {"pixel": 2, "detpixels": 40}, []),
                             ("sensor thickness", {"detector_thick": 300}, []),
                             ("curvature", {"curved_det": True}, []),
                             ("spindle", {"spindle_axis": [0, 1, 0]}, rotation),
                             ("direction of the beam", {"beam_vector": [1, 0.1, 0]}, rotation)):
        with open("two.jsonl", "w", encoding="ascii") as out:
            out.write("{}\n" + json.dumps(line) + "\n")
        _, err = run(*X, *more, "-jobs", "two.jsonl", "-hdf5", "two.h5", status=2)
        ok("refused-" + name.replace(" ", "-"), name in err and "two.jsonl:2" in err and
           not os.path.exists("two_data_000001.h5") and not os.path.exists("two.h5"), err)
    run(*X, "-jobs", "two.jsonl", "-output", "two_%d.cbf")


def rings_of_a_tilt():
    """view draws the rings of a tilted detector like the run that made the image."""
    tilt = ["-twotheta", 20, "-detector_rotx", 25, "-stills", 1, "-nonoise", "-detpixels", 150,
            "-pixel", 0.7]
    rings = ["-pngrings", "3,5"]
    run(*X, *tilt, *rings, "-hdf5", "v.h5", "-hdf5type", "float32", "-output", "v_%d.png")
    run("view", "v.h5", "seen.png", *rings)
    ok("rings-of-a-tilt", png_pixels("v_1.png") == png_pixels("seen.png"))


def cbf_axes(path):
    """The axes of a CBF's full header: name -> (vector, offset)."""
    axes = {}
    for line in read(path).split(b"--CIF-BINARY")[0].decode("ascii").splitlines():
        words = line.split()
        if len(words) == 10 and words[1] in ("rotation", "translation"):
            axes[words[0]] = [float(x) for x in words[4:]]
    return axes


def tilted_cbf(h5py, numpy):
    """The CBF's header has the tilt and the spindle, equal to those of the master file.
    An upright detector has a header without axes."""
    tilt = ["-twotheta", 20, "-detector_rotx", 5, "-spindle_axis", 0, 1, 0, "-phi", 10]
    rotation = ["-frames", 2, "-osc", 0.5]
    _, err = run(*X, *tilt, *rotation, "-output", "c_%d.cbf", "-hdf5", "c.h5")
    ok("cbf-needs-no-notice", "DIALS" not in err, err)
    axes = cbf_axes("c_2.cbf")
    flip = numpy.array([-1., 1, -1])  # signs that turn the NeXus frame into that of imgCIF
    with h5py.File("c.h5") as h5:
        corner = flip * place_of(numpy, h5, 1, (0, 0))
        module = h5["/entry/instrument/detector/module"]
        fast, slow = (flip * module[name].attrs["vector"] for name in
                      ("fast_pixel_direction", "slow_pixel_direction"))
        spindle = flip * h5["/entry/sample/transformations/omega"].attrs["vector"]
    want = [*fast, *corner, *slow, 0, 0, 0, *spindle, 0, 0, 0]
    have = axes["element_fast"] + axes["element_slow"] + axes["phi"]
    ok("cbf-has-the-tilt", numpy.allclose(have, want, atol=1e-9), f"{have} {want}")
    out = run("compare", "c_2.cbf", "c.h5:1")[0]
    ok("cbf-with-tilt-is-read", "images are equal" in out, out)
    try:
        import fabio
        with h5py.File("c.h5") as h5:
            ok("fabio-cbf-with-tilt", (fabio.open("c_1.cbf").data ==
                                       h5["/entry/data/data"][0]).all())
    except ImportError as missing:
        print(f"skip nexus fabio-cbf-with-tilt # {missing}")
    run(*X, *rotation, "-output", "u_%d.cbf")
    ok("upright-cbf-is-plain", b"_diffrn" not in read("u_1.cbf"))


def lost_in_smv():
    """One note lists the geometry that DIALS cannot read from an SMV file."""
    for name, flags, words in (("upright", [], None),
                               ("tilted", ["-twotheta", 10], "cannot read the detector's tilt from SMV;"),
                               ("spindle", ["-spindle_axis", 0, 1, 0], "cannot read the spindle axis from SMV;")):
        for kind, more in (("single", []), ("series", ["-frames", 2, "-output", "l_%d.img"])):
            _, err = run(*X, *flags, *more, "-osc", 0.5)
            good = err.count("DIALS " + words) == 1 if words else "DIALS" not in err
            ok(f"lost-{name}-{kind}", good, err)
    _, err = run(*X, "-twotheta", 10, "-noint", "-nonoise")
    ok("lost-only-with-smv", "DIALS" not in err, err)
    _, err = run(*X, "-twotheta", 10, "-detector_thick", 300, "-detector_abs", 200, "-stills", 1,
                 "-output", "t_%d.cbf")
    ok("lost-thickness-of-cbf", err.count("sensor's thickness") == 1, err)


def polarization_line():
    """The report prints the polarization to type in DIALS, unless DIALS assumes it."""
    loud = [word for word in X if word != "-quiet"]
    line = "geometry.beam.polarization_fraction="
    for flags, want in ((["-polar", "0.5"], line + "0.75"),
                        (["-polar", "0"], line + "0.5"),
                        (["-polar", "0.9", "-polar_vector", "0", "1", "0"],
                         line + "0.95 geometry.beam.polarization_normal=1,0,0"),
                        (["-polar", "0.998"], None), (["-nopolar"], "no polarization factor")):
        out = run(*loud, *flags, "-noint", "-nonoise", "-nofloat", "-nopgm")[0]
        good = (want + "\n" in out or want + ";" in out or want + " in" in out) if want \
            else "DIALS" not in out
        ok("polarization-line" + "".join(flags).replace(" ", ""), good, out[:500])


def old_masters(h5py):
    """Masters of 0.1.0 (one vector for all frames; links in /entry/data) can be read."""
    run(*X, "-osc", 1, "-frames", 3, "-frames_per_file", 2, "-hdf5", "o_master.h5", "-output",
        "o_%d.cbf")
    with h5py.File("o_master.h5", "a") as h5:
        for number in ("data_000001", "data_000002"):
            h5[f"/entry/data/{number}"] = h5py.ExternalLink(f"o_{number}.h5", "/entry/data/data")
        del h5["/entry/files"]
        for name in ("fdet_vector", "sdet_vector", "beam_vector", "pix0_vector", "spindle_axis"):
            row = h5[f"/entry/simulation/{name}"][0]
            del h5[f"/entry/simulation/{name}"]
            h5[f"/entry/simulation/{name}"] = row
    for frame in range(3):
        out = run("compare", f"o_master.h5:{frame}", f"o_{frame + 1}.cbf")[0]
        ok(f"old-master-frame-{frame}", "images are equal" in out, out)
    os.remove("o_data_000002.h5")
    error = run("view", "o_master.h5:2", "o.png", status=2)[1]
    ok("old-master-names-missing-file", "/entry/data/data_000002" in error, error)


def stokes(h5py, numpy):
    """Stokes parameters follow -polar and -polar_vector; -nopolar writes none."""
    run(*X, "-polar", 0.8, "-stills", 2, "-hdf5", "s.h5")
    run(*X, "-polar", 0.8, "-polar_vector", 0, 1, 1, "-stills", 2, "-hdf5", "t.h5")
    run(*X, "-nopolar", "-stills", 2, "-hdf5", "u.h5")
    path = "/entry/instrument/beam/incident_polarization_stokes"
    with h5py.File("s.h5") as s, h5py.File("t.h5") as t, h5py.File("u.h5") as u:
        ok("stokes-along-fast", numpy.allclose(s[path], [[1, 0.8, 0, 0]] * 2), s[path][...])
        ok("stokes-tilted", numpy.allclose(numpy.abs(t[path]), [[1, 0, 0.8, 0]] * 2), t[path][...])
        ok("stokes-left-out", path not in u)


def letters(h5py):
    """ASCII text has the HDF5 type ASCII, which durin (the reader of XDS) needs. Text
    with other letters is UTF-8."""
    name = "\u00e9.h5"
    run(*X, "-stills", 1, "-hdf5", name)
    sets = {}

    def look(path, item):
        for key in item.attrs:
            attribute = h5py.h5a.open(item.id, key.encode())
            if isinstance(attribute.get_type(), h5py.h5t.TypeStringID):
                sets[path + "@" + key] = attribute.get_type().get_cset()
        if isinstance(item, h5py.Dataset) and isinstance(item.id.get_type(), h5py.h5t.TypeStringID):
            sets[path] = item.id.get_type().get_cset()
    with h5py.File(name) as file:
        file.visititems(look)
        wide = [path for path, kind in sets.items() if kind == h5py.h5t.CSET_UTF8]
        ok("ascii", len(sets) > 20 and all("command" in path or "config" in path for path in wide), wide)


def main():
    try:
        import h5py
        import numpy
    except ImportError as missing:
        print(f"skip nexus # {missing}")
        return 0
    if subprocess.run([PROGRAM, *X, "-stills", "1", "-hdf5", "t.h5"], capture_output=True,
                      check=False).returncode == 2:
        print("skip nexus # no HDF5 in this build")
        return 0
    required_fields(h5py)
    one_set_of_frames(h5py)
    moving_detector(h5py, numpy)
    two_in_a_master()
    rings_of_a_tilt()
    tilted_cbf(h5py, numpy)
    lost_in_smv()
    polarization_line()
    old_masters(h5py)
    stokes(h5py, numpy)
    letters(h5py)


in_folder(main)
