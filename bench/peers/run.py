#!/usr/bin/env python3
"""`make bench-peers`: Keratin and its peers side by side. README.md explains the method."""

import argparse
import datetime
import fnmatch
import hashlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile

import measure
import report
from measure import Contestant
from process import WorkerError
from workloads import WORKLOADS, floor_ms

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
VENV = os.path.join(BENCH, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
KERATIN = os.path.join(ROOT, "build", "release", "bin", "keratin_peer_worker")

# Waiting threads of libgomp spin, which is fast on an idle machine and slow on a shared one. PyTorch,
# which has libgomp, is measured with and without spinning, and the better one counts.
PASSIVE = {"OMP_WAIT_POLICY": "passive"}


# The peaks of the machine that Keratin's worker measures.
PEAKS = ("gflops", "l2_gbs", "l3_gbs", "dram_gbs")


def contestants(keratin):
    def python(script, *args):
        return [PYTHON, os.path.join(HERE, script), *args]

    def both_waits(name, command):
        return [Contestant(name, command),
                Contestant(name, command, PASSIVE, "passive wait", only_threaded=True)]

    found = [Contestant("keratin", [keratin])] if keratin else []
    found += both_waits("torch_eager", python("torch_worker.py", "eager"))
    found += both_waits("torch_compile", python("torch_worker.py", "compile"))
    for backend in ("tensorflow", "jax"):
        found.append(Contestant(f"keras_{backend}", python("keras_worker.py"), {"KERAS_BACKEND": backend}))
    found.append(Contestant("onnxruntime", python("onnx_worker.py")))
    return found


def make_venv():
    """Makes bench/.venv from requirements.txt, unless it exists."""
    requirements = os.path.join(HERE, "requirements.txt")
    stamp = os.path.join(VENV, ".keratin-peers")
    with open(requirements, "rb") as f:
        wanted = hashlib.sha256(f.read()).hexdigest()
    if os.path.exists(stamp) and open(stamp).read() == wanted:
        return
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    missing = [] if os.path.exists(header) else ["python3-dev"]
    try:
        import ensurepip  # noqa: F401  (a separate package in Debian)
    except ImportError:
        missing.append("python3-venv")
    if missing:
        sys.exit(f"bench-peers: please install {' '.join(missing)} (apt-get install {' '.join(missing)})")
    print(f"bench-peers: installing the peers in {os.path.relpath(VENV)} (about 8 GB)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
                    requirements], check=True)
    with open(stamp, "w") as f:
        f.write(wanted)


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--only", default="*", help="comma separated workload names or patterns")
    p.add_argument("--peers", default="*", help="comma separated peer names or patterns")
    p.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    p.add_argument("--rounds", type=int, default=10, help="samples per worker (default 10)")
    p.add_argument("--seconds", type=float, default=0.25, help="length of a sample (default 0.25)")
    p.add_argument("--prepare-timeout", type=float, default=300.0, help="seconds to compile and warm up")
    p.add_argument("--quick", action="store_true", help="two threads, 4 rounds of 0.15 s")
    p.add_argument("--keep-workers", action="store_true",
                   help="one process per worker and thread count instead of one per workload: "
                        "sooner done, less isolated (--quick does this)")
    p.add_argument("--lock", metavar="FILE",
                   help="hold this file's lock (flock) while a workload is measured, so that other "
                        "jobs on a shared machine can take turns with the benchmark")
    p.add_argument("--without-keratin", action="store_true", help="measure the peers alone")
    p.add_argument("--keratin", default=KERATIN, help="path of Keratin's worker")
    p.add_argument("--out", help="folder for RESULTS.md and results.json (default: bench/ for a full run, "
                                 "nothing written for a partial one)")
    p.add_argument("--update", action="store_true",
                   help="write this run's rows into bench/ and leave those of other workloads there, "
                        "each with the date it was measured on")
    p.add_argument("--spec", action="store_true", help="print the workloads as JSON and stop")
    options = p.parse_args()
    if options.quick:
        options.threads, options.rounds, options.seconds = "2", 4, 0.15
        options.keep_workers = True
    options.threads = [int(t) for t in options.threads.split(",")]
    return options


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, p) for p in patterns.split(","))


def is_full(options):
    return (options.only == "*" and options.peers == "*" and 2 in options.threads
            and not options.quick and not options.without_keratin)


def named_workloads(reply):
    """True if a worker can run a workload: it lists names, or kinds that it builds from a spec."""
    if "kinds" in reply:
        return frozenset(name for name, w in WORKLOADS.items() if w.kind in reply["kinds"])
    return frozenset(reply["workloads"])


