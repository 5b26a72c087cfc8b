"""convert, diff and plot: files in, files out."""

import json
import math
import shutil
import unittest
import xml.dom.minidom
import zipfile

from program import BAD_FILE, DIFFERENT, GOLDEN, MODELS, USAGE, ProgramTest, read_npz, write_npy, write_npz

CLASSIFIER, LAMBDA = MODELS / "classifier.keras", MODELS / "lambda.keras"
GOLDEN_OUTPUTS = MODELS / "classifier.npz"


class Convert(ProgramTest):
    def convert(self, source, name, *words):
        path = f"{self.folder}/{name}"
        self.succeeds("convert", source, path, *words)
        return path

    def test_models_through_every_format_and_back(self):
        for name in ("a.keras", "a.h5", "folder/"):
            path = self.convert(CLASSIFIER, name)
            self.assertEqual(self.succeeds("diff", CLASSIFIER, path).out, "", name)
            self.succeeds("verify", path, GOLDEN_OUTPUTS)
            again = self.convert(path, "again.keras")
            self.assertEqual(self.succeeds("diff", CLASSIFIER, again).out, "", name)
        self.assertEqual({p.name for p in (self.folder / "folder").iterdir()},
                         {"config.json", "metadata.json", "model.weights.h5"})

    def test_weights_through_every_format_and_back(self):
        config = self.convert(CLASSIFIER, "config.json")
        for name in ("a.weights.h5", "a.weights.json", "a.npz", "a.safetensors"):
            weights = self.convert(CLASSIFIER, name)
            model = self.convert(weights, "back.keras", "--model", config)
            self.succeeds("verify", model, GOLDEN_OUTPUTS)
            self.succeeds("diff", CLASSIFIER, weights)
            other = self.convert(weights, "other.npz", "-m", CLASSIFIER)
            self.assertEqual(read_npz(other)["layers/dense/vars/0"][1], (4, 5))

    def test_a_legacy_file(self):
        for name in ("keras2.h5", "keras3.h5"):
            path = self.convert(GOLDEN / "files" / name, "new.keras", "--no-training")
            config = self.convert(GOLDEN / "files" / name, "config.json", "--no-training")
            self.succeeds("diff", path, config, "--ignore=weights")
            result = self.succeeds("inspect", "--json", path).json
            self.assertEqual(sum(weight["bytes"] for weight in result["weights"]), 35 * 4)
        self.succeeds("diff", GOLDEN / "files/keras3.h5",
                      self.convert(GOLDEN / "files/keras3.h5", "new.keras"))

    def test_the_config_alone(self):
        path = self.convert(CLASSIFIER, "config.json")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["class_name"], "Sequential")
        self.assertIn("Total params: 43", self.succeeds("summary", path).out)

    def test_without_training(self):
        path = self.convert(CLASSIFIER, "bare.keras", "--no-training")
        result = self.succeeds("inspect", "--json", path).json
        self.assertEqual(result["optimizer"], [])
        self.assertIsNone(result["training"])

    def test_training_that_cannot_be_read(self):
        path = self.folder / "mine.keras"
        with zipfile.ZipFile(CLASSIFIER) as old, zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                data = old.read(member)
                if member == "config.json":
                    config = json.loads(data)
                    config["compile_config"]["metrics"] = ["shine"]
                    data = json.dumps(config).encode()
                new.writestr(member, data)
        out = self.folder / "out.keras"
        result = self.refuses("convert", path, out, message="Could not interpret metric identifier: shine")
        self.assertIn("(the model itself can be read: --no-training leaves out how it is trained)",
                      result.err)
        self.assertFalse(out.exists())
        self.succeeds("convert", path, out, "--no-training")
        self.succeeds("verify", out, GOLDEN_OUTPUTS)
        # If the model cannot be read either, the hint would not help.
        result = self.refuses("convert", LAMBDA, out, message="Lambda layer 'double'")
        self.assertNotIn("--no-training", result.err)

    def test_over_itself(self):
        path = self.folder / "m.keras"
        shutil.copy(CLASSIFIER, path)
        self.succeeds("convert", path, path)
        self.succeeds("verify", path, GOLDEN_OUTPUTS)

    def test_an_error_keeps_the_old_file(self):
        old = self.write_text("old.keras", "precious")
        damaged = self.folder / "damaged.keras"
        damaged.write_bytes(CLASSIFIER.read_bytes()[:9000])
        weights = self.convert(MODELS / "two_ends.keras", "other.npz")
        for words in ((damaged, old), (self.folder / "none.keras", old), (LAMBDA, old),
                      (weights, old, "--model", CLASSIFIER), (CLASSIFIER, old, "--no-overwrite")):
            done = self.run_program("convert", *words, status=BAD_FILE)
            self.assertTrue(done.err.startswith("keratin convert: "), done.err)
            self.assertEqual(old.read_text(), "precious", words)
        folder = self.folder / "mine"
        folder.mkdir()
        self.refuses("convert", CLASSIFIER, f"{folder}/", message="not the folder of a model")
        left = {p.name for p in self.folder.iterdir()}
        self.assertEqual(left, {"old.keras", "damaged.keras", "other.npz", "mine"})

    def test_bad_usage(self):
        self.refuses("convert", CLASSIFIER, status=USAGE, message="OUTPUT is missing")
        self.refuses("convert", CLASSIFIER, "a.onnx", status=USAGE,
                     message="the output must end in .keras")
        self.refuses("convert", self.convert(CLASSIFIER, "a.npz"), "a.keras", status=USAGE,
                     message="say by --model MODEL")


