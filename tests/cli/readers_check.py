# SPDX-License-Identifier: MIT
"""Each reader of geometry, with each field absent or in an odd form: the program finds
the value, or prints a note that names the field. A typed flag replaces the field.

usage: NANOBRAGG=program python3 tests/cli/readers_check.py
"""
import copy
import glob
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import in_folder, ok, run  # noqa: E402

CRYSTAL = ["-cell", 60, "-N", 3, "-default_F", 10, "-show_config"]
PLACES = {
    "pixel": "detector.pixel_mm", "close": "detector.close_distance_mm", "thick": "panel.thickness_mm",
    "fast": "detector.Fclose_m", "slow": "detector.Sclose_m", "twotheta": "detector.twotheta_deg",
    "wavelength": "beam.wavelength_A", "phi": "spindle.phi_deg", "osc": "spindle.osc_deg",
    "axis": "spindle.spindle_axis", "K": "beam.polarization", "origin": "panel.origin_mm"}


def shown(config, name):
    part, key = PLACES[name].split(".")
    where = config["detector"]["panels"][0] if part == "panel" else config.get(part, {})
    return where.get(key)


def same(a, b):
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a is not None and abs(a - b) <= 1e-9 * max(1, abs(b))


def check(name, flags, values=None, said="", silent=False, status=0):
    """Checks values of -show_config, and that stderr contains the texts `said`."""
    out, err = run(*CRYSTAL, *flags, status=None)
    try:
        config = json.loads(out) if out else {}
        bad = [(key, shown(config, key), want) for key, want in (values or {}).items()
               if not same(shown(config, key), want)]
    except (KeyError, TypeError, ValueError) as error:
        bad = [repr(error)]
    texts = [said] if isinstance(said, str) else said
    notes = [line for line in err.splitlines() if "does not give" in line]
    run_status = 2 if "error:" in err else 0
    ok(name, run_status == status and not bad and all(text in err for text in texts) and
       len(notes) <= 1 and not (silent and err), (bad, err))


# --- mini-CBF ---

LINES = {"Detector": "PILATUS 6M, S/N 60-0000", "Pixel_size": "172e-6 m x 172e-6 m",
         "Silicon": "sensor, thickness 0.000320 m", "Wavelength": "0.9795 A",
         "Energy_range": "(0, 0) eV", "Detector_distance": "0.28900 m", "Beam_xy": "(30.50, 20.25) pixels",
         "Start_angle": "82.0000 deg.", "Angle_increment": "0.1500 deg.",
         "Detector_2theta": "30.0000 deg.", "Polarization": "0.990", "Kappa": "0.0 deg."}
CBF = {"pixel": 0.172, "thick": 0.32, "wavelength": 0.9795, "close": 289, "fast": 0.005246,
       "slow": 0.003483, "phi": 82, "osc": 0.15, "twotheta": 30, "K": 0.99}


def cbf(lines):
    head = "###CBF: VERSION 1.5\r\n\r\ndata_x\r\n_array_data.header_contents\r\n;\r\n"
    head += "".join(f"# {key} {value}\r\n" for key, value in lines.items())
    head += ';\r\n\r\n_array_data.data\r\n;\r\n--CIF-BINARY-FORMAT-SECTION--\r\n'
    head += 'conversions="x-CBF_BYTE_OFFSET"\r\nX-Binary-Size: 3072\r\n'
    head += 'X-Binary-Element-Type: "signed 32-bit integer"\r\nX-Binary-Number-of-Elements: 3072\r\n'
    head += "X-Binary-Size-Fastest-Dimension: 64\r\nX-Binary-Size-Second-Dimension: 48\r\n\r\n"
    with open("a.cbf", "wb") as stream:
        stream.write(head.encode() + b"\f\x1a\x04\xd5" + bytes(3072) + b"\r\n")
    return ["-img", "a.cbf"]


