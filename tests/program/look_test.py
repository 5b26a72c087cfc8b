"""summary and inspect: showing files, damaged ones included."""

import json
import struct
import zipfile

from program import GOLDEN, MODELS, ProgramTest

CLASSIFIER = MODELS / "classifier.keras"


class Summary(ProgramTest):
    def test_prints_the_table(self):
        result = self.succeeds("summary", CLASSIFIER).out
        self.assertIn('Model: "classifier"', result)
        self.assertIn("hidden (Dense)", result)
        self.assertIn("Total params: 43", result)

    def test_json(self):
        result = self.succeeds("summary", "--json", MODELS / "two_ends.keras").json
        self.assertEqual([x["name"] for x in result["inputs"]], ["words", "facts"])
        self.assertEqual(result["inputs"][0], {"name": "words", "shape": [None, 6], "dtype": "i32"})
        self.assertEqual([y["name"] for y in result["outputs"]], ["topic", "score"])
        self.assertEqual(result["parameters"], 44 + 200 + 18 + 9)
        self.assertIn({"name": "reader", "class": "LSTM", "parameters": 200, "trainable": True},
                      result["layers"])

    def test_opens_every_kind_of_model(self):
        folder = self.folder / "unpacked"
        with zipfile.ZipFile(CLASSIFIER) as file:
            file.extractall(folder)
        for path in (folder, folder / "config.json", GOLDEN / "files/keras2.h5",
                     GOLDEN / "files/keras3.h5"):
            self.assertIn("Total params", self.succeeds("summary", path).out)

    def test_refuses_files_that_are_not_models(self):
        self.refuses("summary", self.folder / "none.keras", message="File not found")
        self.refuses("summary", self.write_text("a.txt", "hello"), message="format not supported")
        self.refuses("summary", self.write_text("a.keras", "hello"), message="a.keras")
        self.refuses("summary", self.write_text("a.json", "[1,"), message="a.json")
        self.refuses("summary", self.write_text("b.json", "{}"), message="b.json")
        self.refuses("summary", GOLDEN / "files/keras3.weights.h5", message="weights alone")

    def test_never_runs_a_python_lambda(self):
        self.refuses("summary", MODELS / "lambda.keras",
                     message="Lambda layer 'double' holds a Python function, which is never run")


