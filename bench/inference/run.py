"""Compares the inference of Keratin with ONNX Runtime, OpenVINO and LiteRT, in turn in one run.

Writes bench/INFERENCE.md and bench/inference.json; bench/inference/README.md describes the method.
"""

import argparse
import contextlib
import datetime
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
sys.path.insert(0, os.path.join(BENCH, "peers"))

from networks import NETWORKS  # noqa: E402
from process import Process, WorkerError  # noqa: E402

FILES = os.path.join(ROOT, "build", "inference-networks")
PYTHON = os.path.join(ROOT, "build", "inference", "bin", "python")
KERATIN = os.path.join(ROOT, "build", "release", "bin", "keratin_inference_worker")
PEERS = ["onnxruntime", "openvino", "litert"]
TOLERANCE = 1e-3  # of the mean square of the output
PAUSE = 0.02  # lets threads of the last contestant stop spinning

# (batch, threads, load, callers)
CONDITIONS = [(1, 1, 0, 1), (1, 2, 0, 1), (16, 2, 0, 1), (1, 1, 2, 1), (1, 2, 2, 1), (1, 1, 4, 1),
              (1, 2, 4, 1), (1, 2, 0, 8), (1, 2, 0, 32)]


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--only", default="*", help="comma separated networks or patterns")
    p.add_argument("--peers", default=",".join(PEERS), help="comma separated peers")
    p.add_argument("--conditions", default="*",
                   help="comma separated patterns of batch/threads/load/callers, such as '1/*/0/1'")
    p.add_argument("--rounds", type=int, default=6, help="samples per contestant (default 6)")
    p.add_argument("--seconds", type=float, default=0.5, help="length of a sample (default 0.5)")
    p.add_argument("--out", default=BENCH, help="folder of INFERENCE.md and inference.json")
    return p.parse_args()


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, p) for p in patterns.split(","))


def make_files(names):
    missing = [n for n in names if not os.path.exists(os.path.join(FILES, n + ".keras"))]
    if missing:
        subprocess.run([PYTHON, os.path.join(HERE, "networks.py"), FILES, *missing], check=True)


