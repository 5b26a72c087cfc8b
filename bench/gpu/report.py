#!/usr/bin/env python3
"""Tables of what run.py measured.

    report.py [STEPS.jsonl...]

makes results.json of the files, where a later line replaces an earlier one of the same row, and
writes its table into ../RESULTS.md, as the last section; without a file it makes the table again.
"""

import fileinput
import json
import os
import sys

from rows import ROWS, floors

HERE = os.path.dirname(os.path.abspath(__file__))
HEADING = "## On a GPU\n"
MODES = {"eager": "PyTorch eager", "compile": "torch.compile", "graph": "CUDA graph by hand"}


def collect(lines):
    """{"ceilings": …, "rows": {name: {"keratin": …, "torch": …}}} of lines of JSON."""
    results = {"ceilings": {}, "rows": {}}
    for line in map(json.loads, lines):
        who, name = line.pop("who"), line.pop("row")
        if who == "ceilings":
            results["ceilings"] = line
        else:
            results["rows"].setdefault(name, {})[who] = line
    return results


def short(ms):
    return f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


def verdicts(row, mine, torch):
    """Each target of the row, and whether it is met."""
    for mode, need in row.targets.items():
        if mode == "ms":
            text, short_of = f"≤ {need} ms", mine / need - 1
        else:
            text = f"{need}× {mode}" if need > 1 else f"under {mode}"
            if mode not in torch:
                yield f"{text} not measured"
                continue
            short_of = 1 - torch[mode] / mine / need
        yield text + (f" missed by {100 * short_of:.0f} %" if short_of > 0 else " met")


def missing(row, measured):
    """The measurements of the row that are missing."""
    names = {"keratin": "Keratin", **MODES}
    torch = measured.get("torch", {})
    have = {"keratin": "keratin" in measured} | {mode: mode in torch for mode in row.modes}
    return [names[who] for who, there in have.items() if not there]


def cell(mode, row, mine, torch):
    if mode not in torch:
        return "missing" if mode in row.modes else "–"
    return f"{short(torch[mode])} ({torch[mode] / mine:.3g}×)"


def cells(row, measured, ceilings):
    keratin, torch = measured.get("keratin", {}), measured.get("torch", {})
    mine = keratin.get("ms")
    if not mine:
        return None
    line = [row.title, short(mine), short(keratin["alone_ms"])]
    line += [cell(mode, row, mine, torch) for mode in MODES]
    line.append("; ".join(verdicts(row, mine, torch)))
    if not ceilings:
        return [*line, "–", "–"]
    what, floor = max(floors(row, ceilings).items(), key=lambda need: need[1])
    return [*line, f"{short(floor)} ({what})", f"{mine / floor:.3g}×"]


def table(results):
    head = ["ms", "Keratin", "alone", *MODES.values(), "targets", "floor", "over it"]
    lines = [cells(row, results["rows"].get(row.name, {}), results["ceilings"]) for row in ROWS]
    return "\n".join("| " + " | ".join(line) + " |"
                     for line in [head, ["---"] * len(head), *filter(None, lines)])


def gaps(results):
    """A sentence about the incomplete rows, or nothing."""
    found = {row.title: missing(row, results["rows"].get(row.name, {})) for row in ROWS}
    lines = [f"{', '.join(what)} of {title}" for title, what in found.items() if what]
    return f"\nNot measured: {'; '.join(lines)}.\n" if lines else ""


def section(results):
    c = results["ceilings"]
    dates = sorted({line["date"] for row in results["rows"].values() for line in row.values()})
    machine = f"{c['gpu']}, PyTorch {c['torch']}; it copies {c['copy_gbs'] / 1e3:.2f} TB/s " \
              f"(bytes read and written) and {c['host_gbs']:.0f} GB/s from the host, and multiplies " \
              f"{c['tf32_tflops']} TFLOP/s in TF32, {c['bf16_tflops']} in bf16. " if c else ""
    return f"""{HEADING}
{machine}Measured on {", ".join(dates)} by `scripts/gpu-check bench`, Keratin and PyTorch in turn;
written by bench/gpu/report.py. [GPU.md](GPU.md) says what a step is.

Keratin's steps take the batch from the host's memory, and "alone" the loss is read after each;
PyTorch's batch is on the GPU and nothing is read back. In brackets, how many times Keratin's time.
The floor is the longest of FLOPs, bytes of memory and the copy of the batch, each at the rates above.
Matmuls are TF32 where the row does not say bf16. A dash is not measured.

{table(results)}
{gaps(results)}"""


def put(text, path):
    """The section into the file, in place of the one there."""
    with open(path) as f:
        before = f.read().split(HEADING)[0].rstrip("\n")
    with open(path, "w") as f:
        f.write(f"{before}\n\n{text}")


def main():
    path = os.path.join(HERE, "results.json")
    if len(sys.argv) > 1:
        with open(path, "w") as f:
            json.dump(collect(fileinput.input()), f, indent=1)
            f.write("\n")
    with open(path) as f:
        text = section(json.load(f))
    put(text, os.path.join(os.path.dirname(HERE), "RESULTS.md"))
    print(text)


if __name__ == "__main__":
    main()
