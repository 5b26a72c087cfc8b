"""Helpers of the tests: running the program, and reading NumPy's files without NumPy."""

import ast
import json
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zipfile
import zlib

PROGRAM = None  # set by run.py
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
MODELS = GOLDEN / "program"

OK, DIFFERENT, USAGE, BAD_FILE = 0, 1, 2, 3
CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}


class Done:
    """The exit status and output of a run."""

    def __init__(self, finished):
        self.status, self.out, self.err = (finished.returncode, finished.stdout, finished.stderr)

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"status {self.status}\n{self.out}\n{self.err}"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *words, status=OK, input=None):
        done = Done(subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                                   timeout=120, input=input, check=False))
        self.assertEqual(done.status, status, f"{words}\n{done}")
        return done

    def succeeds(self, *words):
        """Runs the program, and expects success without messages."""
        done = self.run_program(*words)
        self.assertEqual(done.err, "", words)
        return done

    def refuses(self, *words, status=BAD_FILE, message):
        """Runs the program, and expects it to fail with one message and no output."""
        done = self.run_program(*words, status=status)
        self.assertEqual(done.out, "", words)
        self.assertIn(message, done.err)
        self.assertTrue(done.err.startswith("keratin"), done.err)
        return done

    def write_text(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


def read_npy_bytes(data):
    """(dtype, shape, flat list of values)"""
    assert data[:6] == b"\x93NUMPY"
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (
        struct.unpack("<I", data[8:12])[0], 12)
    header = ast.literal_eval(data[start:start + length].decode("latin1"))
    body = data[start + length:]
    count = len(body) // struct.calcsize(CODES[header["descr"]])
    return header["descr"], header["shape"], list(
        struct.unpack(f"<{count}{CODES[header['descr']]}", body))


def read_npy(path):
    return read_npy_bytes(pathlib.Path(path).read_bytes())


def read_npz(path):
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".npy"): read_npy_bytes(file.read(name))
                for name in file.namelist()}


def npy_bytes(dtype, shape, values):
    header = repr({"descr": dtype, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    body = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def write_npy(path, dtype, shape, values):
    pathlib.Path(path).write_bytes(npy_bytes(dtype, shape, values))
    return path


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            file.writestr(name + ".npy", npy_bytes(*array))
    return path


def write_png(path, rows):
    """Writes rows of pixels (red, green, blue, alpha)."""
    def chunk(kind, data):
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) +
                                   chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
    return path
