"""Compares two sets of golden files: equal words, and numbers that are equal up to rounding."""

import base64
import json
import re
import zipfile

import ml_dtypes  # noqa: F401 (makes numpy know bfloat16)
import numpy as np

TOLERANCE = {"float64": 1e-5, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
PER_PYTHON = ("code",)  # bytecode of Lambdas


def array(x):
    return np.frombuffer(base64.b64decode(x["data"]), np.dtype(x["dtype"])).reshape(x["shape"])


def differences(old, new, where=""):
    if new is None and (old is not None and where == ""):
        yield ": the backend cannot run it"
    elif isinstance(old, dict) and isinstance(new, dict):
        if {"dtype", "shape", "data"} <= old.keys() & new.keys():
            yield from tensor_differences(old, new, where)
        elif old.keys() != new.keys():
            yield f"{where}: keys {sorted(old.keys() ^ new.keys())}"
        else:
            for key in old.keys() - set(PER_PYTHON):
                yield from differences(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} against {len(new)} entries"
        for i, (a, b) in enumerate(zip(old, new)):
            name = a.get("name", a.get("case", i)) if isinstance(a, dict) else i
            if isinstance(a, dict) and b is None and where == "":
                yield f"[{name}]: the backend cannot run it"
            else:
                yield from differences(a, b, f"{where}[{name}]")
    elif isinstance(old, float) and isinstance(new, float):
        if not abs(old - new) <= 1e-5 * (1 + abs(old)):
            yield f"{where}: {old} against {new}"
    elif old != new:
        yield f"{where}: {old!r} against {new!r}"


def tensor_differences(old, new, where):
    a, b = array(old), array(new)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        yield f"{where}: {a.dtype}{a.shape} against {b.dtype}{b.shape}"
    elif a.dtype.name not in TOLERANCE:
        if not np.array_equal(a, b):
            yield f"{where}: {a.tolist()} against {b.tolist()}"
    else:
        a, b = a.astype("float64"), b.astype("float64")
        same = (a == b) | (np.isnan(a) & np.isnan(b))  # infinities too
        error = np.max(np.abs(a - b) / (1 + np.abs(a)), where=~same, initial=0)
        if not error <= TOLERANCE[old["dtype"]]:
            yield f"{where}: differs by {error:.2g}"


def contents(path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as file:
            return [json.loads(file.read(name)) for name in file.namelist()]
    return json.loads(path.read_text())


def folders(old, new, known=()):
    """Prints what differs between the files of two folders, and how often for a known cause;
    returns whether anything differs for no such cause."""
    lines = []
    for path in sorted([*new.rglob("*.json"), *new.rglob("sweep/*.zip")]):
        name = path.relative_to(new)
        lines += [f"{name}{line}" for line in differences(contents(old / name), contents(path))]
    for pattern, cause in known:
        count = len(lines)
        lines = [line for line in lines if not re.match(pattern, line)]
        if len(lines) < count:
            print(f"{count - len(lines)} known differences: {pattern}: {cause}")
    print("\n".join([*lines, f"{len(lines)} differences"]))
    return bool(lines)
