#!/usr/bin/env python3
"""check.py EXCHANGE: Keratin and real Keras open, run, train and save again what the other made.

Keras lives in the virtual environment that `scripts/setup keras` makes. Without it the test is
skipped, unless KERATIN_REQUIRE_KERAS is set."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ.get("KERATIN_KERAS_PYTHON", ROOT / "build/keras/bin/python"))
SKIPPED = 77  # as CMake is told
SETTINGS = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


class Stage:
    """Counts what was compared, and prints what was wrong."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.folder.mkdir()
        self.wrong = self.compared = 0
        self.legacy = True

    def keratin(self, *arguments):
        self.wrong += subprocess.run([self.program, *map(str, arguments)]).returncode != 0

    def complain(self, name, complaints):
        """Whatever Keras raises is a complaint, too."""
        self.compared += 1
        try:
            lines = list(complaints)
        except Exception as error:
            lines = [f"{type(error).__name__}: {error}"]
        for line in lines:
            print(f"{name}: {line}")
        self.wrong += bool(lines)

    def told(self):
        return sorted(self.folder.glob("*.json"))


def save_legacy(model, path):
    """As .h5, unless Keras itself cannot open that: it has no place for operations."""
    import keras

    try:
        model.save(path)
        keras.models.load_model(path, safe_mode=False)
    except Exception:
        path.unlink(missing_ok=True)


def check_answer(ours, theirs, *rest):
    """What is wrong with a file of Keratin's whose like Keras wrote, too."""
    import judge

    yield from judge.check(ours, *rest)
    yield from judge.compare_weights(ours, theirs)


def keratin_first(stage):
    """Keratin makes models, Keras opens them and saves them, Keratin opens those."""
    import judge

    stage.keratin("write", stage.folder)
    for path in stage.told():
        back = path.with_suffix(".back.keras")

        def save(model):
            model.save(back)
            save_legacy(model, path.with_suffix(".back.h5"))

        stage.complain(path.stem, check_answer(path.with_suffix(".keras"), back, path, save))
        stage.complain(path.stem, judge.compare_weights(path.with_suffix(".weights.h5"), back))
    for suffix in (".back.keras", ".back.h5"):
        stage.keratin("read", stage.folder, suffix)


def tell_all(stage, made):
    import judge

    for entry in made:
        path = stage.folder / entry.name
        entry.model.save(path.with_suffix(".keras"))
        if stage.legacy:
            save_legacy(entry.model, path.with_suffix(".h5"))
        judge.tell(path, entry.model, entry.inputs, entry.targets, entry.batch_size, **entry.told)


def keras_first(stage, made, legacy=True):
    """Keras makes models, Keratin opens them and saves them, Keras opens those."""
    stage.legacy = legacy
    tell_all(stage, made)
    stage.keratin("answer", stage.folder, ".keras")
    if legacy:
        stage.keratin("read", stage.folder, ".h5")
    for path in stage.told():
        if json.loads(path.read_text()).get("one_way"):
            continue
        back, theirs = path.with_suffix(".back.keras"), path.with_suffix(".keras")
        stage.complain(path.stem, check_answer(back, theirs, path))


def check_all(program, only):
    import keras_models

    stages = {
        "keratin": keratin_first,
        "applications": lambda stage: keras_first(stage, keras_models.applications(), False),
        "zoo": lambda stage: keras_first(stage, keras_models.zoo_models()),
        "training": lambda stage: keras_first(stage, keras_models.trained()),
    }
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in only or stages:
            begin = time.time()
            stage = Stage(program, f"{folder}/{name}")
            stages[name](stage)
            print(f"{name}: Keras opened {len(stage.told())} models of Keratin; "
                  f"{stage.wrong} complaints; {time.time() - begin:.0f} s", flush=True)
            wrong += stage.wrong + (stage.compared == 0)
    return wrong > 0


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
