"""Reads an operator file as docs/operator_file.md describes it, without any package.

usage: read_operator_file.py FILE TENSOR
Prints as JSON: metadata, names, the tensor's shape and values, and whether the checksum holds.
"""
import json
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B"}


def crc64_xz(data):
    value = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xC96C5795D7870F42 if value & 1 else 0)
    return value ^ 0xFFFFFFFFFFFFFFFF


def main(path, tensor):
    assert crc64_xz(b"123456789") == 0x995DC9BBDF1939FA
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    header = json.loads(content[8 : 8 + length].decode("utf-8"))
    data = content[8 + length :]
    metadata = header.pop("__metadata__")
    assert all(isinstance(text, str) for text in metadata.values())

    position = 0
    for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
        assert entry["data_offsets"][0] == position
        position = entry["data_offsets"][1]
    assert position == len(data)

    field = b'"checksum":"'
    digits = content.index(field + metadata["checksum"].encode()) + len(field)
    blanked = content[:digits] + b"0" * 16 + content[digits + 16 :]

    entry = header[tensor]
    begin, end = entry["data_offsets"]
    code = FORMATS[entry["dtype"]]
    values = struct.unpack("<%d%s" % ((end - begin) // struct.calcsize(code), code), data[begin:end])
    json.dump(
        {
            "metadata": metadata,
            "names": list(header),
            "shape": entry["shape"],
            "values": values,
            "checksum_holds": "%016x" % crc64_xz(blanked) == metadata["checksum"],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