def mini_cbf():
    check("cbf", cbf(LINES), CBF, "two-theta is 30 deg")
    absent = {"Pixel_size": "pixel (", "Silicon": "sensor (", "Wavelength": "wavelength (1 A",
              "Detector_distance": "distance (100 mm", "Beam_xy": "beam centre (", "Start_angle": "start of",
              "Angle_increment": "width of", "Detector_2theta": "two-theta (0", "Polarization": "polarization ("}
    for key, said in absent.items():
        check("cbf-without-" + key, cbf({k: v for k, v in LINES.items() if k != key}),
              said=("-img a.cbf does not give: ", said))
    odd = {  # key: (replacement of its line, text of the message)
        "distance-mm": ("Detector_distance:", "289 mm", {"close": 289}),
        "distance-bare": ("Detector_distance", "= 0.289", {"close": 289}),
        "pixel-mm": ("Pixel_size", "0.172 mm x 0.172 mm", {"pixel": 0.172}),
        "wavelength-nm": ("Wavelength", "0.09795 nm", {"wavelength": 0.9795}),
        "energy": ("Wavelength", None, {"wavelength": 0.9795}, {"Energy": f"{12398.419843320026 / 0.9795!r} eV"}),
        "energy-keV": ("Wavelength", None, {"wavelength": 1}, {"Photon_energy": "12.398419843320026 keV"}),
        "beam-blanks": ("Beam_xy", "30.5 20.25", {"fast": 0.005246, "slow": 0.003483}),
        "beam-m": ("Beam_xy", "(0.005246, 0.003483) m", {"fast": 0.005246, "slow": 0.003483}),
        "beam-two": ("Beam_xy", None, {"fast": 0.005246}, {"Beam_x": "30.5 pixels", "Beam_y": "20.25 pixels"}),
        "phi": ("Start_angle", None, {"phi": -7}, {"Phi": "-7 deg.", "Omega": "5 deg."}),
        "omega": ("Start_angle", None, {"phi": 5, "osc": 0.15}, {"Phi": "1 deg.", "Omega": "5 deg.",
                                                                 "Omega_increment": "0.2 deg."}),
        "oscillation-axis": ("Start_angle", None, {"phi": 5}, {"Phi": "1 deg.", "Omega": "5 deg.",
                                                               "Oscillation_axis": "omega"}),
        "backwards": ("Angle_increment", "-0.15 deg.", {"phi": -82, "osc": 0.15, "axis": [0, 0, -1]}),
        "still": ("Angle_increment", "0.0000 deg.", {"phi": 82, "osc": 0}),
        "CdTe": ("Silicon", None, {"thick": 1}, {"CdTe": "sensor, thickness 0.001000 m"}),
        "sensor-um": ("Silicon", "sensor, thickness 450 um", {"thick": 0.45})}
    for name, (key, value, values, *more) in odd.items():
        lines = {k if k.rstrip(":") != key.rstrip(":") else key: v for k, v in LINES.items()}
        lines[key] = value
        lines.update(*more)
        check("cbf-" + name, cbf({k: v for k, v in lines.items() if v is not None}), values)
    check("cbf-unread", cbf({**LINES, "Detector_distance": "2 furlongs"}), said="distance (100 mm")
    check("cbf-kappa", cbf({**LINES, "Kappa": "30 deg."}), CBF, "kappa 30")
    check("cbf-sensor", cbf({**{k: v for k, v in LINES.items() if k != "Silicon"},
                             "Unobtainium": "sensor, thickness 0.001 m"}), {"thick": 0}, "Unobtainium")


def typed_wins(kind, make):
    """Each typed flag replaces the value in the file; make() writes the file and returns
    the flags that read it."""
    for flags, values in ((["-distance", 77], {}), (["-lambda", 2], {"wavelength": 2}),
                          (["-energy", 12398.419843320026], {"wavelength": 1}), (["-phi", 3], {"phi": 3}),
                          (["-osc", 2], {"osc": 2}), (["-polar", -0.5], {"K": -0.5}),
                          (["-detector_thick", 0], {"thick": 0})):
        if flags[0] == "-distance" and kind != "nxmx":
            values = {"close": 77}
        if kind in ("nxmx", "expt") and flags[0] == "-distance":
            continue
        check(f"{kind}-typed{flags[0]}", [*make(), *flags], values)
    if kind in ("cbf", "smv", "hdf5"):
        check(f"{kind}-typed-twotheta", [*make(), "-twotheta", 5], {"twotheta": 5})
        check(f"{kind}-typed-pixel", [*make(), "-pixel", 0.2], {"pixel": 0.2})


# --- SMV ---

KEYS = {"HEADER_BYTES": "512", "DIM": "2", "BYTE_ORDER": "little_endian", "TYPE": "unsigned_short",
        "SIZE1": "64", "SIZE2": "48", "PIXEL_SIZE": "0.1", "DISTANCE": "250", "TWOTHETA": "2", "PHI": "10",
        "OSC_RANGE": "0.5", "WAVELENGTH": "1.1", "BEAM_CENTER_X": "2.4", "BEAM_CENTER_Y": "3.2"}
SMV = {"pixel": 0.1, "phi": 10, "osc": 0.5, "wavelength": 1.1, "twotheta": 2, "axis": [0, 0, 1]}


def smv(keys):
    text = "{\n" + "".join(f"{key}={value};\n" for key, value in keys.items() if value is not None) + "}\n"
    with open("a.img", "wb") as stream:
        stream.write(text.ljust(512).encode() + struct.pack("<H", 7) * (64 * 48))
    return ["-img", "a.img"]


def smv_pixels():
    """Only 16-bit pixels are read, whether a key or the file size gives the type.
    DISTANCE and CLOSE_DISTANCE of a header are used together."""
    for name, keys, more, said in (
            ("Data_type", {"TYPE": None, "Data_type": "long int"}, 0, "Data_type=long int"),
            ("TYPE", {"TYPE": "long_integer"}, 0, "TYPE=long_integer"),
            ("size", {"TYPE": None}, 2 * 64 * 48, "4 for each"), ("short", {"TYPE": None, "Data_type": "unsigned short int"}, 0, ""),
            ("distances", {"CLOSE_DISTANCE": "240", "TWOTHETA": "0"}, 0, "")):
        smv({**KEYS, **keys})
        with open("a.img", "ab") as stream:
            stream.write(bytes(more))
        err = run("noise", "a.img", "o.bin", "-seed", 1, status=2 if said else 0)[1]
        ok("smv-pixels-" + name, said in err, err)
        if not said:
            with open("o.bin", "rb") as stream:
                ok("smv-values-" + name, set(struct.unpack(f"<{64 * 48}f", stream.read())) == {7.0})


