#!/usr/bin/env python3
"""Records what real Keras does into the files beside this script. README.md says how to run it."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "COLUMNS": "200",  # room for summaries
    "TF_ENABLE_ONEDNN_OPTS": "0",  # plain kernels in a fixed order
    "PYTHONHASHSEED": "0",  # some messages print sets
}
# It has gradients, a step of an optimizer is a function of all state, and corners are as Keratin's.
ON_JAX = ("losses", "metrics", "optimizers")


def make(folder, only):
    from maker import (errors, files, functions, images, layers, models, operations, program,
                       saved, sweep, tensorboard, topology, training, variable_paths)

    for recorder in (layers, functions, operations, models, topology, errors, training, tensorboard,
                 files, images, program, saved, sweep, variable_paths):
        recorder.write(folder, only)
    wanted = [name for name in ON_JAX if only is None or name in only]
    if wanted and os.environ["KERAS_BACKEND"] == "jax":
        from maker import losses, metrics, optimizers

        for recorder in (losses, metrics, optimizers):
            recorder.write(folder, wanted)
    elif wanted:
        again = [sys.executable, __file__, "--into", str(folder), "--only", *wanted]
        subprocess.run(again, env=os.environ | {"KERAS_BACKEND": "jax"}, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="recorders or layer classes")
    parser.add_argument("--into", type=pathlib.Path, default=HERE, help="another folder")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    settled = SETTINGS | {key: os.environ[key] for key in ("KERAS_BACKEND",) if key in os.environ}
    if any(os.environ.get(key) != value for key, value in settled.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | settled)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE))
    if not options.check:
        return make(options.into, options.only)
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder), options.only)
        from maker import compare, known

        causes = known.DIFFERENCES.get(os.environ["KERAS_BACKEND"], [])
        return compare.folders(HERE, pathlib.Path(folder), causes)


if __name__ == "__main__":
    sys.exit(main())