def introduce(found, log_dir, run):
    """Asks every contestant for its version and workloads; one that cannot start is dropped."""
    known = []
    for c in found:
        process = measure.start(c, 2, log_dir)
        try:
            reply = process.ask({"cmd": "list"}, measure.START_TIMEOUT)
            c.workloads, c.version = named_workloads(reply), reply.get("version", "")
            run["versions"][c.name] = c.version
            known.append(c)
        except WorkerError as e:
            run["failures"].append((c.name, str(e)))
            print(f"bench-peers: {c.name} cannot start: {e}", flush=True)
        finally:
            process.stop()
    return known


def measure_peak(found, threads, log_dir, run):
    """Keratin's worker measures the peak of the machine with every workload, and the best values of
    the run count: a peak that was measured in a slow moment would flatter everyone."""
    keratin = next((c for c in found if c.name == "keratin"), None)
    if keratin is None:
        return
    process = measure.start(keratin, threads, log_dir)
    try:
        now = process.ask({"cmd": "peak", "threads": threads}, 60)
        best = run["peaks"].setdefault(threads, dict.fromkeys(PEAKS, 0.0))
        run["peaks"][threads] = {k: max(v, now[k]) for k, v in best.items()}
    except (WorkerError, KeyError) as e:
        run["failures"].append((f"peak, {threads} threads", str(e)))
    finally:
        process.stop()


def make_row(workload, threads, outcome, date):
    ms = {name: figure.ms for name, figure in outcome.figures.items()}
    spread = {name: dict(best=f.best, median=f.median, variant=f.variant, cores=round(f.cores, 2),
                         **({"peak_mib": round(f.peak_mib, 1)} if f.peak_mib else {}))
              for name, f in outcome.figures.items()}
    return dict(workload=workload.name, threads=threads, date=date, keratin_ms=ms.pop("keratin", None), peers=ms,
                floor_ms=None, spread=spread)


def set_floors(rows, peaks):
    for row in rows:
        peak = peaks.get(row["threads"])
        if peak and all(peak.values()):
            caches = report.cache_bytes(2) * row["threads"], report.cache_bytes(3)
            row["floor_ms"] = floor_ms(WORKLOADS[row["workload"]], peak, caches)


def run_all(found, selected, options, log_dir, run):
    """The rows of all workloads; after an interrupt, those measured so far."""
    rows, loads, pool = [], [], measure.Pool(log_dir, options.keep_workers)
    try:
        for threads in options.threads:
            for i, workload in enumerate(selected):
                print(f"[{threads} threads, {i + 1}/{len(selected)}] {workload.name} ", end="", flush=True)
                outcome = measure.measure(
                    workload, threads, found, options, pool,
                    beside=lambda: measure_peak(found, threads, log_dir, run))
                rows.append(make_row(workload, threads, outcome, run["date"]))
                loads.append(outcome.other_cores)
                run["failures"] += [(f"{workload.name}, {threads} threads, {n}", why)
                                    for n, why in outcome.failures.items()]
                print("  ".join(f"{n} {report.short(f.ms)}" for n, f in outcome.figures.items())
                      + "".join(f"  [{n}: {why}]" for n, why in outcome.failures.items()), flush=True)
    except KeyboardInterrupt:
        run["interrupted"] = True
    finally:
        pool.close()
    set_floors(rows, run["peaks"])
    run["other_cores"] = sum(loads) / max(1, len(loads))
    return rows


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    options = parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # both end the workers and report
        signal.signal(number, interrupt)
    if options.spec:
        print(json.dumps({name: w.spec() for name, w in WORKLOADS.items()}, indent=1))
        return
    keratin = None if options.without_keratin else options.keratin
    if keratin and not os.access(keratin, os.X_OK):
        sys.exit(f"bench-peers: no worker at {keratin}; build it first, or pass --without-keratin")
    make_venv()
    # Kept between runs, so that compiled kernels are not compiled again.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(VENV, "inductor-cache"))
    run = dict(date=datetime.date.today().isoformat(), rounds=options.rounds, seconds=options.seconds,
               peaks={}, versions={}, failures=[], other_cores=0.0, interrupted=False)
    selected = [w for w in WORKLOADS.values() if matches(w.name, options.only)]
    with tempfile.TemporaryDirectory(prefix="keratin-peers-") as log_dir:
        found = [c for c in contestants(keratin) if c.name == "keratin" or matches(c.name, options.peers)]
        rows = run_all(introduce(found, log_dir, run), selected, options, log_dir, run)
    if options.update:
        rows = report.merged(rows, os.path.join(BENCH, "results.json"))
    notes = report.read_notes(os.path.join(HERE, "notes.md"))
    print("\n" + report.markdown(rows, run, notes))
    whole = is_full(options) and not run["interrupted"]
    folder = options.out or (BENCH if whole or options.update else None)
    if folder:
        os.makedirs(folder, exist_ok=True)
        report.save(rows, run, notes, folder)
        print(f"bench-peers: wrote RESULTS.md and results.json in {os.path.relpath(folder)}")


if __name__ == "__main__":
    main()
