# SPDX-License-Identifier: MIT
"""8-bit PNG files, read and written without a library."""
import struct
import zlib


def chunks(path):
    with open(path, "rb") as stream:
        data = stream.read()
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += size + 12


def pixels(path):
    """Rows of pixels, each a tuple (grey,) or (red, green, blue)."""
    width, height, depth, colour = 0, 0, 0, 0
    packed = b""
    for kind, body in chunks(path):
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            packed += body
    assert depth == 8 and colour in (0, 2), (depth, colour)
    n = 3 if colour else 1
    raw, rows, above = zlib.decompress(packed), [], bytearray(n * width)
    for y in range(height):
        at = y * (n * width + 1)
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + n * width])
        for x in range(n * width):
            a, b, c = row[x - n] if x >= n else 0, above[x], above[x - n] if x >= n else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[x] = (row[x] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append([tuple(row[n * i:n * i + n]) for i in range(width)])
        above = row
    return rows


def grey_levels(path):
    """The pixels of a grey PNG, row by row."""
    rows = pixels(path)
    assert len(rows[0][0]) == 1, "a picture in colours"
    return [[grey for grey, in row] for row in rows]


def write(path, rows):
    """Writes rows of pixels (red, green, blue)."""
    raw = b"".join(b"\0" + bytes(level for colour in row for level in colour) for row in rows)
    with open(path, "wb") as stream:
        stream.write(b"\x89PNG\r\n\x1a\n")
        for kind, body in ((b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")):
            stream.write(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))