class Diff(ProgramTest):
    def changed(self, name, change):
        path = self.folder / name
        with zipfile.ZipFile(CLASSIFIER) as old, zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                data = old.read(member)
                if member == "config.json":
                    data = change(data.decode()).encode()
                new.writestr(member, data)
        return path

    def test_the_same(self):
        self.assertEqual(self.succeeds("diff", CLASSIFIER, CLASSIFIER).out, "")
        self.assertEqual(self.succeeds("diff", "--json", CLASSIFIER, CLASSIFIER).json,
                         {"same": True, "differences": []})

    def test_a_config(self):
        other = self.changed("b.keras", lambda text: text.replace('"relu"', '"tanh"'))
        result = self.run_program("diff", CLASSIFIER, other, status=DIFFERENT).out
        self.assertEqual(result, "config  layer 'hidden': config.activation: \"relu\", \"tanh\"\n")
        result = self.run_program("diff", "--raw", CLASSIFIER, other, status=DIFFERENT).out
        self.assertIn("layer 'hidden': config.activation", result)
        self.succeeds("diff", CLASSIFIER, other, "--ignore", "config")

    def test_a_key_of_one_of_them(self):
        other = self.changed("b.keras",
                             lambda text: text.replace('"relu"', '"relu", "colour": 1'))
        for words, result in (((CLASSIFIER, other), "nothing, 1"), ((other, CLASSIFIER), "1, nothing")):
            done = self.run_program("diff", "--raw", *words, status=DIFFERENT)
            self.assertEqual(done.out, f"config  layer 'hidden': config.colour: {result}\n")

    def test_nan(self):
        files = [write_npz(self.folder / f"{name}.npz", {"w": ("<f4", (2,), [1.0, value])})
                 for name, value in (("a", math.nan), ("b", math.nan), ("c", 2.0))]
        self.succeeds("diff", *files[:2])
        done = self.run_program("diff", *files[1:], status=DIFFERENT)
        self.assertEqual(done.out, "weights  w: max abs difference inf\n")

    def test_weights_and_training(self):
        other = self.folder / "b.keras"
        self.succeeds("train", "-q", CLASSIFIER, MODELS / "classifier_data.npz", "-o", other)
        result = self.run_program("diff", "--json", CLASSIFIER, other, status=DIFFERENT).json
        self.assertFalse(result["same"])
        by_place = {d["place"]: d for d in result["differences"]}
        self.assertEqual(by_place["hidden/kernel"]["kind"], "weights")
        self.assertTrue(0 < by_place["hidden/kernel"]["max_abs_difference"] < 0.1)
        self.assertEqual(by_place["optimizer: adam/iteration"]["max_abs_difference"], 1)
        self.run_program("diff", CLASSIFIER, other, "--ignore=training", status=DIFFERENT)
        self.succeeds("diff", CLASSIFIER, other, "--ignore=training", "--tolerance", "0.1")
        self.succeeds("diff", CLASSIFIER, other, "--ignore=training", "--ignore=weights")

    def test_weights_alone(self):
        first, second = self.folder / "a.npz", self.folder / "b.safetensors"
        self.succeeds("convert", CLASSIFIER, first)
        self.succeeds("convert", CLASSIFIER, second)
        self.succeeds("diff", first, second)
        other = self.folder / "c.npz"
        self.succeeds("convert", MODELS / "two_ends.keras", other)
        result = self.run_program("diff", first, other, status=DIFFERENT).out
        self.assertIn("weights  layers/dense/vars/0: f32 (4, 5), f32 (8, 2)", result)
        self.assertIn("only in the second", result)

    def test_another_model(self):
        result = self.run_program("diff", CLASSIFIER, MODELS / "two_ends.keras", status=DIFFERENT).out
        self.assertIn("config  layer 'hidden': only in the first\n", result)
        self.assertIn("weights  reader/lstm_cell/kernel: only in the second\n", result)

    def test_a_lambda_needs_raw(self):
        self.refuses("diff", LAMBDA, LAMBDA, message="is never run here")
        self.succeeds("diff", "--raw", LAMBDA, LAMBDA)

    def test_bad_usage(self):
        self.refuses("diff", CLASSIFIER, status=USAGE, message="SECOND is missing")
        self.refuses("diff", CLASSIFIER, self.folder / "none.keras", message="File not found")
        self.refuses("diff", CLASSIFIER, CLASSIFIER, "--ignore", "weight", status=USAGE,
                     message="did you mean 'weights'?")


