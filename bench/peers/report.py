"""Targets, the table of ratios, RESULTS.md and results.json."""

import json
import os
import platform
import re
from dataclasses import dataclass

from workloads import WORKLOADS

PEERS = ["torch_eager", "torch_compile", "keras_tensorflow", "keras_jax", "onnxruntime"]
TARGET_THREADS = 2


@dataclass
class Target:
    workload: str
    text: str
    need: float  # the minimum ratio; with `upper`, the maximum
    got: float
    upper: bool = False

    @property
    def met(self):
        return self.got <= self.need if self.upper else self.got >= self.need

    @property
    def verdict(self):
        if self.met:
            return "met"
        short = self.got / self.need - 1 if self.upper else 1 - self.got / self.need
        return f"missed by {100 * short:.0f} %"


def fastest(row):
    return min(row["peers"].values(), default=None)


def targets(rows):
    """The targets of the rows that were measured with two threads."""
    for row in rows:
        mine, name = row["keratin_ms"], row["workload"]
        if row["threads"] != TARGET_THREADS or mine is None or not row["peers"]:
            continue
        eager, best = row["peers"].get("torch_eager"), fastest(row)
        if name in ("mlp_train", "convnet_train"):
            if eager:
                yield Target(name, "3x PyTorch eager", 3.0, eager / mine)
            yield Target(name, "1.5x the fastest peer", 1.5, best / mine)
            if row["floor_ms"]:
                yield Target(name, "within 2x of the floor", 2.0, mine / row["floor_ms"], upper=True)
        elif name == "tiny_mlp_infer" and eager:
            yield Target(name, "50x PyTorch eager", 50.0, eager / mine)
        elif name.startswith("fit_"):
            yield Target(name, "1.3x the fastest peer", 1.3, best / mine)
            yield from memory_target(row)
        elif name == "predict_one":
            keras = min((ms for peer, ms in row["peers"].items() if peer.startswith("keras")), default=None)
            if keras:
                yield Target(name, "50x Keras's predict", 50.0, keras / mine)
            if eager:
                yield Target(name, "5x PyTorch eager", 5.0, eager / mine)
        elif name.startswith(("matmul_", "conv_")):
            yield Target(name, "0.9x the fastest peer", 0.9, best / mine)


def peaks(row):
    return {name: s["peak_mib"] for name, s in row.get("spread", {}).items() if "peak_mib" in s}


def memory_target(row):
    others = peaks(row)
    mine = others.pop("keratin", None)
    if mine and others:
        yield Target(row["workload"], "peak memory of the smallest peer", 1.0, mine / min(others.values()),
                     upper=True)


def short(ms):
    if ms is None:
        return "-"
    return f"{ms * 1e3:.3g} us" if ms < 0.1 else f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


def table(head, lines):
    widths = [max(len(str(line[i])) for line in [head, *lines]) for i in range(len(head))]
    rule = ["-" * w for w in widths]
    return "\n".join("| " + " | ".join(str(c).ljust(w) for c, w in zip(line, widths)) + " |"
                     for line in [head, rule, *lines])


def ratio_table(rows):
    """For each workload: Keratin's time, the floor, and each peer's time with its ratio to Keratin's."""
    lines = []
    for row in rows:
        mine, best = row["keratin_ms"], fastest(row)
        cells = []
        for peer in PEERS:
            ms = row["peers"].get(peer)
            ratio = f" ({ms / mine:.2f}x)" if ms and mine else ""
            cells.append(short(ms) + ratio + (" *" if ms and ms == best else ""))
        over = f"{mine / row['floor_ms']:.2f}x" if mine and row["floor_ms"] else "-"
        lines.append([row["workload"], row["threads"], short(mine), short(row["floor_ms"]), over, *cells])
    return table(["workload", "T", "keratin", "floor", "over floor", *PEERS], lines)


def memory_table(rows):
    lines = [[row["workload"], row["threads"], *[f"{peaks(row)[n]:.0f}" if n in peaks(row) else "-"
                                                 for n in ("keratin", *PEERS)]]
             for row in rows if peaks(row)]
    return table(["workload", "T", "keratin", *PEERS], lines)


def target_table(found, notes):
    lines = [[t.workload, t.text, f"{t.got:.2f}x", t.verdict,
              "" if t.met else notes.get(t.workload, "no note yet")] for t in found]
    return table(["workload", "target", "got", "verdict", "why"], lines)