def smv_files():
    check("smv", smv(KEYS), SMV, silent=True)
    for key, said in {"PIXEL_SIZE": "pixel (", "DISTANCE": "distance (100 mm", "TWOTHETA": "two-theta (0",
                      "PHI": "start of", "OSC_RANGE": "width of", "WAVELENGTH": "wavelength (1 A"}.items():
        check("smv-without-" + key, smv({**KEYS, key: None}), said=("-img a.img does not give: ", said))
    check("smv-without-centre", smv({**KEYS, "BEAM_CENTER_X": None, "BEAM_CENTER_Y": None}), said="beam centre (")
    check("smv-backwards", smv({**KEYS, "OSC_RANGE": "-0.10"}),
          {"phi": -10, "osc": 0.1, "axis": [0, 0, -1]}, silent=True)
    check("smv-backwards-typed", [*smv({**KEYS, "OSC_RANGE": "-0.10"}), "-phi", 4, "-osc", 1],
          {"phi": 4, "osc": 1, "axis": [0, 0, 1]})
    check("smv-start", smv({**KEYS, "PHI": None, "OSC_START": "12"}), {"phi": 12}, silent=True)
    check("smv-still", smv({**KEYS, "OSC_RANGE": "0"}), {"osc": 0}, silent=True)
    smv_pixels()
    for name, centre, pixels, said in (("pixels", (40, 30), 0.05, True), ("far", (246, 240), 0.05, True), ("inside", (2, 1.2), 0.05, False)):
        keys = {**KEYS, "BEAM_CENTER_X": centre[0], "BEAM_CENTER_Y": centre[1], "PIXEL_SIZE": pixels, "TWOTHETA": 0}
        err = run(*CRYSTAL, *smv(keys))[1]
        ok("smv-centre-" + name, ("outside of the detector: is it in pixels?" in err) == said, err)
    check("smv-mask", ["-mask", *smv({**KEYS, "DISTANCE": None, "TWOTHETA": None})[1:]],
          said="-mask a.img does not give: distance (100 mm is used)\n")


# --- HDF5 ---

DETECTOR = "entry/instrument/detector/"
IMAGE = {DETECTOR + "beam_center_x": (20.5, "pixel"), DETECTOR + "beam_center_y": (15.25, "pixel"),
         DETECTOR + "detector_distance": (0.151, "m"), DETECTOR + "x_pixel_size": (75e-6, "m"),
         DETECTOR + "sensor_thickness": (450e-6, "m"), DETECTOR + "sensor_material": ("Si", None),
         "entry/instrument/beam/incident_wavelength": (0.976, "angstrom"),
         "entry/instrument/beam/incident_polarization_stokes": ([1, -0.9, 0, 0], None),
         "entry/sample/goniometer/omega": ([10, 10.2, 10.4], "deg"),
         DETECTOR + "goniometer/two_theta": (0, "deg")}
HDF5 = {"pixel": 0.075, "close": 151, "fast": 20.5 * 75e-6, "slow": 15.25 * 75e-6, "wavelength": 0.976,
        "phi": 10, "osc": 0.2, "thick": 0.45, "K": 0.9}


def hdf5(h5py, fields, attributes=None, vlen=False, name="a.h5"):
    """Writes an HDF5 file. fields: {path: (value, unit)}; attributes: {path: {name:
    value}}."""
    with h5py.File(name, "w") as file:
        for path, (value, unit) in fields.items():
            data = file.create_dataset(path, data=value)
            if unit is not None:
                data.attrs["units"] = unit if vlen else unit.encode()
        for path, more in (attributes or {}).items():
            for key, value in more.items():
                (file.require_group(path) if path not in file else file[path]).attrs[key] = value
    return name


