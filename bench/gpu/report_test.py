"""Tests of the rows and the report. Needs no GPU: `python3 bench/gpu/report_test.py`."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

import report
from rows import ROWS, floors

HERE = os.path.dirname(os.path.abspath(__file__))
CEILINGS = dict(who="ceilings", row=None, date="2026-01-02", gpu="A GPU", torch="2.0", copy_gbs=4000,
                host_gbs=50.0, tf32_tflops=400, bf16_tflops=800)


def measured(row, mine, **torch):
    keratin = dict(who="keratin", row=row, date="2026-01-02", ms=mine, alone_ms=2 * mine)
    return [keratin, dict(who="torch", row=row, date="2026-01-02", **torch)]


def collected(*lines):
    return report.collect(json.dumps(line) for line in lines)


def row(name):
    return next(row for row in ROWS if row.name == name)


class Rows(unittest.TestCase):
    def test_names_and_arguments(self):
        self.assertEqual([row.name for row in ROWS],
                         ["mlp_train", "convnet_train", "lstm_train", "bert_train", "bert_train_bf16",
                          "resnet50_train", "resnet50_train_bf16", "resnet50_predict1",
                          "resnet50_predict128", "bert_predict1"])
        self.assertEqual(row("bert_train_bf16").words, ["bert", "--bf16"])
        self.assertEqual(row("resnet50_predict1").words, ["resnet50", "--predict"])
        self.assertEqual(row("resnet50_predict128").words, ["resnet50", "--predict", "--batch"])

    def test_work(self):
        for name, gflop, gb in [("mlp_train", 0.411, 0.0214), ("convnet_train", 1.825, 0.0756),
                                ("bert_train", 2145, 18.9), ("bert_train_bf16", 2145, 11.2),
                                ("resnet50_train", 2961, 83.6), ("resnet50_predict1", 7.71, 0.102)]:
            work = row(name).work()
            self.assertAlmostEqual(work.flops / 1e9 / gflop, 1, places=2, msg=name)
            self.assertAlmostEqual(work.bytes / 1e9 / gb, 1, places=2, msg=name)

    def test_floors_are_at_the_rates_that_were_seen(self):
        f32, bf16 = (floors(row(f"resnet50_train{end}"), CEILINGS) for end in ("", "_bf16"))
        self.assertAlmostEqual(f32["FLOPs"], 6 * 128 * 3.856 / 400)
        self.assertAlmostEqual(bf16["FLOPs"], f32["FLOPs"] / 2)
        self.assertAlmostEqual(f32["batch"], 128 * 224**2 * 3 * 4 / 50e6)


class Report(unittest.TestCase):
    def test_a_row_says_times_ratios_targets_and_the_floor(self):
        results = collected(CEILINGS, *measured("mlp_train", 0.08, eager=1.0, compile=0.9, graph=0.1))
        self.assertEqual(report.table(results).splitlines()[2],
                         "| MLP 784-512-512-10, batch 128 | 0.08 | 0.16 | 1 (12.5×) | 0.9 (11.2×) "
                         "| 0.1 (1.25×) | 10× eager met; under graph met; ≤ 0.07 ms missed by 14 % "
                         "| 0.00803 (batch) | 9.96× |")

    def test_how_far_a_target_is(self):
        self.assertEqual(list(report.verdicts(row("mlp_train"), 0.1, dict(eager=0.8, graph=0.05))),
                         ["10× eager missed by 20 %", "under graph missed by 50 %",
                          "≤ 0.07 ms missed by 43 %"])

    def test_what_was_not_measured_is_left_out(self):
        results = collected(CEILINGS, *measured("lstm_train", 0.7, eager=14.0))
        lines = report.table(results).splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("| 14 (20×) | – | – | 3× eager met |", lines[2])
        alone = collected(measured("lstm_train", 0.7)[0])
        self.assertIn("| – | – | – |  | – | – |", report.table(alone))

    def test_a_later_line_replaces_an_earlier_one(self):
        results = collected(CEILINGS, *measured("bert_train", 9.0), *measured("bert_train", 8.0))
        self.assertEqual(results["rows"]["bert_train"]["keratin"]["ms"], 8.0)

    def test_the_section_is_the_last_and_there_once(self):
        text = report.section(collected(CEILINGS, *measured("mlp_train", 0.05)))
        self.assertIn("A GPU, PyTorch 2.0", text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "RESULTS.md")
            with open(path, "w") as f:
                f.write("# Peers\n\nA table.\n")
            for _ in range(2):
                report.put(text, path)
            with open(path) as f:
                self.assertEqual(f.read(), "# Peers\n\nA table.\n\n" + text)


class Run(unittest.TestCase):
    def test_a_program_that_fails_stops_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            program, out = f"{folder}/steps", f"{folder}/steps.jsonl"
            with open(program, "w") as f:
                f.write('#!/bin/sh\n[ "$1" = mlp ] && exit 1\necho noise\necho \'{"ms": 1}\'\n')
            os.chmod(program, stat.S_IRWXU)
            done = subprocess.run([sys.executable, f"{HERE}/run.py", "mlp_train", "lstm_train",
                                   "--without-torch", "--keratin", program, "--out", out],
                                  capture_output=True, text=True)
            with open(out) as f:
                lines = [json.loads(line) for line in f]
        self.assertIn("keratin mlp_train: ", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([(line["who"], line["row"], line["ms"]) for line in lines],
                         [("keratin", "lstm_train", 1)])


if __name__ == "__main__":
    unittest.main()
