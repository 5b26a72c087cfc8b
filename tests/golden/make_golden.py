#!/usr/bin/env python3
"""Records what real Keras does into the files beside this script. README.md says how to run it."""

import argparse
import os
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",  # plain kernels in a fixed order
}


def make(folder, only):
    from maker import layers

    layers.write(folder, only)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="parts or layer classes")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    for key, value in SETTINGS.items():
        os.environ.setdefault(key, value)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE))
    if not options.check:
        return make(HERE, options.only)
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder), options.only)
        from maker import compare

        return compare.folders(HERE, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
