#!/usr/bin/env python3
"""check.py EXCHANGE: Keratin and Keras load, run, train and save each other's models.

Keras is in the virtual environment that `scripts/setup keras` makes. Without it the test is skipped,
or fails if KERATIN_REQUIRE_KERAS is set."""

import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ.get("KERATIN_KERAS_PYTHON", ROOT / "build/keras/bin/python"))
SKIPPED = 77  # the code in tests/CMakeLists.txt
SETTINGS = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # Some virtual machines report AMX but do not run it: TensorFlow's matmuls in bfloat16 end with
    # SIGILL there.
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16",
}


class Stage:
    """A folder of models, and the number of models with errors."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.folder.mkdir()
        self.wrong = 0
        self.classes = {}  # by the side that made the models: of their layers, and of trained ones
        self.legacy = True

    def keratin(self, *arguments):
        self.wrong += subprocess.run([self.program, *map(str, arguments)]).returncode != 0

    def count(self, side, config, trained):
        import judge

        for kind in (side, f"{side}, trained")[:1 + trained]:
            self.classes.setdefault(kind, set()).update(judge.classes_of(config))

    def complain(self, name, complaints):
        """Prints the errors of a model; an exception of Keras is one too."""
        try:
            lines = list(complaints)
        except Exception as error:
            lines = [f"{type(error).__name__}: {error}"]
        for line in lines:
            print(f"{name}: {line}")
        self.wrong += bool(lines)

    def records(self):
        return sorted(self.folder.glob("*.json"))


def save_legacy(model, path):
    """Saves a model as .h5, unless Keras cannot load it again: the format has no operations."""
    keras = sys.modules[type(model).__module__.split(".")[0]]  # or tf_keras
    try:
        model.save(path)
        keras.models.load_model(path, safe_mode=False)
    except Exception:
        path.unlink(missing_ok=True)


def check_answer(ours, theirs, *rest):
    """Yields the differences between a file of Keratin and Keras's file of the same model."""
    import judge

    yield from judge.check(ours, *rest)
    yield from judge.compare_weights(ours, theirs)


# Keras cannot load these, not even its own files: some have an ellipsis in an index, one has Lamb.
KERAS_CANNOT_OPEN = {"slicing.h5", "zoo_op_functions.h5", "zoo_mask_maker.h5", "optimizer_lamb.h5"}


def keratin_first(stage, command="write"):
    """Keratin makes models, Keras loads and saves them, Keratin loads the results."""
    import judge
    import keras
    import keras_models
    import user_parts  # registers classes

    keras_models.custom.layers(keras)  # these are in models of the zoo
    stage.keratin(command, stage.folder)
    for path in stage.records():
        back = path.with_suffix(".back.keras")
        stage.count("Keratin", judge.config_in(path.with_suffix(".keras")),
                    "losses" in json.loads(path.read_text()))

        legacy = path.with_suffix(".h5")

        def save(model):
            model.save(back)
            if legacy.exists():
                save_legacy(model, path.with_suffix(".back.h5"))

        stage.complain(path.stem, check_answer(path.with_suffix(".keras"), back, path, save))
        if legacy.exists() and legacy.name not in KERAS_CANNOT_OPEN:
            stage.complain(legacy.name, judge.check(legacy, path))
        stage.complain(path.stem, judge.compare_weights(path.with_suffix(".weights.h5"), back))
    for suffix in (".back.keras", ".back.h5"):
        stage.keratin("read", stage.folder, suffix)


def save_all(stage, made):
    import judge

    for entry in made:
        path = stage.folder / entry.name
        if ".keras" in entry.formats:
            entry.model.save(path.with_suffix(".keras"))
        if ".h5" in entry.formats and stage.legacy:
            save_legacy(entry.model, path.with_suffix(".h5"))
        judge.write_record(path, entry.model, entry.inputs, entry.targets, entry.batch_size, **entry.extra)
        stage.count("Keras", json.loads(entry.model.to_json()), entry.targets is not None)


def keras_first(stage, made, legacy=True):
    """Keras makes models, Keratin loads and saves them, Keras loads the results."""
    stage.legacy = legacy
    save_all(stage, made)
    stage.keratin("answer", stage.folder, ".keras")
    if legacy:
        stage.keratin("read", stage.folder, ".h5")
    for path in stage.records():
        if json.loads(path.read_text()).get("one_way"):
            continue
        back, theirs = path.with_suffix(".back.keras"), path.with_suffix(".keras")
        stage.complain(path.stem, check_answer(back, theirs, path))


def parts_first(stage):
    """Keras makes models of a user's classes. Keratin has C++ for them, and writes their names."""
    import judge
    import keras_models

    keras_first(stage, keras_models.of_user_parts(), legacy=False)
    for path in stage.records():
        theirs = judge.registered_names(path.with_suffix(".keras"))
        ours = judge.registered_names(path.with_suffix(".back.keras"))
        if ours != theirs or not theirs:
            stage.complain(path.stem, [f"registered names {ours}, expected {theirs}"])


def keras2_first(stage):
    """Keras 2 makes models, which Keratin loads and saves as files of Keras 3. Keras 2 can read the
    weights of an .h5 from these."""
    import judge
    import keras_models
    import tf_keras

    save_all(stage, keras_models.keras2_models())
    stage.keratin("read", stage.folder, ".keras")
    stage.keratin("answer", stage.folder, ".h5")
    for path in stage.records():
        model = tf_keras.models.load_model(path.with_suffix(".h5"), safe_mode=False)
        back = path.with_suffix(".back.h5")
        stage.complain(path.stem, judge.check_weights(model, back, path))


