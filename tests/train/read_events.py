"""Reads a TensorBoard event file with the standard library only, checks every checksum, and prints its scalars."""
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        field, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise SystemExit(f"wire type {kind}")
        yield field, value


def records(data):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        (head,) = struct.unpack_from("<I", data, at + 8)
        if head != masked(data[at : at + 8]):
            raise SystemExit(f"byte {at}: checksum of the length")
        payload = data[at + 12 : at + 12 + length]
        (crc,) = struct.unpack_from("<I", data, at + 12 + length)
        if crc != masked(payload):
            raise SystemExit(f"byte {at}: checksum of the payload")
        at += length + 16
        yield payload


with open(sys.argv[1], "rb") as file:
    for record in records(file.read()):
        event = dict(fields(record))
        if 3 in event:
            print("version", event[3].decode())
        for field, summary in fields(record):
            if field != 5:
                continue
            for _, value in fields(summary):
                scalar = dict(fields(value))
                print(event.get(2, 0), scalar[1].decode(), f"{scalar[2]:g}")