@contextlib.contextmanager
def busy_processes(count):
    """Other programs that use the processors all the time."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.1 if count else 0)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def start(name, log_dir):
    command = [KERATIN] if name == "keratin" else [PYTHON, os.path.join(HERE, "peer_worker.py"), name]
    return Process(name, command, {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
                   os.path.join(log_dir, name + ".log"))


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def figures(rounds, callers):
    """Typical milliseconds: the median of the faster half of the rounds' medians."""
    medians = sorted(statistics.median(r["times_ms"]) for r in rounds)
    found = {"ms": statistics.median(medians[:(len(medians) + 1) // 2]), "best": min(min(r["times_ms"]) for r in rounds),
             "median": statistics.median(medians)}
    if callers > 1:
        times = [t for r in rounds for t in r["times_ms"]]
        found["p50"], found["p99"] = percentile(times, 0.5), percentile(times, 0.99)
        found["per_second"] = len(times) / sum(r["seconds"] for r in rounds)
    return found


class Contestants:
    def __init__(self, names, log_dir):
        self.names, self.log_dir, self.processes, self.versions = names, log_dir, {}, {}

    def __enter__(self):
        for name in self.names:
            self.ask(name, {"cmd": "list"}, 120, lambda reply, n=name: self.versions.update({n: reply["version"]}))
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.stop()

    def ask(self, name, request, timeout, use):
        """Calls `use` with the reply; a contestant that fails is started again. Returns the failure."""
        try:
            if name not in self.processes:
                self.processes[name] = start(name, self.log_dir)
            use(self.processes[name].ask(request, timeout))
        except WorkerError as e:
            self.processes.pop(name).stop()
            return str(e)
        return None


def measure(contestants, network, condition, options, log):
    batch, threads, load, callers = condition
    prepared, rounds, failures = {}, {}, {}
    request = dict(cmd="prepare", path=os.path.join(FILES, network), batch=batch, threads=threads, callers=callers)
    for name in contestants.names:
        failure = contestants.ask(name, request, 300, lambda reply, n=name: prepared.update({n: reply}))
        if failure:
            failures[name] = failure
    rounds = {name: [] for name in prepared}
    with busy_processes(load):
        for _ in range(options.rounds):
            for name in list(rounds):
                time.sleep(PAUSE)
                failure = contestants.ask(name, dict(cmd="sample", seconds=options.seconds), 300, rounds[name].append)
                if failure:
                    failures[name] = failure
                    del rounds[name]
    checks = [p["check"] for n, p in prepared.items() if n != "keratin"] or [prepared["keratin"]["check"]]
    expected = statistics.median(checks)
    for name in list(rounds):
        if abs(prepared[name]["check"] - expected) > TOLERANCE * abs(expected):
            failures[name] = f"wrong result: {prepared[name]['check']}, expected {expected}"
            del rounds[name]
    for name, why in failures.items():
        log.append((network, name, why))
    return {name: figures(r, callers) for name, r in rounds.items()}, prepared.get("keratin", {}).get("flops")


def row_of(network, condition, found, flops, peaks):
    batch, threads, load, callers = condition
    gflops = peaks.get(threads, {}).get("gflops")
    return dict(workload=network, batch=batch, threads=threads, load=load, callers=callers, precision="f32",
                keratin_ms=found.get("keratin", {}).get("ms"),
                peers={n: f["ms"] for n, f in found.items() if n != "keratin"},
                floor_ms=flops / gflops / 1e6 if flops and gflops else None, figures=found)


def short(ms):
    return "-" if ms is None else f"{ms * 1e3:.3g} us" if ms < 0.1 else f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


def table(head, lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [head, ["---"] * len(head), *lines])


def ratio(row):
    best = min(row["peers"].values(), default=None)
    return best / row["keratin_ms"] if best and row["keratin_ms"] else None


def report(rows, run):
    lines, ratios = [], []
    for row in rows:
        r = ratio(row)
        if r:
            ratios.append(r)
        over = row["keratin_ms"] / row["floor_ms"] if row["keratin_ms"] and row["floor_ms"] else None
        lines.append([row["workload"], row["batch"], row["threads"], row["load"], row["callers"],
                      short(row["keratin_ms"]), *[short(row["peers"].get(p)) for p in PEERS],
                      f"{r:.2f}x" if r else "-", short(row["floor_ms"]), f"{over:.2f}x" if over else "-"])
    served = [[row["workload"], row["callers"], name, f"{f['per_second']:.1f}", short(f["p50"]), short(f["p99"])]
              for row in rows if row["callers"] > 1 for name, f in row["figures"].items()]
    parts = ["# Inference beside its peers", "Written by `make bench-inference`; "
             "[inference/README.md](inference/README.md) describes the method. Milliseconds unless marked.",
             f"- Date: {run['date']}; {run['rounds']} rounds of {run['seconds']} s per contestant\n"
             + "\n".join(f"- {v}" for v in run["versions"].values()) + "\n"
             + "\n".join(f"- Peak, {t} threads: {p['gflops']:.0f} GF/s FMA, {p['dram_gbs']:.1f} GB/s DRAM"
                         for t, p in run["peaks"].items()),
             "## Times", "`ratio` is the fastest peer's time by Keratin's; the floor is the arithmetic at the peak.",
             table(["network", "batch", "T", "load", "callers", "keratin", *PEERS, "ratio", "floor", "over floor"], lines)]
    if ratios:
        parts.append(f"Geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}x; "
                     f"fastest in {sum(r >= 1 for r in ratios)} of {len(ratios)} rows.")
    if served:
        parts += ["## Many callers", table(["network", "callers", "who", "calls a second", "p50", "p99"], served)]
    if run["failures"]:
        parts += ["## Left out", table(["network", "who", "why"], sorted({(n, w, y[:200]) for n, w, y in run["failures"]}))]
    return "\n\n".join(parts) + "\n"


def main():
    options = parse_args()
    networks = [n for n in NETWORKS if matches(n, options.only)]
    conditions = [c for c in CONDITIONS if matches("/".join(map(str, c)), options.conditions)]
    make_files(networks)
    run = dict(date=datetime.date.today().isoformat(), rounds=options.rounds, seconds=options.seconds, peaks={},
               failures=[])
    rows = []
    names = ["keratin", *[p for p in PEERS if matches(p, options.peers)]]
    with tempfile.TemporaryDirectory() as log_dir, Contestants(names, log_dir) as contestants:
        run["versions"] = contestants.versions
        for threads in sorted({c[1] for c in conditions}):
            contestants.ask("keratin", dict(cmd="peak", threads=threads), 60,
                            lambda reply, t=threads: run["peaks"].update({t: reply}))
        for network in networks:
            for condition in conditions:
                found, flops = measure(contestants, network, condition, options, run["failures"])
                rows.append(row_of(network, condition, found, flops, run["peaks"]))
                print(network, "/".join(map(str, condition)),
                      "  ".join(f"{n} {short(f['ms'])}" for n, f in found.items()), flush=True)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "INFERENCE.md"), "w") as f:
        f.write(report(rows, run))
    with open(os.path.join(options.out, "inference.json"), "w") as f:
        json.dump(rows, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