def hdf5_images(h5py):
    def image(fields, **more):
        frames = {"entry/data/data": ([[[1] * 40] * 30] * 3, None)}
        return ["-img", hdf5(h5py, {**fields, **frames}, **more)]

    def but(key, value=None, unit=None, new=None):
        fields = {k: v for k, v in IMAGE.items() if k != key}
        return fields if value is None else {**fields, new or key: (value, unit)}

    distance, pixel = DETECTOR + "detector_distance", DETECTOR + "x_pixel_size"
    wavelength, omega = "entry/instrument/beam/incident_wavelength", "entry/sample/goniometer/omega"
    check("hdf5", image(IMAGE), HDF5, silent=True)
    check("hdf5-variable-text", image(IMAGE, vlen=True), HDF5, silent=True)
    for key, said in ((distance, "distance (100 mm"), (pixel, "pixel ("), (DETECTOR + "beam_center_x", "beam centre ("),
                      (wavelength, "wavelength (1 A"), (omega, "start of"), (omega, "width of"),
                      (DETECTOR + "sensor_thickness", "sensor ("),
                      (DETECTOR + "goniometer/two_theta", "two-theta (0"),
                      ("entry/instrument/beam/incident_polarization_stokes", "polarization (")):
        check("hdf5-without-" + said.split(" (")[0].replace(" ", "-"), image(but(key)),
              said=("-img a.h5 does not give: ", said))
    for name, fields, values, said in (
            ("distance", but(distance, 0.151, "m", DETECTOR + "distance"), {"close": 151}, ""),
            ("distance-mm", but(distance, 151, "mm"), {"close": 151}, ""),
            ("distance-um", but(distance, 151000, "um"), {"close": 151}, ""),
            ("distance-bare", but(distance, 0.151), {"close": 151}, "without units"),
            ("distance-odd", but(distance, 151, "furlong"), {}, ("units are not known: detector_distance",
                                                                 "distance (100 mm")),
            ("pixel-bare", but(pixel, 75e-6), {"pixel": 0.075}, "x_pixel_size"),
            ("centre-m", but(DETECTOR + "beam_center_x", 20.5 * 75e-6, "m"), {"fast": 20.5 * 75e-6}, ""),
            ("wavelength-nm", but(wavelength, 0.0976, "nm"), {"wavelength": 0.976}, ""),
            ("wavelength-A", but(wavelength, 0.976, "A"), {"wavelength": 0.976}, ""),
            ("wavelength-bare", but(wavelength, 0.976), {"wavelength": 0.976}, "incident_wavelength"),
            ("wavelength-sample", but(wavelength, 0.976, "A", "entry/sample/beam/incident_wavelength"),
             {"wavelength": 0.976}, ""),
            ("energy", but(wavelength, 12.398419843320026, "keV", "entry/instrument/monochromator/energy"),
             {"wavelength": 1}, ""),
            ("constant-omega", {**but(omega, [10, 10, 10], "deg"), "entry/sample/goniometer/phi": ([1, 2, 3], "deg")},
             {"phi": 1, "osc": 1}, ""),
            ("end", {**but(omega, 10, "deg"), omega + "_end": (10.3, "deg")}, {"phi": 10, "osc": 0.3}, ""),
            ("average", {**but(omega, 10, "deg"), omega + "_range_average": (0.4, "deg")}, {"phi": 10, "osc": 0.4}, ""),
            ("radian", but(omega, [0, 0.017453292519943295], "rad"), {"phi": 0, "osc": 1}, ""),
            ("backwards", but(omega, [10, 9.5], "deg"), {"phi": -10, "osc": 0.5, "axis": [0, 0, -1]}, ""),
            ("two-theta", but(DETECTOR + "goniometer/two_theta", 20, "deg"),
             {"twotheta": 20, "close": 151, "fast": 20.5 * 75e-6, "slow": 15.25 * 75e-6}, "two-theta is 20"),
            ("detector-name", {k.replace("/detector/", "/eiger/"): v for k, v in IMAGE.items()}, {}, "does not give")):
        check("hdf5-" + name, image(fields), values, said)
    check("hdf5-frame", [image(IMAGE)[0], "a.h5:2"], {"phi": 10.4, "osc": 0.2})
    check("hdf5-detector-class", image({k.replace("/detector/", "/eiger/"): v for k, v in IMAGE.items()}, attributes={
        "entry/instrument/eiger": {"NX_class": "NXdetector"}}), HDF5, silent=True)
    other = {k.replace("entry/", "scan_7/"): v for k, v in IMAGE.items()}
    other["scan_7/data/data"] = ([[[1] * 40] * 30] * 3, None)
    hdf5(h5py, other, {"scan_7": {"NX_class": "NXentry"}}, name="b.h5")
    check("hdf5-entry", ["-img", "b.h5"], HDF5, silent=True)
    hdf5(h5py, other, name="b.h5")
    check("hdf5-no-entry", ["-img", "b.h5"], said="there is: scan_7", status=2)
    typed_wins("hdf5", lambda: image(IMAGE))


CHAIN = "entry/sample/transformations/"
MODULE = DETECTOR + "module/"
NXMX = {MODULE + "data_origin": ([0, 0], None), MODULE + "data_size": ([30, 40], None),
        MODULE + "fast_pixel_direction": (75e-6, "m"), MODULE + "slow_pixel_direction": (75e-6, "m"),
        DETECTOR + "z": (0.2, "m"), DETECTOR + "sensor_thickness": (450e-6, "m"),
        DETECTOR + "sensor_material": ("Si", None), "entry/sample/depends_on": ("transformations/phi", None),
        CHAIN + "phi": ([5.0] * 3, "deg"), CHAIN + "omega": ([30, 30.1, 30.2], "deg"),
        "entry/instrument/beam/incident_wavelength": (0.976, "angstrom"),
        "entry/instrument/beam/incident_polarization_stokes": ([1, 0.9, 0, 0], None)}
