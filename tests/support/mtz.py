# SPDX-License-Identifier: MIT
"""Reads an MTZ file of CCP4 without a library. Each value of a row is a 4-byte number."""
import struct


def read_mtz(path):
    """Header as a dict (columns, types, cell, wavelengths, symmetry) and rows of floats."""
    with open(path, "rb") as stream:
        data = stream.read()
    assert data[:4] == b"MTZ ", "no MTZ file"
    order = "<" if data[9] >> 4 == 4 or data[8] >> 4 == 4 else ">"
    at = (struct.unpack(order + "i", data[4:8])[0] - 1) * 4
    head = {"columns": [], "types": [], "cell": None, "wavelength": {}, "symmetry": [],
            "datasets": {}}
    count = 0
    while at + 80 <= len(data):
        record = data[at:at + 80].decode("ascii")
        words = record.split()
        at += 80
        if words[0] == "END":
            break
        if words[0] == "NCOL":
            columns, count = int(words[1]), int(words[2])
        elif words[0] == "CELL":
            head["cell"] = [float(w) for w in words[1:7]]
        elif words[0] == "COLUMN":
            head["columns"].append(words[1])
            head["types"].append(words[2])
        elif words[0] == "DWAVEL":
            head["wavelength"][int(words[1])] = float(words[2])
        elif words[0] == "DATASET":
            head["datasets"][int(words[1])] = words[2]
        elif words[0] == "SYMM":
            head["symmetry"].append(record[4:].strip())
    else:
        raise AssertionError("no END record")
    assert columns == len(head["columns"])
    values = struct.unpack(f"{order}{columns * count}f", data[80:80 + 4 * columns * count])
    rows = [values[i:i + columns] for i in range(0, len(values), columns)]
    return head, rows
