"""Tests of the driver. Needs no peer: `python3 bench/peers/driver_test.py`."""

import fcntl
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from types import SimpleNamespace

import measure
import report
from measure import Contestant, summarize
from process import Process, WorkerError
from workloads import WORKLOADS, floor_ms

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = SimpleNamespace(rounds=3, seconds=0.01, prepare_timeout=5.0, lock=None)


def fake(name, behaviour, **extra):
    return Contestant(name, [sys.executable, os.path.join(HERE, "fake_worker.py"), behaviour],
                      workloads=frozenset(["matmul_d1"]), **extra)


def run(*contestants, threads=2):
    with tempfile.TemporaryDirectory() as logs:
        pool = measure.Pool(logs, keep=False)
        return measure.measure(WORKLOADS["matmul_d1"], threads, contestants, OPTIONS, pool)


def row(workload, mine, floor=None, threads=2, **peers):
    return dict(workload=workload, threads=threads, keratin_ms=mine, peers=peers, floor_ms=floor)


class Workers(unittest.TestCase):
    def test_a_good_worker_is_measured(self):
        outcome = run(fake("a", "good"))
        self.assertEqual(outcome.failures, {})
        figure = outcome.figures["a"]
        self.assertEqual((figure.ms, figure.best, figure.median), (1.0, 0.5, 1.0))

    def test_a_failing_worker_is_dropped_and_others_continue(self):
        for behaviour, why in (("prepare-crashes", "ended during prepare"),
                               ("prepare-hangs", "no answer to prepare"),
                               ("sample-crashes", "ended during sample"),
                               ("prepare-refuses", "not today"), ("list-babbles", "not JSON")):
            with self.subTest(behaviour):
                outcome = run(fake("bad", behaviour), fake("good", "good"))
                self.assertIn(why, outcome.failures["bad"])
                self.assertEqual(list(outcome.figures), ["good"])

    def test_a_wrong_result_is_not_a_time(self):
        outcome = run(fake("keratin", "wrong"), fake("a", "good"), fake("b", "good"))
        self.assertIn("wrong result", outcome.failures["keratin"])
        self.assertEqual(sorted(outcome.figures), ["a", "b"])

    def test_a_peer_is_shown_at_its_better_setting(self):
        outcome = run(fake("a", "slow"), fake("a", "good", setting="passive wait"))
        self.assertEqual(outcome.figures["a"].ms, 1.0)
        self.assertEqual(outcome.figures["a"].variant, "passive wait")

    def test_a_threaded_setting_is_left_out_with_one_thread(self):
        outcome = run(fake("a", "slow"), fake("a", "good", only_threaded=True), threads=1)
        self.assertEqual(outcome.figures["a"].ms, 3.0)

    def test_a_pool_that_keeps_workers_restarts_only_the_failed(self):
        good, bad = fake("good", "good"), fake("bad", "sample-crashes")
        with tempfile.TemporaryDirectory() as logs:
            pool = measure.Pool(logs, keep=True)
            measure.measure(WORKLOADS["matmul_d1"], 2, [good, bad], OPTIONS, pool)
            kept = pool.take(good, 2)
            self.assertEqual(kept.ask({"cmd": "sample"}, 5)["cores"], 1.0)
            self.assertNotIn(id(bad), pool._idle)
            pool.give(good, kept)
            other = pool.take(good, 1)
            self.assertIsNot(other, kept)
            self.assertIsNotNone(kept._process.poll())
            other.stop()

    def test_measuring_waits_for_the_lock(self):
        with tempfile.NamedTemporaryFile() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waited = []

            def release():
                time.sleep(0.3)
                waited.append(True)
                fcntl.flock(lock, fcntl.LOCK_UN)

            thread = threading.Thread(target=release)
            thread.start()
            with measure.turn(lock.name):
                self.assertTrue(waited)
            thread.join()

    def test_a_hanging_worker_is_killed(self):
        with tempfile.TemporaryDirectory() as logs:
            process = Process("x", fake("x", "list-hangs").command, {}, os.path.join(logs, "x"))
            begin = time.monotonic()
            with self.assertRaises(WorkerError):
                process.ask({"cmd": "list"}, 0.2)
            process.stop()
            self.assertLess(time.monotonic() - begin, 10)
            self.assertIsNotNone(process._process.poll())