class Edit(ProgramTest):
    def setUp(self):
        super().setUp()
        self.weights = self.folder / "old.weights.h5"
        self.succeeds("convert", CLASSIFIER, self.weights)

    def test_prints_the_tree(self):
        out = self.succeeds("edit", CLASSIFIER).out
        self.assertIn("Saved with Keras 3", out)
        self.assertIn("Weights structure\n  > layers\n", out)
        self.assertIn("dense ('hidden')\n", out)
        self.assertIn("0: shape=(4, 5), dtype=float32\n", out)
        self.assertNotIn("Saved with", self.succeeds("edit", self.weights).out)

    def test_renames_deletes_and_sets(self):
        bias = write_npy(self.folder / "bias.npy", "<f4", (3,), [1.0, 2.0, 3.0])
        both = write_npz(self.folder / "both.npz", {"0": ("<f4", (1, 2), [4.0, 5.0]),
                                                    "1": ("<f4", (2,), [6.0, 7.0])})
        new = self.folder / "new.weights.h5"
        self.succeeds("edit", self.weights, new, "--delete", "layers/dense/1", "-r",
                      "layers/dense=first", "--set", f"layers/first/1={bias}", "-s",
                      f"layers/more={both}")
        out = self.succeeds("edit", new).out
        self.assertIn("first ('hidden')", out)
        self.assertIn("1: shape=(3,), dtype=float32", out)
        self.assertIn("more\n", out)
        self.assertIn("shape=(1, 2)", out)
        self.assertNotIn("more", self.succeeds("edit", self.weights).out)

    def test_in_place_and_compared(self):
        model = self.folder / "model.keras"
        shutil.copy(CLASSIFIER, model)
        bias = write_npy(self.folder / "bias.npy", "<f4", (5,), [1.0, 2.0, 3.0, 4.0, 5.0])
        out = self.succeeds("edit", model, "-s", f"layers/dense/1={bias}", "--compare", model).out
        self.assertIn("Comparison successful", out)
        done = self.run_program("diff", CLASSIFIER, model, status=DIFFERENT).out
        self.assertIn("hidden/bias", done)
        self.assertNotIn("kernel", done)
        # What does not fit is not written.
        before = model.read_bytes()
        done = self.run_program("edit", model, "-d", "layers/dense", "--compare", model,
                                status=DIFFERENT)
        self.assertIn("...Object /layers/dense present in reference model", done.out)
        self.assertEqual(model.read_bytes(), before)

    def test_what_is_wrong(self):
        before = self.weights.read_bytes()
        for words, message in (
                (("--delete", "layers/none"), "Path 'layers/none' not found in model."),
                (("--rename", "layers/dense=a/b"), "should be a leaf name"),
                (("--set", f"layers/dense/0={self.folder}/none.npy"), "none.npy"),
                (("--delete", "layers/dense", "--rename", "layers/dense=x"), "not found")):
            self.refuses("edit", self.weights, *words, message=message)
        for words, message in ((("--rename", "dense"), "--rename needs PATH=VALUE, got 'dense'"),
                               (("--set", "dense=x.csv"), "--set takes an .npy or .npz"),
                               (("--set", "dense=x.npy"), "needs the path of a weight")):
            self.refuses("edit", self.weights, *words, status=USAGE, message=message)
        self.refuses("edit", self.weights, self.folder / "model.keras", "-d", "layers/dense",
                     message="has weights alone")
        self.refuses("edit", self.folder / "none.keras", message="File not found")
        self.assertEqual(self.weights.read_bytes(), before)


class Plot(ProgramTest):
    def test_svg_and_dot(self):
        svg, dot = self.folder / "m.svg", self.folder / "m.dot"
        self.succeeds("plot", MODELS / "two_ends.keras", "-o", svg, "--shapes", "--direction=LR")
        drawing = xml.dom.minidom.parse(str(svg))
        self.assertEqual(drawing.documentElement.tagName, "svg")
        self.assertIn("reader", svg.read_text())
        self.succeeds("plot", MODELS / "two_ends.keras", "-o", dot)
        self.assertTrue(dot.read_text().startswith("digraph"))

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_png(self):
        png = self.folder / "m.png"
        self.succeeds("plot", CLASSIFIER, "--output", png)
        self.assertTrue(png.read_bytes().startswith(b"\x89PNG"))

    def test_bad_usage(self):
        self.refuses("plot", CLASSIFIER, status=USAGE, message="--output FILE is missing")
        self.refuses("plot", CLASSIFIER, "-o", "m.jpg", status=USAGE, message=".svg, .png or .dot")
        self.refuses("plot", CLASSIFIER, "-o", "m.svg", "--direction", "XY", status=USAGE,
                     message="--direction is one of TB, LR; got 'XY'")
        self.refuses("plot", LAMBDA, "-o", self.folder / "m.svg", message="is never run here")
