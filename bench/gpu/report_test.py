"""Tests of the rows and the report. Needs no GPU: `python3 bench/gpu/report_test.py`."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

import report
import run
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

    def test_predictions_are_measured_in_all_modes(self):
        for name in ["resnet50_predict1", "resnet50_predict128", "bert_predict1"]:
            self.assertEqual(row(name).modes, list(report.MODES), msg=name)
        self.assertEqual(row("lstm_train").modes, ["eager"])
        torch = {name: command for who, name, command, _ in run.jobs(ROWS, "steps", True) if who == "torch"}
        self.assertEqual(torch["bert_predict1"][2:], ["bert", "--predict", "--compile"])

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

    def test_what_is_not_to_be_measured_is_a_dash(self):
        results = collected(CEILINGS, *measured("lstm_train", 0.7, eager=14.0))
        lines = report.table(results).splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("| 14 (20×) | – | – | 3× eager met |", lines[2])

    def test_what_was_not_measured_is_said(self):
        results = collected(CEILINGS, *measured("bert_predict1", 0.8, eager=4.0, graph=0.9))
        self.assertIn("| 4 (5×) | missing | 0.9 (1.12×) | under compile not measured; under graph met |",
                      report.table(results))
        self.assertIn("; torch.compile of BERT-base, prediction of 1.\n", report.section(results))
        self.assertIn("Not measured: Keratin, PyTorch eager, torch.compile, CUDA graph by hand of MLP",
                      report.section(results))
        alone = collected(measured("lstm_train", 0.7)[0])
        self.assertIn("| missing | – | – | 3× eager not measured | – | – |", report.table(alone))

    def test_nothing_is_said_where_all_was_measured(self):
        lines = [line for row in ROWS for line in measured(row.name, 1.0, **dict.fromkeys(row.modes, 2.0))]
        text = report.section(collected(CEILINGS, *lines))
        self.assertNotIn("Not measured", text)
        self.assertNotIn("missing |", text)

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
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program, self.out = f"{folder.name}/steps", f"{folder.name}/steps.jsonl"

    def run_with(self, script, *words):
        """What run.py says when this is the program that measures, and the lines that it has then."""
        with open(self.program, "w") as f:
            f.write(f"#!/bin/sh\n{script}\n")
        os.chmod(self.program, stat.S_IRWXU)
        done = subprocess.run([sys.executable, f"{HERE}/run.py", *words, "--without-torch", "--keratin",
                               self.program, "--out", self.out], capture_output=True, text=True)
        with open(self.out) as f:
            lines = [json.loads(line) for line in f]
        return done, [(line["who"], line["row"], line.get("ms")) for line in lines]

    def test_a_program_that_fails_stops_no_other(self):
        done, lines = self.run_with('[ "$1" = mlp ] && exit 1\necho noise\necho \'{"ms": 1}\'\necho noise',
                                    "mlp_train", "lstm_train")
        self.assertIn("keratin mlp_train: ", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(lines, [("keratin", "lstm_train", 1)])

    def test_what_was_printed_before_a_failure_is_kept(self):
        done, lines = self.run_with('echo \'{"ms": 1}\'\nprintf \'{"ms": 2\'\nexit 1', "mlp_train")
        self.assertIn("keratin mlp_train: ", done.stderr)
        self.assertEqual(lines, [("keratin", "mlp_train", 1)])

    def test_it_goes_on_where_it_stopped(self):
        self.run_with('[ "$1" = mlp ] || exit 1\necho \'{"ms": 1}\'', "mlp_train", "lstm_train")
        done, lines = self.run_with('echo \'{"ms": 2}\'', "mlp_train", "lstm_train", "--go-on")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(lines, [("keratin", "mlp_train", 1), ("keratin", "lstm_train", 2)])

    def test_nothing_begins_without_time(self):
        done, lines = self.run_with('echo \'{"ms": 1}\'', "mlp_train", "--seconds", "1")
        self.assertEqual(done.stderr, "keratin mlp_train: no time left\n")
        self.assertEqual(lines, [])


if __name__ == "__main__":
    unittest.main()
