#!/usr/bin/env python3
"""Compares building and cloning a chain of layers in Keratin and Keras, in turn, in one run.

usage: graph.py [--layers N] [--rounds N] [--keratin PATH] [--python PATH] [--out FILE]

A round times Keratin (keratin_bench, in a process of its own) and then Keras (this script again,
under the Python that has it); the best of all rounds counts for each. Prints a table, and writes it
to FILE.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def keras_times(layers):
    """The seconds to build and to clone the chain, and Keras's version; runs in the peers' Python."""
    os.environ.setdefault("KERAS_BACKEND", "jax")
    sys.setrecursionlimit(100 * layers)  # Keras recurses: Python's default limit is too low
    import keras

    def build():
        x = inputs = keras.Input((4,))
        for _ in range(layers):
            x = keras.layers.Dense(4)(x)
        return keras.Model(inputs, x)

    start = time.perf_counter()
    model = build()
    built = time.perf_counter()
    keras.models.clone_model(model)
    return {"build": built - start, "clone": time.perf_counter() - built,
            "version": f"Keras {keras.__version__} on {keras.backend.backend()}"}


def keratin_times(bench, layers):
    out = subprocess.run(
        [bench, f"--benchmark_filter=^(build_model|clone_of_model)/{layers}$",
         "--benchmark_format=json", "--benchmark_min_time=0.1"],
        check=True, capture_output=True, text=True).stdout
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    times = {b["name"].split("/")[0]: b["real_time"] * unit[b["time_unit"]]
             for b in json.loads(out)["benchmarks"]}
    return {"build": times["build_model"], "clone": times["clone_of_model"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--layers", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keratin", default=ROOT / "build/release/bin/keratin_bench")
    parser.add_argument("--python", default=sys.executable, help="the Python that has Keras")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return print(json.dumps(keras_times(options.layers)))

    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(keratin_times(options.keratin, options.layers))
        answer = subprocess.run(
            [options.python, __file__, "--worker", f"--layers={options.layers}"],
            check=True, capture_output=True, text=True).stdout
        theirs.append(json.loads(answer.splitlines()[-1]))
    lines = [f"| {options.layers} Dense layers | Keratin ms | {theirs[0]['version']} ms | ratio |",
             "|---|---|---|---|"]
    for what in ("build", "clone"):
        a, b = min(t[what] for t in ours) * 1e3, min(t[what] for t in theirs) * 1e3
        lines.append(f"| {what} | {a:.2f} | {b:.0f} | {b / a:.0f}x |")
    table = "\n".join(lines)
    print(table)
    if options.out:
        options.out.write_text(
            "# Building and cloning, beside Keras\n\nMade by `bench/peers/graph.py`, best of "
            f"{options.rounds} rounds in one run, on {platform.machine()} with "
            f"{os.cpu_count()} cores. The goal is 50x.\n\n{table}\n")


if __name__ == "__main__":
    main()