CLASSES = {"entry": {"NX_class": "NXentry"}, "entry/instrument": {"NX_class": "NXinstrument"},
           "entry/instrument/detector": {"NX_class": "NXdetector"}, DETECTOR + "module": {"NX_class": "NXdetector_module"},
           MODULE + "fast_pixel_direction": {"vector": [-1.0, 0, 0], "depends_on": "/" + DETECTOR + "z",
                                             "transformation_type": "translation"},
           MODULE + "slow_pixel_direction": {"vector": [0, -1.0, 0], "depends_on": "/" + DETECTOR + "z",
                                             "transformation_type": "translation"},
           DETECTOR + "z": {"vector": [0, 0, 1.0], "depends_on": ".", "transformation_type": "translation"},
           CHAIN + "phi": {"vector": [1.0, 0, 0], "depends_on": "omega", "transformation_type": "rotation"},
           CHAIN + "omega": {"vector": [-1.0, 0, 0], "depends_on": ".", "transformation_type": "rotation"}}
NEXUS = {"pixel": 0.075, "origin": [200, 0, 0], "wavelength": 0.976, "phi": 30, "osc": 0.1, "axis": [0, 0, 1],
         "thick": 0.45, "K": 0.9}


def nxmx_files(h5py):
    def nxmx(*without, classes=None, vlen=False, rename="entry", **more):
        fields = {k: v for k, v in {**NXMX, **{k.replace("__", "/"): v for k, v in more.items()}}.items()
                  if k not in without}
        marks = {k: v for k, v in {**CLASSES, **(classes or {})}.items() if k not in without}
        moved = [{rename + k[5:]: copy.copy(v) for k, v in part.items()} for part in (fields, marks)]
        for mark in moved[1].values():
            if str(mark.get("depends_on", "")).startswith("/entry/"):
                mark.update(depends_on="/" + rename + mark["depends_on"][6:])
        return ["-nxmx", hdf5(h5py, *moved, vlen=vlen)]

    omega, phi = CHAIN + "omega", CHAIN + "phi"
    beam = "entry/instrument/beam/"
    check("nxmx", nxmx(), NEXUS, silent=True)
    check("nxmx-variable-text", nxmx(vlen=True), NEXUS, silent=True)
    check("nxmx-entry", nxmx(rename="scan_7"), NEXUS, silent=True)
    check("nxmx-without-wavelength", nxmx(beam + "incident_wavelength"), said="no wavelength", status=2)
    check("nxmx-wavelength-typed", [*nxmx(beam + "incident_wavelength"), "-lambda", 2], {"wavelength": 2}, silent=True)
    for key, said in ((DETECTOR + "sensor_thickness", "sensor ("), ("entry/sample/depends_on", "start of"),
                      ("entry/sample/depends_on", "width of"),
                      (beam + "incident_polarization_stokes", "polarization (")):
        drop = [key] + ([omega, phi] if "depends_on" in key else [])
        check("nxmx-without-" + said.split(" ")[0], nxmx(*drop), said=("-nxmx a.h5 does not give: ", said))
    for name, more, values, said in (
            ("end", {omega: ([30.0] * 3, "deg"), omega + "_end": ([30.1] * 3, "deg")}, NEXUS, ""),
            ("increment", {omega: (30.0, "deg"), omega + "_increment_set": ([0.1], "deg")}, NEXUS, ""),
            ("increment-bare", {omega: (30.0, "deg"), omega + "_increment_set": ([0.1], None)}, NEXUS, ""),
            ("constant-end", {phi + "_end": ([5.0] * 3, "deg")}, NEXUS, ""),
            ("backwards", {omega: ([30, 29.9], "deg")}, {"phi": -30, "osc": 0.1, "axis": [0, 0, -1]}, ""),
            ("omega-bare", {omega: ([30, 30.1], None)}, NEXUS, "without units"),
            ("pixel-um", {MODULE + "fast_pixel_direction": (75, "um")}, NEXUS, ""),
            ("distance-mm", {DETECTOR + "z": (200, "mm")}, NEXUS, ""),
            ("distance-bare", {DETECTOR + "z": (0.2, None)}, NEXUS, "without units, so m, A, eV or deg are taken: z"),
            ("sensor-bare", {DETECTOR + "sensor_thickness": (450e-6, None)}, NEXUS, "sensor_thickness"),
            ("wavelength-m", {beam + "incident_wavelength": (0.976e-10, "m")}, NEXUS, ""),
            ("wavelength-bare", {beam + "incident_wavelength": (0.976, None)}, NEXUS, "incident_wavelength"),
            ("wavelength-range", {beam + "incident_wavelength": ([0.976] * 3, "A")}, NEXUS, "")):
        check("nxmx-" + name, nxmx(**{k.replace("/", "__"): v for k, v in more.items()}), values, said)
    for name, more in (("furlong", {DETECTOR + "z": (0.2, "furlong")}), ("wavelength", {
            beam + "incident_wavelength": (1, "furlong")})):
        check("nxmx-odd-" + name, nxmx(**{k.replace("/", "__"): v for k, v in more.items()}),
              said="the attribute units must name a length", status=2)
    check("nxmx-neutrons", nxmx(entry__source__probe=("neutron", None)), said="only X-rays", status=2)
    check("nxmx-two-entries", nxmx(rename="scan_7", classes={"entry_b": {"NX_class": "NXentry"}}),
          said="several groups of class NXentry", status=2)
    check("nxmx-no-entry", nxmx("entry", rename="scan_7"), said="there is: scan_7", status=2)
    check("nxmx-missing", ["-nxmx", "nowhere.h5"], said="nowhere.h5: No such file or directory", status=2)
    typed_wins("nxmx", nxmx)


