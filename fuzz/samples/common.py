"""What all kinds of files share: where they are written, a small shape, several files as one, and pictures."""

import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent.parent / "corpus"
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def write(kind, name, content):
    folder = HERE / kind
    folder.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def every(kind, files):
    """Writes files by name; what is empty is a mistake of this script's."""
    for name, content in files.items():
        write(kind, name, content)


def bundle(*files):
    """Several files as one: the first is the one that is opened."""
    parts = [(name, data.encode() if isinstance(data, str) else data) for name, data in files]
    return b"\n".join(b"--- " + name.encode() + b"\n" + data for name, data in parts)


def lines(rows, form="{} {} {}"):
    return "".join(form.format(*row) + "\n" for row in rows)


def grid(n):
    """A heightfield of n x n cells, as points and quads."""
    points = [(x / n, ((x * 7 + z * 3) % 5) / 20, z / n) for z in range(n + 1) for x in range(n + 1)]
    at = lambda x, z: z * (n + 1) + x
    quads = [(at(x, z), at(x, z + 1), at(x + 1, z + 1), at(x + 1, z)) for z in range(n) for x in range(n)]
    return points, quads


OBJ_POINTS = lines(POINTS, "v {} {} {}")
OBJ_FACES = lines([[i + 1 for i in f] for f in FACES], "f {} {} {}")
OBJ = OBJ_POINTS + OBJ_FACES


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_head(width, height, depth=8, colour=6, interlace=0):
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head)


def png(width, height, colour=6, texts=(), depth=8):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = lambda y: b"\0" + bytes((x * 37 + y * 11) % (3 if colour == 3 else 256)
                                   for x in range((width * channels * depth + 7) // 8))
    palette = png_chunk(b"PLTE", bytes(range(9))) + png_chunk(b"tRNS", b"\x80") if colour == 3 else b""
    international = lambda key, text: png_chunk(b"iTXt", key.encode() + b"\0\0\0\0\0" + text.encode())
    pixels = zlib.compress(b"".join(map(row, range(height))))
    notes = b"".join(international(*text) for text in texts)
    return png_head(width, height, depth, colour) + palette + notes + png_chunk(b"IDAT", pixels) + png_chunk(b"IEND", b"")


def jpeg():
    """Eight by eight grey pixels: tables of one code each, all coefficients zero."""
    segment = lambda marker, data: b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    one_code = lambda kind: bytes([kind, 1] + [0] * 15 + [0])
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\x01" * 64) + segment(0xC0, struct.pack(">BHHB", 8, 8, 8, 1) + b"\x01\x11\0")
            + segment(0xC4, one_code(0)) + segment(0xC4, one_code(0x10)) + segment(0xDA, b"\x01\x01\0\0\x3f\0") + b"\x3f\xff\xd9")


JPEG = jpeg()


def bmp(width=2, height=2):
    rows = b"".join((b"\x01\x02\x03" * width).ljust((3 * width + 3) // 4 * 4, b"\0") for _ in range(height))
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, width, height, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows


def tga(width=2, height=2, kind=2, bits=24):
    head = struct.pack("<BBBHHBHHHHBB", 0, 0, kind, 0, 0, 0, 0, 0, width, height, bits, 0)
    pixels = b"\x01\x02\x03\x04"[: bits // 8] * (width * height)
    return head + (bytes([0x80 | (width * height - 1)]) + pixels[: bits // 8] if kind == 10 else pixels)