class Inspect(ProgramTest):
    def test_a_keras_file(self):
        result = self.succeeds("inspect", CLASSIFIER).out
        for line in ("format        Keras model", "keras version 3.15.1", "opens         yes",
                     "optimizer     Adam", "  hidden (Dense)", "weights: 4 arrays, 172.00 B"):
            self.assertIn(line, result)

    def test_json(self):
        result = self.succeeds("inspect", "--json", CLASSIFIER).json
        self.assertEqual(result["format"], "Keras model")
        self.assertEqual(result["keras_version"], "3.15.1")
        self.assertTrue(result["opens"])
        self.assertEqual(result["weights"][0], {"name": "layers/dense/vars/0", "dtype": "f32",
                                              "shape": [4, 5], "bytes": 80, "owner": "hidden"})
        self.assertEqual(len(result["optimizer"]), 2 + 2 * 4)
        self.assertEqual(result["config"]["class_name"], "Sequential")
        self.assertEqual(result["training"]["optimizer"]["class_name"], "Adam")

    def test_the_config_alone(self):
        result = self.succeeds("inspect", "--config", CLASSIFIER).json
        self.assertEqual(result["config"]["name"], "classifier")
        self.refuses("inspect", "--config", GOLDEN / "files/keras3.weights.h5", message="no config")

    def test_every_format_by_contents(self):
        config = self.write_text("c", json.dumps({"class_name": "Sequential",
                                                  "config": {"name": "s", "layers": []}}))
        header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        tensors = self.folder / "t"
        tensors.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
        folder = self.folder / "unpacked"
        with zipfile.ZipFile(CLASSIFIER) as file:
            file.extractall(folder)
        for path, format in ((GOLDEN / "files/keras2.h5", "legacy HDF5 model"),
                             (GOLDEN / "files/keras3.weights.h5", "HDF5 weights"),
                             (GOLDEN / "files/compressed.npz", "NumPy arrays"),
                             (config, "model config"), (tensors, "safetensors"),
                             (folder, "Keras model folder")):
            self.assertEqual(self.succeeds("inspect", "--json", path).json["format"], format)

    def test_a_lambda_is_reported_and_not_run(self):
        result = self.succeeds("inspect", MODELS / "lambda.keras").out
        self.assertIn("opens         no: Lambda layer 'double'", result)

    def changed(self, name, change):
        """The classifier with a changed config, and a member that Keras does not know."""
        path = self.folder / name
        with zipfile.ZipFile(CLASSIFIER) as old, zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                data = old.read(member)
                if member == "config.json":
                    config = json.loads(data)
                    change(config)
                    data = json.dumps(config).encode()
                new.writestr(member, data)
            new.writestr("assets/words.txt", "a b c")
        return path

    def test_unknown_keys_members_and_classes(self):
        def unknown_key(config):
            config["config"]["layers"][1]["config"]["sparkle"] = 1

        def unknown_class(config):
            config["config"]["layers"][1] |= {"class_name": "Sparkle", "module": "os"}

        result = self.succeeds("inspect", "--json", self.changed("a.keras", unknown_key)).json
        self.assertEqual(result["warnings"],
                         ["Dense 'hidden': the config key 'sparkle' is not known and was ignored"])
        self.assertEqual(result["others"], ["assets/words.txt"])
        result = self.succeeds("inspect", "--json", self.changed("b.keras", unknown_class)).json
        self.assertFalse(result["opens"])
        self.assertIn("Could not find the class 'Sparkle' of module 'os'", result["error"])

    def test_opens_tells_whether_the_model_loads(self):
        def lost(config):
            config["config"]["layers"][1]["config"]["units"] = 6

        def metric(config):
            config["compile_config"]["metrics"] = ["shine"]

        path = self.changed("lost.keras", lost)
        result = self.succeeds("inspect", "--json", path).json
        self.assertFalse(result["opens"])
        self.assertIn("Layer 'hidden' (layers/dense)", result["error"])
        self.assertIn("opens         no: ", self.succeeds("inspect", path).out)
        path = self.changed("metric.keras", metric)
        result = self.succeeds("inspect", "--json", path).json
        self.assertTrue(result["opens"])
        self.assertIsNone(result["error"])
        self.assertIn("Could not interpret metric identifier: shine", result["training_error"])
        self.assertIn("opens         without its training: Could not interpret metric",
                      self.succeeds("inspect", path).out)

    def test_similar_warnings_are_counted(self):
        def unknown_keys(config):
            for layer in config["config"]["layers"]:
                layer["config"]["sparkle"] = 1

        result = self.succeeds("inspect", "--json", self.changed("a.keras", unknown_keys)).json
        self.assertEqual(result["warnings"],
                         ["InputLayer 'x': the config key 'sparkle' is not known and was ignored "
                          "(3 times in all; also Dense 'hidden', Dense 'scores')"])

    def test_damaged_files(self):
        whole = CLASSIFIER.read_bytes()
        weights = (GOLDEN / "files/keras3.weights.h5").read_bytes()
        for name, data in (("empty", b""), ("cut.keras", whole[:len(whole) // 2]),
                           ("cut.h5", weights[:len(weights) // 2]), ("noise", bytes(range(256))),
                           ("deep.json", b"[" * 100000), ("other.json", b"{}"),
                           ("huge.safetensors", b"\xff" * 8 + b"{}")):
            path = self.folder / name
            path.write_bytes(data)
            self.refuses("inspect", path, message=str(path))
        self.refuses("inspect", MODELS / "maze.h5", message="two links lead to the group")
        self.refuses("inspect", self.folder / "none", message="no such file")
        self.refuses("inspect", self.folder, message="config.json")
        self.refuses("inspect", GOLDEN / "files/python.zip", message="expected a zip with a Keras model")