# --- DIALS and CrystFEL ---

EXPT = {"__id__": "ExperimentList", "experiment": [{"beam": 0, "detector": 0, "goniometer": 0, "scan": 0}],
        "beam": [{"direction": [0, 0, 1], "wavelength": 1.1, "polarization_normal": [0, 1, 0],
                  "polarization_fraction": 0.75, "probe": "x-ray"}],
        "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [0, 0, -200],
                                  "image_size": [40, 30], "pixel_size": [0.075, 0.075], "material": "Si",
                                  "thickness": 0.45}]}],
        "goniometer": [{"rotation_axis": [1, 0, 0]}], "scan": [{"oscillation": [30, 0.1]}]}


def expt(**changes):
    """Writes an experiment list with changes: beam__wavelength=None removes the
    wavelength of the first beam."""
    root = copy.deepcopy(EXPT)
    for name, value in changes.items():
        part, key = name.split("__")
        where = root[part][0] if part != "panel" else root["detector"][0]["panels"][0]
        if value is None:
            where.pop(key, None)
        else:
            where[key] = value
    with open("a.expt", "w", encoding="ascii") as stream:
        json.dump(root, stream)
    return ["-expt", "a.expt"]


def canvas():
    """One CBF holds all panels of a detector, with the gaps between the panels."""
    panel = {**EXPT["detector"][0]["panels"][0], "image_size": [64, 20]}
    panels = [{**panel, "origin": [0, -0.1 * y, -200], "raw_image_offset": [0, y]} for y in (0, 28)]
    with open("two.expt", "w", encoding="ascii") as stream:
        json.dump({**EXPT, "detector": [{"panels": panels}]}, stream)
    cbf(LINES)
    for words in (["compare", "a.cbf", "a.cbf", "-expt", "two.expt"], ["view", "a.cbf", "o.html", "-expt", "two.expt"]):
        run(*words)
        ok("canvas-" + words[0], True)
    run("noise", "a.cbf", "o_master.h5", "-expt", "two.expt", "-seed", 1)
    ok("canvas-noise", True)


def expt_files():
    said = {"pixel": 0.075, "origin": [200, 0, 0], "wavelength": 1.1, "phi": 30, "osc": 0.1, "K": 0.5, "thick": 0.45}
    if "no JSON" in run(*CRYSTAL, *expt(), status=None)[1]:
        print("skip readers expt # no cJSON in this build")
        return
    check("expt", expt(), said, silent=True)
    check("expt-without-wavelength", expt(beam__wavelength=None), said="no wavelength: type -lambda", status=2)
    check("expt-polychromatic", expt(beam__wavelength=None, beam__wavelength_range=[1.2, 1.3]),
          said="a polychromatic beam, 1.2 to 1.3 A: type -lambda", status=2)
    check("expt-polychromatic-typed", [*expt(beam__wavelength=None, beam__wavelength_range=[1.2, 1.3]),
                                       "-lambda", 1.25], {"wavelength": 1.25}, silent=True)
    check("expt-electrons", expt(beam__probe="electron"), said="only X-rays", status=2)
    for changes, text in (({"experiment__beam": None}, "no wavelength"),):
        check("expt-without-beam", expt(**changes), said=text, status=2)
    for name, changes, text in (
            ("polarization", {"beam__polarization_fraction": None}, "polarization ("),
            ("normal", {"beam__polarization_normal": None}, "polarization ("),
            ("direction", {"beam__direction": None}, "direction of the beam ("),
            ("scan", {"experiment__scan": None}, "start of the rotation (0), width"),
            ("oscillation", {"scan__oscillation": None}, "start of the rotation (0), width"),
            ("thickness", {"panel__thickness": None}, "sensor ("),
            ("unknown-sensor", {"panel__thickness": 0, "panel__material": ""}, "sensor (")):
        check("expt-without-" + name, expt(**changes), said=("-expt a.expt does not give: ", text))
    for name, changes in (("distance", {"panel__origin": None}), ("pixel", {"panel__pixel_size": None})):
        check("expt-without-" + name, expt(**changes), status=2, said="/detector/0/panels/0")
    strategy = {"type": "ParallaxCorrectedPxMmStrategy", "mu": 5.9737, "t0": 1.0}  # this entry is found in old DIALS files
    check("expt-sensor-of-the-strategy", expt(panel__thickness=None, panel__px_mm_strategy=strategy), {"thick": 1}, silent=True)
    check("expt-sensor-of-the-panel", expt(panel__px_mm_strategy=strategy), {"thick": 0.45}, silent=True)
    canvas()
    check("expt-backwards", expt(scan__oscillation=[30, -0.1]), {"phi": -30, "osc": 0.1})
    typed_wins("expt", expt)


GEOM = {"photon_energy": "12398.419843320026", "clen": "0.12", "res": "10000", "p/min_fs": "0", "p/max_fs": "39",
        "p/min_ss": "0", "p/max_ss": "29", "p/fs": "x", "p/ss": "y", "p/corner_x": "-20", "p/corner_y": "-15"}