class Numbers(unittest.TestCase):
    def test_the_faster_half_of_the_rounds_counts(self):
        rounds = [[1.0], [9.0], [2.0], [3.0], [8.0], [7.0]]
        self.assertEqual(summarize(rounds), (2.0, 1.0, 5.0))

    def test_the_floor_is_the_longer_of_flops_and_reading(self):
        w = WORKLOADS["matmul_d1"]
        count = 4 * (128 * 784 + 784 * 512)
        peak = dict(gflops=100.0, l2_gbs=200.0, l3_gbs=50.0, dram_gbs=10.0)
        self.assertAlmostEqual(floor_ms(w, peak, (1 << 20, 32 << 20)), 2 * 128 * 512 * 784 / 100e6)
        peak["gflops"] = 1e9
        self.assertAlmostEqual(floor_ms(w, peak, (4 << 20, 32 << 20)), count / 200e6)
        # A thousand bytes fit in the second level, two thousand more in the third.
        self.assertAlmostEqual(floor_ms(w, peak, (1000, 2000)),
                               (1000 / 200 + 2000 / 50 + (count - 3000) / 10) / 1e6)

    def test_counts_of_the_training_steps(self):
        # Dense layers: forward and weight gradients of all, input gradients of all but the first.
        self.assertEqual(WORKLOADS["mlp_train"].flops - 14 * 669706,
                         2 * 128 * (2 * 784 * 512 + 3 * 512 * 512 + 3 * 512 * 10))
        self.assertAlmostEqual(WORKLOADS["convnet_train"].flops / 1e9, 1.826, places=2)

    def test_targets_are_checked_by_ratios(self):
        rows = [row("mlp_train", 2.0, floor=1.5, torch_eager=7.0, keras_jax=2.8),
                row("tiny_mlp_infer", 0.0002, torch_eager=0.014), row("matmul_d1", 1.0, torch_eager=0.8),
                row("conv_stem_7x7s2", 1.0, torch_eager=0.95), row("lstm_infer", 9.0, torch_eager=1.0),
                row("matmul_d1", 9.0, threads=1, torch_eager=1.0)]
        verdicts = [(t.workload, t.text, t.verdict) for t in report.targets(rows)]
        self.assertEqual(verdicts, [
            ("mlp_train", "3x PyTorch eager", "met"),
            ("mlp_train", "1.5x the fastest peer", "missed by 7 %"),
            ("mlp_train", "within 2x of the floor", "met"),
            ("tiny_mlp_infer", "50x PyTorch eager", "met"),
            ("matmul_d1", "0.9x the fastest peer", "missed by 11 %"),
            ("conv_stem_7x7s2", "0.9x the fastest peer", "met")])

    def test_a_missed_target_shows_its_note(self):
        text = report.target_table(report.targets([row("matmul_d1", 1.0, torch_eager=0.5)]),
                                   {"matmul_d1": "because"})
        self.assertIn("because", text)


class Updates(unittest.TestCase):
    def test_rows_of_other_workloads_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.json")
            before = [dict(row("matmul_d1", 1.0), date="old"), dict(row("mlp_train", 2.0), date="old"),
                      dict(row("matmul_d1", 3.0, threads=1), date="old")]
            with open(path, "w") as f:
                json.dump(before, f)
            rows = report.merged([dict(row("matmul_d1", 9.0), date="new")], path)
        self.assertEqual([(r["workload"], r["threads"], r["keratin_ms"]) for r in rows],
                         [("matmul_d1", 1, 3.0), ("mlp_train", 2, 2.0), ("matmul_d1", 2, 9.0)])
        self.assertEqual(report.dates(rows), ["- Measured on new: matmul_d1",
                                              "- Measured on old: matmul_d1, mlp_train"])
        self.assertEqual(report.dates(rows[:2]), [])

    def test_the_section_of_the_gpu_is_kept(self):
        run = dict(date="today", rounds=1, seconds=1, peaks={}, versions={}, failures=[], other_cores=0.0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "RESULTS.md")
            report.save([], run, {}, folder)
            with open(path) as f:
                self.assertNotIn("## On a GPU", f.read())
            with open(path, "a") as f:
                f.write("\n## On a GPU\n\nA table.\n")
            report.save([], dict(run, date="tomorrow"), {}, folder)
            with open(path) as f:
                text = f.read()
        self.assertIn("tomorrow", text)
        self.assertTrue(text.endswith("\n\n## On a GPU\n\nA table.\n"))


if __name__ == "__main__":
    unittest.main()
