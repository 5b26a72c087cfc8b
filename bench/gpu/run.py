#!/usr/bin/env python3
"""Measures the rows of rows.py, Keratin and PyTorch in turn, as JSON lines; see report.py.

    run.py [ROW...] [--without-torch] [--keratin PROGRAM] [--out STEPS.jsonl] [--seconds S] [--go-on]

The first line has the GPU's rates. Failures are listed at the end; the other rows go on, and what a
program printed before it failed is kept. After --seconds, if given, the running program is ended, and
the rows that are left are listed. With --go-on the file is kept, and its complete rows are not measured
again: for the same machine, right after.
"""

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from rows import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300  # seconds for one program: compiling for PyTorch takes the longest
MIN_SECONDS = 45  # with less time left no program is started


def run(command, limit):
    """The last JSON that a program prints, and its error. Not through a pipe: helpers of a compiler
    may outlive it."""
    error = None
    with tempfile.TemporaryFile("w+") as printed:
        try:
            subprocess.run(command, stdout=printed, check=True, timeout=limit)
        except (subprocess.SubprocessError, OSError) as failure:
            error = failure
        printed.seek(0)
        lines = [line for line in printed if line.startswith("{") and line.endswith("}\n")]
    if lines:
        return json.loads(lines[-1]), error
    return None, error or "it printed nothing"


def python(script, *words):
    return [sys.executable, os.path.join(HERE, script), *words]


def jobs(rows, keratin, torch):
    """The programs to run, in turn, and the keys that their results must have."""
    if torch:
        yield "ceilings", None, python("torch_ceilings.py"), ["copy_gbs"]
    for row in rows:
        yield "keratin", row.name, [keratin, *row.words], ["ms"]
        if torch:
            words = [*row.words, *["--compile"] * row.compiled]
            yield "torch", row.name, python("torch_steps.py", *words), row.modes


def lines_of(path):
    """The lines of the file, by program and row."""
    try:
        with open(path) as f:
            return {(line["who"], line["row"]): line for line in map(json.loads, f)}
    except FileNotFoundError:
        return {}


def measure(todo, known, out, end):
    """Writes a line for each job that is not known; returns those that failed or were left."""
    failures = []
    for who, name, command, needs in todo:
        if all(need in known.get((who, name), {}) for need in needs):
            continue
        begin, label = time.monotonic(), " ".join(filter(None, [who, name]))
        limit = min(LIMIT, end - begin)
        if limit < MIN_SECONDS:
            failures.append(f"{label}: no time left")
            continue
        got, error = run(command, limit)
        if error:
            failures.append(f"{label}: {error}")
        if got is None:
            continue
        line = {"who": who, "row": name, "date": datetime.date.today().isoformat(), **got}
        text = json.dumps(line)
        print(text, file=out, flush=True)
        print(f"{text} [{time.monotonic() - begin:.0f} s]", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    names = [row.name for row in ROWS]
    parser.add_argument("rows", nargs="*", choices=[[], *names], metavar="ROW", help=", ".join(names))
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--keratin", default="build/gpu/bin/keratin_gpu_steps")
    parser.add_argument("--out", default="build/gpu/steps.jsonl")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--go-on", action="store_true")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    rows = [row for row in ROWS if row.name in (given.rows or names)]
    known = lines_of(given.out) if given.go_on else {}
    with open(given.out, "a" if given.go_on else "w") as out:
        failures = measure(jobs(rows, given.keratin, not given.without_torch), known, out, end)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
