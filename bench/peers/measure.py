"""Runs one workload on all workers: start, prepare, then short samples in turn."""

import contextlib
import fcntl
import os
import statistics
import time
from dataclasses import dataclass, field

from process import Process, WorkerError

START_TIMEOUT = 180  # importing a framework on a busy machine
PAUSE = 0.01  # lets threads of the last worker stop spinning before the next one is timed


@dataclass
class Contestant:
    """A configuration of a peer. Several may have the same name: the best of them counts."""

    name: str
    command: list
    env: dict = field(default_factory=dict)
    setting: str = ""
    only_threaded: bool = False  # a setting without effect for one thread
    workloads: frozenset = frozenset()
    version: str = ""


@dataclass
class Figure:
    """The measurements of one contestant, in milliseconds."""

    ms: float
    best: float
    median: float
    cores: float
    variant: str
    check: list
    peak_mib: float = None  # of a process that does nothing else; if measured


@dataclass
class Outcome:
    figures: dict  # name -> Figure
    failures: dict  # name -> reason
    other_cores: float  # CPU cores that other programs used during samples


def summarize(rounds):
    """(typical, best, median): see README. Typical is the median of the faster half of the rounds."""
    values = sorted(statistics.median(times) for times in rounds)
    fast_half = values[:max(1, (len(values) + 1) // 2)]
    return (statistics.median(fast_half), min(min(times) for times in rounds),
            statistics.median(values))


def thread_env(threads):
    return {"KERATIN_PEER_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads), "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": ""}


def start(contestant, threads, log_dir):
    log = os.path.join(log_dir, f"{contestant.name}.log")
    return Process(contestant.name, contestant.command, {**thread_env(threads), **contestant.env}, log)


def busy_seconds():
    """CPU seconds that all programs of the machine used, and those that the hypervisor took."""
    with open("/proc/stat") as f:
        ticks = [int(v) for v in f.readline().split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Round:
    """A worker's samples of one workload."""

    def __init__(self, contestant, process):
        self.contestant, self.process = contestant, process
        self.prepared, self.rounds, self.cores, self.others = None, [], [], []

    def sample(self, workload, seconds):
        busy, begin = busy_seconds(), time.monotonic()
        reply = self.process.ask(dict(cmd="sample", workload=workload.name, seconds=seconds),
                                 timeout=30 + 20 * seconds)
        wall = time.monotonic() - begin
        self.rounds.append(reply["times_ms"])
        self.cores.append(reply.get("cores", 0.0))
        if "cores" in reply:
            self.others.append(max(0.0, (busy_seconds() - busy) / wall - reply["cores"]))

    def figure(self):
        typical, best, median = summarize(self.rounds)
        variant = ", ".join(v for v in (self.prepared.get("variant", ""), self.contestant.setting) if v)
        return Figure(typical, best, median, statistics.mean(self.cores), variant,
                      self.prepared["check"])


class Pool:
    """Starts workers. With `keep` a worker also runs the next workload with the same thread count,
    which saves its start, but lets workloads share a process."""

    def __init__(self, log_dir, keep):
        self._log_dir, self._keep, self._threads, self._idle = log_dir, keep, None, {}

    def take(self, contestant, threads):
        if threads != self._threads:
            self.close()
            self._threads = threads
        return self._idle.pop(id(contestant), None) or self.start(contestant, threads)

    def start(self, contestant, threads):
        return start(contestant, threads, self._log_dir)

    def give(self, contestant, process):
        if self._keep:
            self._idle[id(contestant)] = process
        else:
            process.stop()

    def close(self):
        for process in self._idle.values():
            process.stop()
        self._idle = {}


@contextlib.contextmanager
def turn(path):
    """Holds the lock of a file, for which other jobs of the machine wait."""
    if not path:
        yield
        return
    with open(path, "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def measure(workload, threads, contestants, options, pool, beside=lambda: None):
    """Measures a workload. `beside` is called once per round, between the samples."""
    # All start at once (imports overlap); everything timed happens one worker at a time.
    running, failures, done = [], {}, False
    for c in contestants:
        if workload.name in c.workloads and (threads > 1 or not c.only_threaded):
            running.append(Round(c, pool.take(c, threads)))
    everyone = list(running)
    try:
        running = keep(running, failures, lambda r: r.process.ask({"cmd": "list"}, START_TIMEOUT))
        with turn(options.lock):
            beside()
            running = keep(running, failures, lambda r: prepare(r, workload, threads, options))
            for _ in range(options.rounds):
                running = keep(running, failures, lambda r: r.sample(workload, options.seconds))
            peaks = measure_memory(running, workload, threads, options, pool) if workload.kind == "fit" else {}
        done = True
    finally:
        for r in everyone:
            if done and r in running:
                pool.give(r.contestant, r.process)
            else:
                r.process.stop()
    outcome = collect(workload, running, failures)
    for name, figure in outcome.figures.items():
        figure.peak_mib = peaks.get((name, figure.variant))
    return outcome


def measure_memory(running, workload, threads, options, pool):
    """Peak memory by (name, variant): each in a new process that trains with that variant alone."""
    peaks = {}
    for r in running:
        fresh = Round(r.contestant, pool.start(r.contestant, threads))
        try:
            fresh.process.ask({"cmd": "list"}, START_TIMEOUT)
            prepare(fresh, workload, threads, options, only=r.prepared.get("variant", ""))
            fresh.sample(workload, options.seconds)
            peak = fresh.process.ask({"cmd": "memory"}, 30)["peak_mib"]
            peaks[r.contestant.name, r.figure().variant] = peak
        except WorkerError:
            pass  # no figure
        finally:
            fresh.process.stop()
    return peaks


def prepare(r, workload, threads, options, **more):
    r.prepared = r.process.ask(dict(cmd="prepare", workload=workload.name, threads=threads,
                                    spec=workload.spec(), **more), options.prepare_timeout)
    if "check" not in r.prepared:
        raise WorkerError("its prepare reply has no check value")


def keep(running, failures, action):
    """Calls `action` with each worker, and kills and drops those that fail."""
    kept = []
    for r in running:
        try:
            action(r)
            kept.append(r)
        except WorkerError as e:
            label = r.contestant.name + (f" ({r.contestant.setting})" if r.contestant.setting else "")
            failures[label] = str(e)
            r.process.stop()  # immediately: a hanging worker would disturb the others
        time.sleep(PAUSE)
    return kept


def agrees(check, votes, tolerance):
    """True if every check value is within the tolerance of the peers' median."""
    if any(len(v) != len(check) for v in votes):
        return False
    expected = [statistics.median(values) for values in zip(*votes)]
    return all(abs(c - e) <= tolerance * abs(e) for c, e in zip(check, expected))


def collect(workload, running, failures):
    figures = {}
    others = [v for r in running for v in r.others]
    # Results are compared with the peers' median; Keratin counts only if it runs alone.
    checks = {r.contestant.name: r.prepared["check"] for r in running}
    votes = [v for name, v in checks.items() if name != "keratin"] or list(checks.values())
    for r in running:
        figure, name = r.figure(), r.contestant.name
        if not agrees(figure.check, votes, workload.tolerance):
            failures[name] = f"wrong result: check {figure.check}, the peers' {votes}"
        elif name not in figures or figure.ms < figures[name].ms:
            figures[name] = figure
    return Outcome(figures, failures, statistics.mean(others) if others else 0.0)
