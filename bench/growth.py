#!/usr/bin/env python3
"""Measures how the cost of compiling, building and cloning grows with size, into bench/GROWTH.md.

Times depend on the amount of work and on the distance of memory. So the work is also counted
separately, as instructions under valgrind's callgrind, which do not depend on caches, on other
programs, or on luck.
"""
import argparse
import math
import os
import pathlib
import platform
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SIZES = [1000, 10000, 100000]
BENCHMARKS = {
    "differentiate_chain": "build a chain of operations and its gradients",
    "compile_chain": "compile a chain of operations",
    "compile_training_chain": "compile it with gradients and updates",
    "compile_training_layers": "compile layers with separate weights, gradients and updates",
    "build_model": "build a model of Dense layers",
    "clone_of_model": "clone it (work: with building it)",
}
# Every size has 100,000 layers in all, so only the size of a model differs.
KEPT = {
    "build_models_kept": "build models of this size, 100,000 layers in all",
    "clone_of_models_kept": "clone them",
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"growth: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def instructions(program, name, size):
    """The instructions of one run of the benchmark's function, without start-up."""
    out = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               f"--toggle-collect=keratin::(anonymous namespace)::{name}(benchmark::State&)",
               program, f"--benchmark_filter=^{name}/{size}$", "--benchmark_min_time=0.000001"])
    iterations = re.search(rf"^{name}/{size} .* ms +(\d+) us/", out, re.M)
    if not iterations or iterations[1] != "1":
        sys.exit(f"growth: expected one run of {name}/{size}, got:\n{out}")
    return int(re.search(r"Collected : (\d+)", out)[1])


def microseconds(program, name):
    """The time per node or layer, by size: the best of three, since disturbance only adds time. A run
    before them, in which memory is allocated, does not count."""
    out = run([program, f"--benchmark_filter=^{name}/", "--benchmark_min_time=0.3",
               "--benchmark_min_warmup_time=0.01", "--benchmark_repetitions=3"])
    best = {}
    for size, time in re.findall(rf"^{name}/(\d+) .* us/\w+=([0-9.]+)s", out, re.M):
        best[int(size)] = min(float(time), best.get(int(size), math.inf))
    return best


def table(rows, digits, names=BENCHMARKS):
    lines = ["| | " + " | ".join(f"{size:,}" for size in SIZES) + f" | {SIZES[-1]:,} : {SIZES[0]:,} |",
             "|---" * (len(SIZES) + 2) + "|"]
    for name, by_size in rows.items():
        cells = [f"{by_size[size]:,.{digits}f}" for size in SIZES]
        lines.append(f"| {names[name]} | " + " | ".join(cells)
                     + f" | {by_size[SIZES[-1]] / by_size[SIZES[0]]:.3f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/bin/keratin_bench")
    parser.add_argument("--out", default=HERE / "GROWTH.md", type=pathlib.Path)
    options = parser.parse_args()
    times = {name: microseconds(options.program, name) for name in BENCHMARKS}
    kept = {name: microseconds(options.program, name) for name in KEPT}
    work = {}
    for name in BENCHMARKS:
        work[name] = {size: instructions(options.program, name, size) / size for size in SIZES}
        print(name, *(f"{count:,.0f}" for count in work[name].values()), flush=True)
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    options.out.write_text(f"""# How costs grow with size

Made by `bench/growth.py` (`make bench-growth`) on {platform.machine()}. Sizes are operations of the
program before differentiation, or layers of the model.

## Work: instructions per operation or layer

The same at every size: nothing in the compiler or in the layer graph is worse than linear.

{table(work, 0)}

## Time: microseconds per node or layer

Time grows faster than the work because of memory: a small program fits into the caches, a large one is
read from memory by every pass. Best of three. Huge pages for malloc ({tunables or "not set"}).

{table(times, 2)}

With the same memory at every size, only the size of a model differs:

{table(kept, 2, KEPT)}
""")


if __name__ == "__main__":
    main()