def geom(**changes):
    lines = {**GEOM, **changes}
    with open("a.geom", "w", encoding="ascii") as stream:
        stream.write("".join(f"{k} = {v}\n" for k, v in sorted(lines.items(), key=lambda i: "/" in i[0])
                             if v is not None))
    return ["-geom", "a.geom"]


def geom_files():
    check("geom", geom(), {"pixel": 0.1, "origin": [120, -1.5, 2], "wavelength": 1}, silent=True)
    check("geom-without-wavelength", geom(photon_energy=None), {"wavelength": 1}, "wavelength (1 A)")
    check("geom-wavelength-typed", [*geom(photon_energy=None), "-lambda", 2], {"wavelength": 2}, silent=True)
    check("geom-without-distance", geom(clen=None), said="type -distance", status=2)
    check("geom-without-pixel", geom(res=None), said="no res", status=2)
    check("geom-electrons", geom(electron_voltage="300 kV"), said="electrons", status=2)
    encoder = {"clen": "/LCLS/detector_1/EncoderValue", "coffset": "0.573224"}
    check("geom-encoder", geom(**encoder), said="type -distance", status=2)
    check("geom-encoder-typed", [*geom(**encoder), "-distance", 135], {"origin": [135, -1.5, 2]}, "573.224 mm")
    check("geom-coffset", geom(clen="-0.438224", coffset="0.573224"), {"origin": [135, -1.5, 2]}, silent=True)
    check("geom-mask", geom(mask_file="/nowhere/mask.h5", mask="/data"),
          said=("a.geom:4: the mask /nowhere/mask.h5: No such file or directory",), status=2)


def spectra():
    """-spectra reads one spectrum per line; notes suggest -spectrum or other units."""
    for name, text, flags, said in (
            ("table", "1 1\n1.003 5\n1.006 2\n", 1, "further lines are not read"),
            ("energies", "9000 1 9010 2\n", 1, "are they energies?"), ("all", "1 1\n1.003 5\n# end\n\n", 2, ""),
            ("nm", "0.1 1 0.1003 2\n", 1, "are they in nm?"), ("one", "1 1 1.003 5\n1 1 1.003 5\n", 1, "")):
        with open("s.txt", "w", encoding="ascii") as stream:
            stream.write(text)
        err = run("-cell", 60, "-default_F", 9, "-N", 5, "-detpixels", 16, "-nonoise", "-quiet", "-stills", flags,
                  "-output", "o_%d.bin", "-spectra", "s.txt")[1]
        ok("spectra-" + name, said in err and ("-spectra" in err) == bool(said), err)


def odd_energies():
    """A note asks about the unit if no experiment has the energies of a spectrum."""
    for name, text, said in (("keV", "9.4 0\n9.5 1\n9.6 0\n", "-spectrum: the wavelengths are 1294 to 1316 A: are its energies in keV?"),
                             ("eV", "9400 0\n9500 1\n9600 0\n", "")):
        with open("s.txt", "w", encoding="ascii") as stream:
            stream.write(text)
        err = run("-cell", 60, "-default_F", 9, "-N", 5, "-detpixels", 16, "-nonoise", "-noint", "-nopgm", "-quiet", "-energy", 9500,
                  "-spectrum", "s.txt", "-wavelengths", 5)[1]
        ok("spectrum-in-" + name, said in err and ("keV" in err) == bool(said), err)


AXES = "astar = +0.01 +0.12 +0.11 nm^-1\nbstar = +0.11 -0.04 -0.08 nm^-1\ncstar = +0.01 +0.1 -0.07 nm^-1\n"
STREAM = f"CrystFEL stream format 2.3\n----- Begin chunk -----\nphoton_energy_eV = 9500.0\n--- Begin crystal\n{AXES}--- End crystal\n----- End chunk -----\n"


def marked():
    """Text files with a byte order mark (as on Windows) give the same as without it."""
    alone = ["-default_F", 100, "-N", 5, "-lambda", 1.3, "-detpixels", 16, "-pixel", 6, "-seed", 1, "-quiet", "-cell", 60, 70, 80, 90, 90, 90]
    for name, text, flags in (("o.stream", STREAM, ["-stills", 1, "-orientations"]), ("o.txt", "1 2 3\n", ["-stills", 1, "-orientations"]),
                              ("j.jsonl", '{"misset": [1, 2, 3]}\n', ["-jobs"]), ("b.txt", "0.1 0 0\n0 0.1 0\n", ["-stills", 1, "-mosaic_blocks"])):
        images = []
        for mark in (b"", b"\xef\xbb\xbf"):
            with open(name, "wb") as stream:
                stream.write(mark + text.encode())
            run(*alone, *flags, name, "-output", "marked_%d.bin")
            with open(glob.glob("marked_*.bin")[0], "rb") as stream:
                images.append(stream.read())
        ok("mark-" + name, images[0] == images[1])