def keras1_first(stage):
    """Keras 2 and Keratin load weights in the layout of Keras 1 into the same model."""
    import judge
    import keras_models

    for made, weights in keras_models.keras1_models():
        path = stage.folder / made.name
        made.model.save(path.with_suffix(".h5"))
        keras_models.write_keras1(path.with_suffix(".old.h5"), weights)
        made.model.load_weights(path.with_suffix(".old.h5"))
        judge.write_record(path, made.model, made.inputs, weights=".old.h5", **made.extra)
    stage.keratin("read", stage.folder, ".h5")


def old_first(stage):
    """Keratin loads files of old versions and saves them, Keras 3 loads, runs and trains the results."""
    import judge

    for name, file, record, inputs, outputs, targets in judge.old_files(ROOT / "tests/golden/old"):
        (stage.folder / f"{name}.old").write_bytes(file.read_bytes())
        if "weights" in record:
            weights = file.with_name(file.stem + record["weights"])
            (stage.folder / (name + record["weights"])).write_bytes(weights.read_bytes())
        judge.write_known_record(stage.folder / name, record, inputs, outputs, targets)
    stage.keratin("answer", stage.folder, ".old")
    for path in stage.records():
        stage.complain(path.stem, judge.check(path.with_suffix(".back.keras"), path))


def old_zips(stage):
    """Keratin loads .keras files of older versions and saves them, Keras loads and trains the
    results."""
    import judge

    golden = sorted((ROOT / "tests/golden/zips").glob("*.keras"))
    for path in golden:
        judge.copy_golden(path, stage.folder)
    stage.keratin("answer", stage.folder, ".keras")
    for path in golden:
        if judge.has_masked_attention(path):  # which Keras 3 computes differently
            judge.copy_golden(path, stage.folder, samples=1)
    for path in stage.records():
        back = path.with_suffix(".back.keras")
        stage.complain(path.stem, judge.check(back, path))
        stage.complain(path.stem, judge.check_step(back, path))


# "Model" is the name of functional models until Keras 2.3, the CuDNN layers are Keras 2's,
# "GroupedQueryAttention" is another name of a layer, IndexLookup is the base class of lookups, and a
# Wrapper alone cannot be called.
IN_NO_MODEL = {"Model", "CuDNNGRU", "CuDNNLSTM", "GroupedQueryAttention", "IndexLookup", "Wrapper",
               # names of BatchNormalization in TensorFlow 1.13 to 2.2, and of a sibling in Keras 2
               "BatchNormalizationV1", "BatchNormalizationV2", "SyncBatchNormalization",
               # of TensorFlow 2.0 to 2.4, in tests/golden/old; and of ragged tensors
               "TensorFlowOpLayer", "AddLoss", "AddMetric", "ClassMethod", "InstanceMethod",
               "InstanceProperty"}
# A Lambda of C++ is saved as operations.
NOT_OF_KERATIN = {"Lambda"}
# What these do in training is random, as what other classes do that have a seed.
RANDOM = {"MaxNumBoundingBoxes"}


def is_random(keras, name):
    """True for a class whose training has random numbers whatever its arguments are."""
    arguments = inspect.signature(getattr(keras.layers, name).__init__).parameters
    return name in RANDOM or ("seed" in arguments and "dropout" not in arguments)


def layers_left_out(program, classes):
    """Yields the layers that no model of a side has, and those that no trained model has."""
    import keras

    names = subprocess.run([program, "layers"], check=True, capture_output=True, text=True)
    known = set(names.stdout.split()) - IN_NO_MODEL
    of_keras3 = {name for name in known if hasattr(keras.layers, name)}
    trainable = {name for name in of_keras3 if not is_random(keras, name)} - NOT_OF_KERATIN
    wanted = {"Keras": known, "Keratin": of_keras3 - NOT_OF_KERATIN,
              "Keras, trained": trainable, "Keratin, trained": trainable}
    for side, expected in wanted.items():
        if missing := sorted(expected - classes[side]):
            yield f"layers in no model of {side}: {', '.join(missing)}"


def check_all(program, only):
    import keras_models

    stages = {
        "keratin": keratin_first,
        "keratin_layers": lambda stage: keratin_first(stage, "write_layers"),
        "applications": lambda stage: keras_first(stage, keras_models.applications(), False),
        "layers": lambda stage: keras_first(stage, keras_models.layers()),
        "trained_layers": lambda stage: keras_first(stage, keras_models.trained_layers(), False),
        "zoo": lambda stage: keras_first(stage, keras_models.zoo_models()),
        "training": lambda stage: keras_first(stage, keras_models.trained()),
        "parts": parts_first,
        "keras2": keras2_first,
        "keras1": keras1_first,
        "old": old_first,
        "zips": old_zips,
    }
    wrong, classes = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in only or stages:
            begin = time.time()
            stage = Stage(program, f"{folder}/{name}")
            stages[name](stage)
            print(f"{name}: {len(stage.records())} models, {stage.wrong} complaints, "
                  f"{time.time() - begin:.0f} s", flush=True)
            wrong += stage.wrong + (not stage.records())
            for side, found in stage.classes.items():
                classes.setdefault(side, set()).update(found)
    missing = [] if only else list(layers_left_out(program, classes))
    print("\n".join(missing), end="\n" if missing else "")
    return wrong + len(missing) > 0


def main():
    program, *inside = sys.argv[1:]
    if inside and inside[0] == "inside":
        return check_all(program, inside[1:])
    if PYTHON.exists():
        again = [PYTHON, "-W", "ignore", __file__, program, "inside", *inside]
        os.execve(PYTHON, again, os.environ | SETTINGS)
    print(f"skipped: there is no Keras at {PYTHON}; scripts/setup keras installs it")
    return 1 if os.environ.get("KERATIN_REQUIRE_KERAS") else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
