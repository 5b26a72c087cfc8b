"""predict, evaluate, train and verify: models on data."""

import json
import math
import re
import signal
import subprocess

import program
from program import DIFFERENT, GOLDEN, MODELS, USAGE, ProgramTest, read_npy, read_npz, write_npy
from program import write_npz, write_png

CLASSIFIER, TWO_ENDS, SEEING = (MODELS / f"{name}.keras"
                                for name in ("classifier", "two_ends", "seeing"))
FIXED, STATEFUL, WHOLE, UNEVEN = (MODELS / f"{name}.keras"
                                  for name in ("fixed", "stateful", "whole", "uneven"))
IMAGE = GOLDEN / "images/cats/young/rgb.png"


def rows(flat, width):
    return [flat[i:i + width] for i in range(0, len(flat), width)]


class Near(ProgramTest):
    def near(self, got, want, tolerance=1e-5):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertTrue(math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-6), (a, b))


class Predict(Near):
    def setUp(self):
        super().setUp()
        golden = read_npz(MODELS / "classifier.npz")
        self.x, self.y = golden["x"], golden["y"]

    def csv(self, header=None):
        lines = [header] if header else []
        lines += [",".join(map(repr, row)) for row in rows(self.x[2], 4)]
        return self.write_text("x.csv", "\n".join(lines) + "\n")

    def test_npy_to_npy(self):
        x = write_npy(self.folder / "x.npy", *self.x)
        out = self.folder / "y.npy"
        self.assertEqual(self.succeeds("predict", CLASSIFIER, x, "-o", out).out, "")
        dtype, shape, values = read_npy(out)
        self.assertEqual((dtype, shape), ("<f4", (24, 3)))
        self.near(values, self.y[2])

    def test_npz_by_name_and_as_x(self):
        for name in ("x", "x_0"):
            x = write_npz(self.folder / "x.npz", {name: self.x})
            out = self.folder / "y.npz"
            self.succeeds("predict", CLASSIFIER, x, "--output", out, "--batch-size=5")
            self.near(read_npz(out)["scores"][2], self.y[2])

    def test_csv_to_csv_with_and_without_a_header(self):
        for header in (None, "a,b,c,d", "1st,2nd,3rd,4th"):
            lines = self.succeeds("predict", CLASSIFIER, self.csv(header)).out.splitlines()
            self.assertEqual(lines[0], "scores_0,scores_1,scores_2")
            self.near([float(cell) for line in lines[1:] for cell in line.split(",")], self.y[2])

    def test_json(self):
        result = self.succeeds("predict", "--json", CLASSIFIER, self.csv()).json
        self.near(sum(result["outputs"]["scores"], []), self.y[2])
        out = self.folder / "y.json"
        self.succeeds("predict", CLASSIFIER, self.csv(), "-o", out)
        self.assertEqual(json.loads(out.read_text()), result)

    def test_converts_doubles_and_integers_to_the_inputs_dtype(self):
        x = write_npy(self.folder / "x.npy", "<f8", self.x[1], self.x[2])
        result = self.succeeds("predict", "--json", CLASSIFIER, x).json
        self.near(sum(result["outputs"]["scores"], []), self.y[2])

    def test_several_inputs_and_outputs(self):
        golden = read_npz(MODELS / "two_ends.npz")
        words = write_npy(self.folder / "words.npy", *golden["words"])
        facts = self.write_text("facts.csv", "".join(
            ",".join(map(repr, row)) + "\n" for row in rows(golden["facts"][2], 3)))
        out = self.folder / "y.npz"
        self.succeeds("predict", TWO_ENDS, "-i", f"words={words}", "-i", f"facts={facts}",
                      "-o", out)
        for name in ("topic", "score"):
            self.near(read_npz(out)[name][2], golden[name][2])
        lines = self.succeeds("predict", TWO_ENDS, MODELS / "two_ends.npz").out.splitlines()
        self.assertEqual(lines[0], "topic_0,topic_1,score")
        self.refuses("predict", TWO_ENDS, MODELS / "two_ends.npz", "-o", self.folder / "y.npy",
                     message="write an .npz")

    def test_images_are_resized(self):
        want = read_npz(MODELS / "seeing.npz")["gather"][2]
        result = self.succeeds("predict", "--json", SEEING, IMAGE).json
        self.near(result["outputs"]["gather"][0], want, 1e-4)
        result = self.succeeds("predict", "--json", SEEING, IMAGE, IMAGE).json
        self.assertEqual(len(result["outputs"]["gather"]), 2)
        self.near(result["outputs"]["gather"][1], want, 1e-4)
        dtype, shape, pixels = read_npz(MODELS / "seeing.npz")["picture"]
        half = write_npy(self.folder / "half.npy", dtype, shape, [pixel / 2 for pixel in pixels])
        want = self.succeeds("predict", "--json", SEEING, half).json["outputs"]["gather"][0]
        result = self.succeeds("predict", "--json", SEEING, IMAGE, "--scale", "0.5").json
        self.near(result["outputs"]["gather"][0], want, 1e-4)

    def test_images_have_the_channels_of_the_input(self):
        for channels, want in ((1, [76.0]), (3, [255.0, 0.0, 0.0]), (4, [255.0, 0.0, 0.0, 51.0])):
            model = self.write_text("mean.json", json.dumps({
                "class_name": "Sequential", "config": {"name": "mean", "layers": [
                    {"class_name": "InputLayer",
                     "config": {"batch_shape": [None, 2, 2, channels], "name": "picture"}},
                    {"class_name": "GlobalAveragePooling2D", "config": {"name": "mean"}}]}}))
            image = write_png(self.folder / "red.png", [[(255, 0, 0, 51)] * 2] * 2)
            result = self.succeeds("predict", "--json", model, image).json
            self.near(result["outputs"]["mean"][0], want)

    def test_bad_data(self):
        x = write_npy(self.folder / "x.npy", "<f4", (2, 3), [0] * 6)
        self.refuses("predict", CLASSIFIER, x, message="'x' takes (None, 4), got (2, 3)")
        self.refuses("predict", CLASSIFIER, self.folder / "none.npy", message="none.npy")
        self.refuses("predict", CLASSIFIER, self.write_text("x.txt", "1"),
                     message="expected data in .npy, .npz, .csv or an image")
        self.refuses("predict", CLASSIFIER, self.write_text("b.npy", "hello"), message="b.npy")
        self.refuses("predict", CLASSIFIER, self.write_text("b.csv", "1,2,3,4\n1,2,x,4\n"),
                     message="b.csv, line 2")
        self.refuses("predict", CLASSIFIER, self.write_text("c.csv", "1,2\n3,4\n"),
                     message="got (2, 2)")
        self.refuses("predict", CLASSIFIER, IMAGE, message="not images")
        self.refuses("predict", SEEING, self.write_text("b.png", "hello"), message="b.png")
        z = write_npz(self.folder / "z.npz", {"z": self.x})
        self.refuses("predict", CLASSIFIER, z, message="no data for the input 'x'")

    def test_bad_usage(self):
        self.refuses("predict", CLASSIFIER, status=USAGE, message="DATA is missing")
        self.refuses("predict", CLASSIFIER, "a.npy", "b.npy", status=USAGE, message="images alone")
        self.refuses("predict", CLASSIFIER, "a.npy", "-o", "y.txt", status=USAGE,
                     message="--output must end in .npy, .npz, .csv or .json")
        self.refuses("predict", TWO_ENDS, "a.npy", status=USAGE, message="the model has 2 inputs")
        self.refuses("predict", TWO_ENDS, "-i", "wrds=a.npy", status=USAGE,
                     message="did you mean 'words'?")
        self.refuses("predict", CLASSIFIER, "a.npy", "--batch-size", "0", status=USAGE,
                     message="--batch-size takes a whole number of at least 1, got '0'")

    def test_an_error_keeps_the_old_file(self):
        out = self.write_text("y.csv", "precious")
        self.refuses("predict", CLASSIFIER, self.folder / "none.npy", "-o", out, message="none.npy")
        self.assertEqual(out.read_text(), "precious")

    def test_never_runs_a_python_lambda(self):
        self.refuses("predict", MODELS / "lambda.keras", "x.npy", message="is never run here")