def own_stream():
    """A stream of -streamout is read back: crystals, energy and shift of the detector.
    A typed wavelength replaces the energy."""
    flags = ["-cell", 60, 70, 80, "-default_F", 100, "-N", 5, "-gauss_xtal", "-fluence", 1e24, "-seed", 1, "-stills", 2, "-truth", "spots", "-quiet"]
    flat = ["-detpixels", 32, "-pixel", 3, "-distance", 100]
    run("-cell", 60, "-N", 3, "-default_F", 1, *flat, "-geomout", "d.geom", "-show_config")
    for name, place, jitter in (("flags", flat, ["-jitter_lambda", 2]), ("geom", ["-geom", "d.geom"], [])):
        run(*flags, *place, "-orientations", "random", *jitter, "-jitter_beam", 4, "-hdf5", "s.h5", "-streamout", "s.stream", "-output", "s_%d.bin")
        for more, same in (([], True), (["-lambda", 1.1], False)):
            run(*flags, *place, "-orientations", "s.stream", *more, "-hdf5", "t.h5", "-output", "t_%d.bin")
            for k in (1, 2):
                run("compare", f"s_{k}.bin", f"t_{k}.bin", "-threshold", "corr=0.99999", status=0 if same else 3)
            ok(f"own-stream-{name}-{'typed' if more else 'read'}", True)


def units_of_spectra(h5py):
    """The wavelengths of spectra have the unit that the file names."""
    for name, unit, scale, said in (("angstrom", "angstrom", 1, ""), ("nm", "nm", 0.1, ""), ("bare", None, 1, ""), ("m", "m", 1e-10, ""),
                                    ("eV", "eV", 1, "/wavelength: the attribute units must name a length")):
        hdf5(h5py, {"wavelength": ([1.299 * scale, 1.3 * scale, 1.301 * scale], unit), "weight": ([[0.5, 1, 0.5]], None)}, name="s.h5")
        err = run("-cell", 60, "-default_F", 9, "-N", 5, "-detpixels", 16, "-nonoise", "-quiet", "-stills", 1, "-output", "o_1.bin",
                  "-spectra", "s.h5", "-misset", 10, 20, 30, "-seed", 1, status=2 if said else 0)[1]
        ok("units-of-spectra-" + name, said in err, err)
        if not said:
            run("compare", "want.bin" if name != "angstrom" else "o_1.bin", "o_1.bin")
        if name == "angstrom":
            os.replace("o_1.bin", "want.bin")


def links(h5py):
    """If the target of an HDF5 link is missing, the message names the target."""
    with h5py.File("a.h5", "w") as file:
        file["/entry/data/data"] = [[[1] * 40] * 30]
        detector = file.create_group("/entry/instrument/detector")
        file["/entry"].attrs["NX_class"], file["/entry/instrument"].attrs["NX_class"] = "NXentry", "NXinstrument"
        detector.attrs["NX_class"] = "NXdetector"
        detector["pixel_mask"] = h5py.ExternalLink("run_meta.h5", "/mask")
    for words in (["view", "a.h5:0", "o.html"], ["noise", "a.h5:0", "o.bin", "-seed", 1]):
        err = run(*words, status=2)[1]
        ok("link-" + words[0], "pixel_mask, a link to run_meta.h5, cannot be opened" in err, err)


def damaged(h5py):
    """Each flag that reads HDF5 refuses a damaged file with one line."""
    hdf5(h5py, {"entry/data/data": ([[[1] * 16] * 16], None)}, name="whole.h5")
    with open("whole.h5", "rb") as stream:
        whole = stream.read()
    for name, old, new in (("superblock", b"HDF\r\n", b"HDF\r\n\x1a\n\x09"), ("tree", b"TREE", b"\xff" * 24),
                           ("heap", b"HEAP", b"HEAP" + b"\xff" * 20), ("names", b"SNOD", b"\xff" * 40)):
        at = whole.index(old)
        with open("damaged.h5", "wb") as stream:
            stream.write(whole[:at] + new + whole[at + len(new):])
        for use in (["-nxmx"], ["-img"], ["-mask"], ["-spectra"], ["view"], ["compare", "damaged.h5"]):
            more = CRYSTAL if use[0][0] == "-" else ["o.png"] if use[0] == "view" else []
            more = [*CRYSTAL[:-1], "-output", "o_%d.bin", "-stills", 1] if use[0] == "-spectra" else more
            try:
                out, err = run(*use, "damaged.h5", *more, status=2)
            except AssertionError as error:
                out, err = "", str(error)
            ok(f"damaged-{name}-{use[0]}", not out and err.count("\n") == 1 and "damaged.h5: " in err, err)


def main():
    mini_cbf()
    smv_files()
    typed_wins("cbf", lambda: cbf(LINES))
    geom_files()
    expt_files()
    spectra()
    odd_energies()
    marked()
    try:
        import h5py  # noqa: PLC0415
    except ImportError:
        h5py = None
    if h5py is None or "no HDF5" in run(*CRYSTAL, "-nxmx", "x.h5", status=None)[1]:
        print("skip readers hdf5 # no h5py, or no HDF5 in this build")
    else:
        hdf5_images(h5py)
        nxmx_files(h5py)
        own_stream()
        units_of_spectra(h5py)
        links(h5py)
        damaged(h5py)


in_folder(main)
