"""A PNG of the screen that Xvfb keeps in a file (Xvfb -fbdir), without what is black beside the window.

usage: window_picture.py XWD_FILE PNG_FILE
"""

import struct
import sys
import zlib


def read_screen(path):
    """Width and rows of RGB bytes of an X window dump with 32 bits a pixel."""
    with open(path, "rb") as file:
        content = file.read()
    header = struct.unpack(">25I", content[:100])
    header_size, width, height = header[0], header[4], header[5]
    bits_per_pixel, bytes_per_line, colours = header[11], header[12], header[19]
    if bits_per_pixel != 32:
        sys.exit(f"{path}: {bits_per_pixel} bits a pixel, expected 32 (Xvfb -screen 0 WxHx24)")
    begin = header_size + 12 * colours
    rows = []
    for y in range(height):
        line = content[begin + y * bytes_per_line :][: 4 * width]
        row = bytearray(3 * width)
        row[0::3], row[1::3], row[2::3] = line[2::4], line[1::4], line[0::4]
        rows.append(bytes(row))
    return width, rows


def without_black_margins(width, rows):
    """Nothing is drawn right of the window and below it."""
    rows = list(rows)
    while rows and not any(rows[-1]):
        rows.pop()
    while width > 1 and not any(any(row[3 * width - 3 : 3 * width]) for row in rows):
        width -= 1
    return width, [row[: 3 * width] for row in rows]


def write_png(path, width, rows):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    pixels = b"".join(b"\0" + row for row in rows)
    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(pixels, 9))
            + chunk(b"IEND", b"")
        )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_png(sys.argv[2], *without_black_margins(*read_screen(sys.argv[1])))