class Evaluate(Near):
    DATA = MODELS / "classifier_data.npz"

    def test_gives_the_losses_of_keras(self):
        want = read_npz(self.DATA)
        result = self.succeeds("evaluate", "--json", CLASSIFIER, self.DATA).json
        self.near([result["loss"], result["accuracy"]], [want["loss"][2][0], want["accuracy"][2][0]])
        lines = self.succeeds("evaluate", CLASSIFIER, self.DATA).out.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["accuracy", "loss"])

    def test_a_table(self):
        data = read_npz(self.DATA)
        lines = ["kind,a,b,c,d"] + [",".join(map(repr, [label, *row])) for label, row in
                                    zip(data["y"][2], rows(data["x"][2], 4))]
        path = self.write_text("data.csv", "\n".join(lines))
        result = self.succeeds("evaluate", "--json", CLASSIFIER, path, "--labels", "kind").json
        self.near([result["loss"]], data["loss"][2])
        result = self.succeeds("evaluate", "--json", CLASSIFIER, path, "--labels", "0").json
        self.near([result["loss"]], data["loss"][2])
        self.refuses("evaluate", CLASSIFIER, path, "--labels", "knd",
                     message="no column 'knd'; did you mean 'kind'?")
        path = self.write_text("last.csv", "\n".join(
            ",".join(map(repr, [*row, label])) for label, row in
            zip(data["y"][2], rows(data["x"][2], 4))))
        result = self.succeeds("evaluate", "--json", CLASSIFIER, path).json
        self.near([result["loss"]], data["loss"][2])

    def test_inputs_and_targets_in_separate_files(self):
        data = read_npz(self.DATA)
        x, y = (write_npy(self.folder / f"{name}.npy", *data[name]) for name in "xy")
        result = self.succeeds("evaluate", "--json", CLASSIFIER, x, "--target", y).json
        self.near([result["loss"]], data["loss"][2])

    def test_another_loss_and_metrics(self):
        result = self.succeeds("evaluate", "--json", TWO_ENDS, MODELS / "two_ends.npz", "--loss",
                             "mse", "--metric", "topic=mae").json
        self.assertEqual(set(result), {"loss", "score_loss", "topic_loss", "topic_mae"})
        self.assertLess(max(result.values()), 1e-6)
        result = self.succeeds("evaluate", "--json", TWO_ENDS, MODELS / "two_ends.npz", "--loss",
                             "topic=mse", "--loss", "score=bce", "--metric", "mae").json
        self.assertEqual(set(result), {"loss", "score_loss", "topic_loss", "topic_mae", "score_mae"})
        self.assertGreater(result["score_loss"], 0.1)
        result = self.succeeds("evaluate", "--json", CLASSIFIER, self.DATA, "--metric",
                             "sparse_top_k_categorical_accuracy").json
        self.assertEqual(result["sparse_top_k_categorical_accuracy"], 1)
        self.assertNotIn("accuracy", result)

    def test_bad_usage(self):
        self.refuses("evaluate", TWO_ENDS, MODELS / "two_ends.npz", status=USAGE,
                     message="give --loss NAME")
        self.refuses("evaluate", CLASSIFIER, self.DATA, "--loss", "msee", status=USAGE,
                     message="--loss 'msee'")
        x = write_npy(self.folder / "x.npy", *read_npz(self.DATA)["x"])
        self.refuses("evaluate", CLASSIFIER, x, status=USAGE, message="no targets")
        self.refuses("evaluate", CLASSIFIER, MODELS / "two_ends.npz", message="no array for")


