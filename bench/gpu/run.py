#!/usr/bin/env python3
"""Measures the rows of rows.py, Keratin and PyTorch in turn, as JSON lines; see report.py.

    run.py [ROW...] [--without-torch] [--keratin PROGRAM] [--out STEPS.jsonl]

The first line says what the GPU can do. Whatever fails is named at the end; the others go on.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

from rows import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300  # seconds for one program: compiling for PyTorch takes the longest


def run(command):
    """The JSON that a program prints. Not through a pipe: helpers of a compiler may outlive it."""
    with tempfile.TemporaryFile("w+") as printed:
        subprocess.run(command, stdout=printed, check=True, timeout=LIMIT)
        printed.seek(0)
        return json.loads(printed.readlines()[-1])


def python(script, *words):
    return [sys.executable, os.path.join(HERE, script), *words]


def jobs(rows, keratin, torch):
    """Who measures what, in turn."""
    if torch:
        yield "ceilings", None, python("torch_ceilings.py")
    for row in rows:
        yield "keratin", row.name, [keratin, *row.words]
        if torch:
            yield "torch", row.name, python("torch_steps.py", *row.words, *["--compile"] * row.compiled)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    names = [row.name for row in ROWS]
    parser.add_argument("rows", nargs="*", choices=[[], *names], metavar="ROW", help=", ".join(names))
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--keratin", default="build/gpu/bin/keratin_gpu_steps")
    parser.add_argument("--out", default="build/gpu/steps.jsonl")
    given = parser.parse_args()
    rows, failures = [row for row in ROWS if row.name in (given.rows or names)], []
    with open(given.out, "w") as out:
        for who, name, command in jobs(rows, given.keratin, not given.without_torch):
            begin = time.monotonic()
            line = {"who": who, "row": name, "date": datetime.date.today().isoformat()}
            try:
                line |= run(command)
            except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
                failures.append(f"{who} {name or ''}: {error}")
                continue
            text = json.dumps(line)
            print(text, file=out, flush=True)
            print(f"{text} [{time.monotonic() - begin:.0f} s]", flush=True)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