def merged(rows, path):
    """The rows, and the rows of other workloads and thread counts in the file."""
    with open(path) as f:
        before = json.load(f)
    new = {(row["workload"], row["threads"]) for row in rows}
    position = {name: i for i, name in enumerate(WORKLOADS)}
    kept = [row for row in before if (row["workload"], row["threads"]) not in new]
    return sorted(kept + rows, key=lambda row: (row["threads"], position.get(row["workload"], len(position))))


def dates(rows):
    """The rows of each day, if there are several days."""
    days = sorted({row.get("date", "") for row in rows})
    return [f"- Measured on {day}: " + ", ".join(r["workload"] for r in rows if r.get("date", "") == day)
            for day in days] if len(days) > 1 else []


def read_notes(path):
    """The reasons for missed targets: lines `- workload: reason`, written by hand."""
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return dict(re.findall(r"^- (\w+): (.+)$", f.read(), flags=re.M))


def cpu_name():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def cache_bytes(level):
    """The size of the first CPU's cache of a level."""
    try:
        with open(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size") as f:
            return int(f.read().strip().rstrip("K")) * 1024
    except (OSError, ValueError):
        return {2: 1 << 20, 3: 16 << 20}[level]


def markdown(rows, run, notes):
    """The text of RESULTS.md. `run` has versions, peaks, options and load, set by the driver."""
    found = list(targets(rows))
    missed = sum(not t.met for t in found)
    lines = [
        "# Keratin beside its peers", "",
        "Written by `make bench-peers`; bench/peers/README.md describes the method. On a GPU: "
        "[GPU.md](GPU.md); with several devices: [SCALING.md](SCALING.md).", "",
        f"- Machine: {cpu_name()}, {os.cpu_count()} CPUs, L3 {cache_bytes(3) >> 20} MiB, "
        f"{platform.system()} {platform.release()}",
        f"- Date: {run['date']}; {run['rounds']} rounds of {run['seconds']} s per worker",
        f"- Other programs used {run['other_cores']:.2f} cores on average while samples ran",
    ]
    lines += [f"- Peak, {t} thread{'s' if t > 1 else ''}: {p['gflops']:.0f} GF/s FMA, {p['l2_gbs']:.0f} GB/s L2, {p['l3_gbs']:.0f} GB/s L3, "
              f"{p['dram_gbs']:.1f} GB/s DRAM" for t, p in run["peaks"].items()]
    lines += [f"- {name}: {version}" for name, version in run["versions"].items()]
    lines += dates(rows)
    lines += ["", "## Targets (two threads)", ""]
    if found:
        lines += [f"{len(found) - missed} of {len(found)} met.", "", target_table(found, notes)]
    else:
        lines += ["Keratin was not measured in this run."]
    lines += ["", "## Times and ratios", "",
              "Milliseconds unless marked; in brackets, the ratio to Keratin's time; * marks the fastest peer.",
              "", ratio_table(rows), "", "## Spread", "",
              "best / median of each worker in milliseconds, the variant that it chose, and the cores that it used.",
              "", spread_table(rows)]
    if any(peaks(row) for row in rows):
        lines += ["", "## Peak memory", "", "MiB of a process that only fits the model.", "",
                  memory_table(rows)]
    if run["failures"]:
        lines += ["", "## Not measured", ""]
        lines += [f"- {where}: {why}" for where, why in run["failures"]]
    return "\n".join(lines) + "\n"


def spread_table(rows):
    lines = [[row["workload"], row["threads"], name, f"{short(s['best'])} / {short(s['median'])}",
              s["variant"], f"{s['cores']:.1f}"] for row in rows for name, s in row["spread"].items()]
    return table(["workload", "T", "who", "best / median", "variant", "cores"], lines)


def gpu_section(path):
    """The section of bench/gpu/report.py at the end of the file, which is kept."""
    if not os.path.exists(path):
        return ""
    with open(path) as f:
        _, heading, text = f.read().partition("\n## On a GPU\n")
    return heading + text


def save(rows, run, notes, folder):
    with open(os.path.join(folder, "results.json"), "w") as f:
        json.dump(rows, f, indent=1)
        f.write("\n")
    path = os.path.join(folder, "RESULTS.md")
    text = markdown(rows, run, notes) + gpu_section(path)
    with open(path, "w") as f:
        f.write(text)
