# SPDX-License-Identifier: MIT
"""HDF5 files with wrong contents (numbers of points, sizes of chunks and images, names of
other files) are refused, or read correctly."""
import os
import subprocess

import numpy as np
import pytest

import nanobragg

h5py = pytest.importorskip("h5py")
PROGRAM = os.environ["NANOBRAGG"]
EDGE, IMAGES = 64, "/entry/data/data"
SERIES = ("-cell 50 -N 3 -default_F 10 -detpixels 64 -fluence 1e28 -stills 2 -orientations random -seed 5 -quiet "
          "-hdf5 r.h5").split()
if "hdf5: no" in subprocess.run([PROGRAM, "-version"], capture_output=True, text=True, check=True).stdout.lower():
    pytest.skip("this build has no HDF5", allow_module_level=True)


def run(folder, *words):
    return subprocess.run([PROGRAM, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)


def series(folder, *words, edge=EDGE):
    done = run(folder, *SERIES, "-detpixels", edge, *words)
    assert done.returncode == 0, done.stderr
    return folder / "r_data_000001.h5"


def put(path, **words):
    """Writes a file with a dataset of images; words: arguments of create_dataset."""
    with h5py.File(path, "w") as file:
        file.create_dataset(IMAGES, **words)
    return path


def bad(path, says, frame=0):
    with pytest.raises(ValueError, match=says):
        nanobragg.read_image(path, frame=frame)


def test_units_of_many_points(tmp_path):
    path = put(tmp_path / "a.h5", data=np.full((1, EDGE, EDGE), 7, "u2"))
    with h5py.File(path, "r+") as file:
        size = file.create_dataset("/entry/instrument/detector/x_pixel_size", data=0.1)
        size.attrs.create("units", np.full(4096, b"m" * 15))
    assert (nanobragg.read_image(path, frame=0) == 7).all()


@pytest.mark.parametrize("name", ["seed", "fingerprint", "frames_per_file", "image_nr_low", "image_nr_high"])
def test_a_key_of_many_points_is_not_resumed(name, tmp_path):
    path = series(tmp_path)
    kept = path.stat().st_ino
    series(tmp_path, "-resume")
    assert path.stat().st_ino == kept
    with h5py.File(path, "r+") as file:
        attrs = file[IMAGES if name.startswith("image") else "/entry"].attrs
        attrs.create(name, np.full(4096, attrs[name]))
    series(tmp_path, "-resume")
    assert path.stat().st_ino != kept


@pytest.mark.parametrize("edge", [8, 24, 56, 64, 72, 128])
def test_a_chunk_of_another_size(edge, tmp_path):
    """A chunk with bytes of a frame of edge x edge pixels is refused if edge != EDGE."""
    with h5py.File(series(tmp_path, "-compress", "bslz4", edge=edge), "r") as file:
        chunk = file[IMAGES].id.read_direct_chunk((0, 0, 0))[1]
    path = series(tmp_path, "-compress", "bslz4")
    with h5py.File(path, "r+") as file:
        file[IMAGES].id.write_direct_chunk((0, 0, 0), chunk)
    if edge == EDGE:
        assert nanobragg.read_image(path, frame=0).shape == (EDGE, EDGE)
    else:
        bad(path, "cannot be read: damaged")


@pytest.mark.parametrize("kind, mask", [("gzip", 3), ("bslz4", 1)])
def test_filters_that_a_chunk_leaves_out(kind, mask, tmp_path):
    path = series(tmp_path, "-compress", kind)
    with h5py.File(path, "r+") as file:
        size = file[IMAGES].dtype.itemsize
        file[IMAGES].id.write_direct_chunk((0, 0, 0), np.full((EDGE, EDGE), 7, f"u{size}").tobytes(), mask)
    assert (nanobragg.read_image(path, frame=0) == 7).all()


@pytest.mark.parametrize("words", [dict(chunks=(1, EDGE, EDGE), compression="gzip"), {}])
def test_frames_that_were_never_written(words, tmp_path):
    bad(put(tmp_path / "a.h5", shape=(2, EDGE, EDGE), dtype="u2", **words), "never written")


def declared(path, side, chunk):
    """Writes a small file that declares side x side pixels in chunks of chunk x chunk."""
    put(path, shape=(side, side), dtype="u2", chunks=(chunk, chunk), compression="gzip", shuffle=True)
    data = np.arange(EDGE * EDGE, dtype="u2").reshape(EDGE, EDGE)
    with h5py.File(path, "r+") as file, h5py.File("small", "w", driver="core", backing_store=False) as small:
        small.create_dataset("a", data=data, chunks=(EDGE, EDGE), compression="gzip", shuffle=True)
        file[IMAGES].id.write_direct_chunk((0, 0), small["a"].id.read_direct_chunk((0, 0))[1])
    return path


def test_chunks_that_were_never_written(tmp_path):
    path = tmp_path / "a.h5"
    bad(declared(path, 512, 64), "never written")  # the other 63 chunks are missing


def virtual(path, *sources):
    """Writes a virtual set of 6 frames: 0, 2 of source 1; 1, 3 of source 2; 4, 5 of 3."""
    layout = h5py.VirtualLayout((6, EDGE, EDGE), "u2")
    for at, name in zip((slice(0, 4, 2), slice(1, 4, 2), slice(4, 6)), sources):
        layout[at] = h5py.VirtualSource(name, IMAGES, (2, EDGE, EDGE))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset(IMAGES, layout)
    return path


def test_virtual_sets(tmp_path):
    for value, name in ((10, "first"), (20, "second"), (30, "third")):
        put(tmp_path / f"{name}.h5", data=np.full((2, EDGE, EDGE), [[[value]], [[value + 1]]], "u2"))
    path = virtual(tmp_path / "a.h5", "first.h5", "second.h5", "third.h5")
    assert [nanobragg.read_image(path, frame=k)[0, 0] for k in range(4)] == [10, 20, 11, 21]
    other = virtual(tmp_path / "b.h5", "first.h5", "second.h5", "a.h5")  # the source a.h5 of this file is virtual too
    assert [nanobragg.read_image(other, frame=k)[0, 0] for k in (4, 5)] == [10, 20]
    (tmp_path / "third.h5").unlink()
    assert nanobragg.read_image(path, frame=0)[0, 0] == 10
    bad(other, "third.h5", frame=4)
    (tmp_path / "first.h5").unlink()
    bad(path, "first.h5")
    assert nanobragg.read_image(path, frame=1)[0, 0] == 20
    bad(path, "third.h5", frame=4)


def test_virtual_sets_without_end(tmp_path):
    bad(virtual(tmp_path / "a.h5", "."), "has more than two levels of virtual sources")
