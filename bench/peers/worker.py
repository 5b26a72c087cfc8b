"""The common code of Python workers: input data, variants, timing, and the line protocol.

A worker maps a workload's kind to a builder. A builder yields (label, make) pairs: the variants that
a careful user of the library would try. make() returns a Job. prepare() builds all variants, measures
them and keeps the fastest, so that a peer is shown at its best.
"""

import gc
import json
import os
import resource
import sys
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np

from workloads import WORKLOADS, Tokens

GROUP_SECONDS = 200e-6  # one reported time is the mean over calls that together last this long


@dataclass
class Job:
    step: Callable  # one iteration
    check: list  # see README: a few numbers of the result
    finish: Callable = lambda: None  # waits for asynchronous work, called once per group
    group: int = 1  # minimum number of calls per group


def mixed(tensor, count):
    """A hash of 24 bits for each index, computed in 32 bits, so that it is equal in every language."""
    h = np.arange(count, dtype=np.uint32)
    h += np.uint32((tensor.seed * 0x9E3779B9) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    h ^= h >> np.uint32(16)
    return h >> np.uint32(8)


def fill(tensor):
    """Uniform floats in [-scale, scale)."""
    unit = mixed(tensor, tensor.count).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return (unit * np.float32(tensor.scale)).reshape(tensor.shape)


def lengths(tokens):
    """The number of tokens in row i that are not padding."""
    rows, longest = tokens.shape
    return tokens.shortest + np.arange(rows) * 37 % (longest - tokens.shortest + 1)


def fill_tokens(tokens):
    rows, longest = tokens.shape
    bits = mixed(tokens, rows * longest).astype(np.int64).reshape(tokens.shape)
    ids = 1 + (bits * (tokens.vocabulary - 1) >> 24)
    return np.where(np.arange(longest) < lengths(tokens)[:, None], ids, 0).astype(np.int32)


def data(workload):
    return {name: fill_tokens(t) if isinstance(t, Tokens) else fill(t)
            for name, t in workload.tensors.items()}


def labels(workload):
    """The classes of the rows: i mod classes."""
    batch = workload.tensors["x"].shape[0]
    return np.arange(batch) % workload.attrs["classes"]


def mean_square(*arrays):
    """The check values of outputs and gradients."""
    return [float(np.mean(np.square(np.asarray(a, dtype=np.float64)))) for a in arrays]


def time_groups(job, calls, seconds):
    times, end = [], time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            job.step()
        job.finish()
        now = time.perf_counter()
        times.append((now - start) / calls * 1e3)
        if now >= end:
            return times


def calls_per_group(job):
    """Warms the job up, then finds the number of calls in a group."""
    times = time_groups(job, job.group, 0.2)
    return max(job.group, int(GROUP_SECONDS * 1e3 / np.median(times)) + 1)


def choose(candidates):
    """Builds every variant and returns the fastest as (label, job, calls)."""
    built, errors = [], []
    for label, make in candidates:
        try:
            job = make()
            built.append((label, job, calls_per_group(job)))
        except Exception as e:  # a library may refuse a variant
            errors.append(f"{label}: {type(e).__name__}: {e}")
            print(errors[-1], file=sys.stderr, flush=True)
    if not built:
        raise RuntimeError("; ".join(errors)[:2000])
    if len(built) == 1:
        return built[0]
    rounds = [[np.median(time_groups(job, calls, 0.05)) for _, job, calls in built] for _ in range(6)]
    return built[int(np.argmin(np.median(np.sort(rounds, axis=0)[:3], axis=0)))]


class Worker:
    def __init__(self, name, version, builders, reset=lambda: None):
        self.name, self.version, self.builders = name, version, builders
        self.reset, self.ready = reset, None  # reset forgets what an earlier workload compiled

    def handle(self, request):
        command = request["cmd"]
        if command == "list":
            names = [w.name for w in WORKLOADS.values() if w.kind in self.builders]
            return {"name": self.name, "version": self.version, "workloads": names}
        if command == "prepare":
            workload = WORKLOADS[request["workload"]]
            self.ready = None
            self.reset()
            gc.collect()
            candidates = self.builders[workload.kind](workload)
            if "only" in request:
                candidates = [c for c in candidates if c[0] == request["only"]]
            label, job, calls = choose(candidates)
            self.ready = workload.name, job, calls
            return {"ok": True, "variant": label, "check": job.check}
        if command == "sample":
            name, job, calls = self.ready
            assert name == request["workload"], f"{name} is prepared, not {request['workload']}"
            cpu, wall = time.process_time(), time.perf_counter()
            times = time_groups(job, calls, request["seconds"])
            cores = (time.process_time() - cpu) / (time.perf_counter() - wall)
            return {"times_ms": times, "cores": cores}
        if command == "memory":
            return {"peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        raise ValueError(f"unknown command {command}")

    def serve(self):
        # Libraries may print: their output goes to stderr, and stdout has the protocol alone.
        replies = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        for line in sys.stdin:
            request = json.loads(line)
            if request["cmd"] == "quit":
                break
            try:
                reply = self.handle(request)
            except Exception as e:
                reply = {"error": f"{type(e).__name__}: {e}"[:2000]}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def threads():
    """The thread count, which the driver sets at the start, since most libraries read it on loading."""
    return int(os.environ.get("KERATIN_PEER_THREADS", "2"))