class Train(Near):
    DATA = MODELS / "classifier_data.npz"

    def test_learns_and_continues(self):
        first, second = self.folder / "a.keras", self.folder / "b.keras"
        result = self.succeeds("train", "--json", CLASSIFIER, self.DATA, "-o", first, "--epochs", "8",
                             "--validation-split", "0.25", "--learning-rate", "0.05", "--seed",
                             "1").json
        self.assertEqual(result["epochs"], 8)
        self.assertFalse(result["interrupted"])
        self.assertEqual(set(result["history"]), {"loss", "accuracy", "val_loss", "val_accuracy"})
        self.assertLess(result["history"]["loss"][-1], result["history"]["loss"][0])
        self.succeeds("train", "-q", first, self.DATA, "-o", second)
        iterations = [self.succeeds("inspect", "--json", path).json for path in (first, second)]
        self.assertEqual([len(i["optimizer"]) for i in iterations], [10, 10])
        self.run_program("diff", first, second, status=DIFFERENT)

    def test_a_seed_repeats(self):
        outs = [self.succeeds("train", "--json", CLASSIFIER, self.DATA, "--seed", "3", "-b", "8",
                              "-o", self.folder / f"{i}.keras").json["history"] for i in range(2)]
        self.assertEqual(outs[0], outs[1])

    def test_from_a_config(self):
        config = self.folder / "config.json"
        self.succeeds("convert", CLASSIFIER, config)
        out = self.folder / "new.weights.h5"
        done = self.succeeds("train", config, self.DATA, "-o", out, "--optimizer", "sgd", "--loss",
                             "sparse_categorical_crossentropy", "--metric", "accuracy")
        self.assertRegex(done.out, r"Epoch 1/1\n.*accuracy: .*loss: ")
        self.assertEqual(self.succeeds("inspect", "--json", out).json["format"], "HDF5 weights")

    def test_ctrl_c_writes_the_model(self):
        out = self.folder / "out.keras"
        running = subprocess.Popen([program.PROGRAM, "train", CLASSIFIER, self.DATA, "-o", out,
                                    "--epochs", "100000000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for line in running.stdout:
            if line.startswith("Epoch 3/"):
                break
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        self.assertIn("interrupted; what was learnt until then is in", err)
        self.succeeds("summary", out)

    def test_bad_usage_is_reported_before_training(self):
        for words, message in (
                (["-o", "a.txt"], "the output must end in .keras"),
                ([], "--output FILE is missing"),
                (["-o", "a.keras", "--optimizer", "adm"], "--optimizer 'adm'"),
                (["-o", "a.keras", "--validation-split", "1"], "less than 1"),
                (["-o", "a.keras", "--epochs", "0"], "--epochs takes a whole number")):
            self.refuses("train", CLASSIFIER, self.DATA, *words, status=USAGE, message=message)
        self.refuses("train", CLASSIFIER, self.DATA, "-o", self.folder / "no/where.keras",
                     message="there is no folder")

    def test_different_numbers_of_samples(self):
        data = read_npz(self.DATA)
        y = write_npy(self.folder / "y.npy", "<i8", (3,), [0, 1, 2])
        x = write_npy(self.folder / "x.npy", *data["x"])
        out = self.write_text("out.keras", "precious")
        self.refuses("train", "-q", CLASSIFIER, x, "-t", y, "-o", out, message="24")
        self.assertEqual(out.read_text(), "precious")


class Verify(ProgramTest):
    def test_golden_outputs_of_keras(self):
        for name in ("classifier", "two_ends", "seeing"):
            result = self.succeeds("verify", MODELS / f"{name}.keras", MODELS / f"{name}.npz").out
            self.assertTrue(all(line.startswith("ok ") for line in result.splitlines()), result)

    def spoilt(self, index, value):
        golden = read_npz(MODELS / "classifier.npz")
        golden["y"][2][index] = value
        return write_npz(self.folder / "golden.npz", golden)

    def test_names_the_worst_element(self):
        path = self.spoilt(3 * 7 + 2, 5.0)
        result = self.run_program("verify", CLASSIFIER, path, status=DIFFERENT).out
        self.assertRegex(result, r"^WRONG scores: 1 of 72 elements .* worst at \[7,2\]: expected 5,")
        result = self.run_program("verify", "--json", CLASSIFIER, path, status=DIFFERENT).json
        self.assertFalse(result["ok"])
        self.assertEqual(result["outputs"][0]["outside"], 1)
        self.assertEqual(result["outputs"][0]["worst"]["index"], [7, 2])
        self.assertEqual(result["outputs"][0]["worst"]["expected"], 5)

    def test_nan_is_wrong(self):
        result = self.run_program("verify", "--json", CLASSIFIER, self.spoilt(0, math.nan),
                                status=DIFFERENT).json
        self.assertEqual(result["outputs"][0]["worst"]["expected"], "NaN")
        self.assertEqual(result["outputs"][0]["max_abs_difference"], "Infinity")

    def test_tolerance(self):
        want = read_npz(MODELS / "classifier.npz")["y"][2][0]
        path = self.spoilt(0, want + 1e-3)
        self.run_program("verify", CLASSIFIER, path, status=DIFFERENT)
        self.succeeds("verify", CLASSIFIER, path, "--atol", "2e-3")
        self.succeeds("verify", CLASSIFIER, path, f"--rtol={2e-3 / want}")
        self.assertLess(want, 0.6)
        self.run_program("verify", CLASSIFIER, path, f"--rtol={0.7e-3 / want}", status=DIFFERENT)
        self.refuses("verify", CLASSIFIER, path, "--atol", "-1", status=USAGE,
                     message="--atol takes a number of at least 0")

    def test_other_shapes_and_names(self):
        golden = read_npz(MODELS / "classifier.npz")
        golden["y"] = ("<f4", (2, 3), golden["y"][2][:6])
        path = write_npz(self.folder / "a.npz", golden)
        result = self.run_program("verify", CLASSIFIER, path, status=DIFFERENT).out
        self.assertIn("expected shape (2, 3), got (24, 3)", result)
        path = write_npz(self.folder / "b.npz", {"x": golden["x"]})
        self.refuses("verify", CLASSIFIER, path, message="no array for an output")
        path = write_npz(self.folder / "c.npz", {"y": golden["y"]})
        self.refuses("verify", CLASSIFIER, path, message="no array for the input 'x'")


class Bench(ProgramTest):
    def test_table(self):
        result = self.succeeds("bench", TWO_ENDS, "-b", "1,4", "-n", "5").out
        self.assertRegex(result, r"^ +batch +compile ms +p50 ms +p90 ms +p99 ms +samples/s")
        self.assertEqual(len(re.findall(r"steps of the plan for a batch of [14]\n", result)), 2)
        self.assertIn("in all", result)

    def test_json(self):
        result = self.succeeds("bench", "--json", SEEING, "-b", "2", "-n", "20").json
        self.assertEqual(result["model"], "seeing")
        batch = result["batches"][0]
        self.assertEqual((batch["batch_size"], batch["runs"]), (2, 20))
        self.assertLessEqual(batch["p50_ms"], batch["p90_ms"])
        self.assertLessEqual(batch["p90_ms"], batch["p99_ms"])
        self.assertGreater(batch["samples_per_second"], 0)
        self.assertTrue(batch["steps"])
        self.assertGreater(sum(step["flops"] for step in batch["steps"]), 0)

    def test_bad_usage(self):
        self.refuses("bench", SEEING, "-b", "1,x", status=USAGE, message="got '1,x'")
        self.refuses("bench", self.folder / "none.keras", message="File not found")


class Shapes(Near):
    """Models whose data has no samples, or batches of a fixed size: see maker/program.py."""

    def predicted(self, model, data, *more):
        out = self.folder / "y.npz"
        self.succeeds("predict", model, data, "-o", out, *more)
        (array,) = read_npz(out).values()
        return array

    def golden(self, name, *more):
        golden = read_npz(MODELS / f"{name}.npz")
        dtype, shape, values = self.predicted(MODELS / f"{name}.keras", MODELS / f"{name}.npz", *more)
        self.assertEqual((dtype, shape), golden["y"][:2])
        self.near(values, golden["y"][2])

    def test_fixed_batches(self):
        self.golden("fixed")
        self.golden("fixed", "-b", "3")
        self.golden("stateful")
        for name in ("fixed", "stateful"):
            self.succeeds("verify", MODELS / f"{name}.keras", MODELS / f"{name}.npz")

    def test_refuses_batches_that_do_not_fit_the_states(self):
        x = read_npz(MODELS / "stateful.npz")["x"]
        cut = write_npy(self.folder / "x.npy", x[0], (6, 2, 3), x[2][:36])
        self.refuses("predict", STATEFUL, cut, message="batch")
        self.refuses("predict", STATEFUL, MODELS / "stateful.npz", "-b", "8", message="batch")

    def test_outputs_without_samples(self):
        self.golden("whole")
        self.succeeds("verify", WHOLE, MODELS / "whole.npz")
        self.succeeds("verify", WHOLE, MODELS / "whole_first.npz")
        golden = read_npz(MODELS / "whole_first.npz")
        self.assertEqual(golden["y"][1], ())
        result = self.succeeds("predict", "--json", WHOLE, MODELS / "whole_first.npz").json
        self.near(list(result["outputs"].values()), golden["y"][2])
        self.assertEqual(
            len(self.succeeds("predict", WHOLE, MODELS / "whole_first.npz").out.splitlines()), 2)

    def test_inputs_with_different_numbers_of_rows(self):
        self.golden("uneven")
        self.succeeds("verify", UNEVEN, MODELS / "uneven.npz")

    def test_train_evaluate_and_bench(self):
        for name in ("fixed", "stateful", "whole_first", "uneven"):
            model = MODELS / f"{name.removesuffix('_first')}.keras"
            out, data = self.folder / f"{name}.keras", MODELS / f"{name}.npz"
            if name == "whole_first":  # as in Keras, targets have rows nevertheless
                golden = read_npz(data)
                data = write_npz(self.folder / "whole.npz",
                                 {"x": golden["x"], "y": ("<f4", (32,), golden["y"][2] * 32)})
            lossless = self.succeeds("evaluate", "--json", "--loss", "mse", model,
                                     data).json["loss"]
            self.assertLess(lossless, 1e-9, name)
            self.succeeds("train", "-q", "--loss", "mse", "--optimizer", "sgd", model,
                          data, "-o", out)
            result = self.succeeds("bench", "--json", "-n", "2", model).json
            sizes = [batch["batch_size"] for batch in result["batches"]]
            self.assertEqual(sizes, [4] if name in ("fixed", "stateful") else [1, 32], name)
