"""Writes records of Keras's models, and compares models with records of the other side; see main.cpp."""

import base64
import io
import json
import shutil
import zipfile

import h5py
import keras
import numpy as np

TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-2
OLD_TOLERANCE = 2e-5  # old versions have other kernels
EPOCHS = 3


def structure(names, arrays):
    if isinstance(names, dict):
        return {key: structure(value, arrays) for key, value in names.items()}
    if isinstance(names, list):
        return [structure(value, arrays) for value in names]
    return names if names is None else arrays[names]


def kept(what, tree, arrays):
    """Adds the tree's tensors to `arrays`. Returns the tree with names of arrays."""
    if isinstance(tree, dict):
        return {key: kept(what, value, arrays) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [kept(what, value, arrays) for value in tree]
    if tree is None:
        return None
    name = f"{what}_{len(arrays)}"
    array = keras.ops.convert_to_numpy(tree)
    if array.dtype == object:  # strings
        array = array.astype("S")
    arrays[name] = array.astype("float32") if array.dtype.name == "bfloat16" else array
    return name


def tolerance_of(model):
    return HALF_TOLERANCE if "float16" in model.to_json() else TOLERANCE


def classes_of(config):
    """The class names of all objects in a config."""
    if isinstance(config, dict):
        own = {config["class_name"]} if "class_name" in config else set()
        return own.union(*map(classes_of, config.values()))
    return set().union(*map(classes_of, config)) if isinstance(config, list) else set()


def config_in(path):
    """The config of the model in a .keras file."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("config.json"))


def registered_names(path):
    """The registered names in the config of a .keras file, such as "mine>Swirl", functions included."""
    def names(config):
        if isinstance(config, dict):
            return set().union(*map(names, config.values()))
        if isinstance(config, list):
            return set().union(*map(names, config))
        return {config} if isinstance(config, str) and ">" in config else set()

    return names(config_in(path))


def run(model, inputs, compiled=False):
    """Runs a model without `training`, which would override the flags of layer calls in the model.
    On a CPU, TensorFlow runs convolutions with channels_first only if XLA compiles them."""
    tensors = keras.tree.map_structure(
        lambda x: None if x is None else keras.ops.convert_to_tensor(x), inputs)
    call = lambda: model(tensors)
    if compiled:
        import tensorflow

        return tensorflow.function(call, jit_compile=True, autograph=False)()
    return call()


def train(model, inputs, targets, batch_size):
    # Steps are run eagerly: compiling a graph takes longer than all of them.
    model.run_eagerly = True
    inputs = keras.tree.map_structure(  # fit takes strings as tensors only
        lambda x: keras.ops.convert_to_tensor(x) if x.dtype.kind == "S" else x, inputs)
    return model.fit(inputs, targets, batch_size=batch_size, epochs=EPOCHS, verbose=0,
                     shuffle=False).history["loss"]


def write_record(path, model, inputs, targets=None, batch_size=None, **more):
    """Writes the record of a model and, with targets, trains it further."""
    arrays = {}
    outputs = run(model, inputs, more.get("compiled", False))
    record = {"inputs": kept("input", inputs, arrays), "outputs": kept("output", outputs, arrays),
            "dtypes": [keras.backend.standardize_dtype(x.dtype) for x in keras.tree.flatten(outputs)],
            "tolerance": tolerance_of(model)} | more
    if targets is not None:
        record |= {"targets": kept("target", targets, arrays), "batch_size": batch_size,
                 "losses": train(model, inputs, targets, batch_size)}
    path.with_suffix(".json").write_text(json.dumps(record))
    np.savez(path.with_suffix(".npz"), **arrays)


def decoded(tree):
    """The arrays of a golden record."""
    if isinstance(tree, list):
        return [decoded(item) for item in tree]
    return np.frombuffer(base64.b64decode(tree["data"]), tree["dtype"]).reshape(tree["shape"])


def old_files(folder):
    """Yields the name, file, record and arrays of each file in tests/golden/old."""
    for entry in json.loads((folder / "old.json").read_text()):
        record = {key: entry[key] for key in ("weights", "losses") if key in entry}
        if "_th." in entry["file"]:
            record["compiled"] = True
        if b"Embedding" in (folder / entry["file"]).read_bytes():
            record["sparse"] = True
        targets = decoded(entry["targets"]) if "losses" in entry else None
        yield (entry["file"].replace(".", "_"), folder / entry["file"], record,
               decoded(entry["inputs"]), decoded(entry["outputs"]), targets)


def write_known_record(path, record, inputs, outputs, targets):
    """Writes a record from known outputs instead of running a model."""
    arrays = {}
    record = {"inputs": kept("input", inputs, arrays), "outputs": kept("output", outputs, arrays),
            "dtypes": [x.dtype.name for x in keras.tree.flatten(outputs)],
            "tolerance": OLD_TOLERANCE} | record
    if targets is not None:
        record |= {"targets": kept("target", targets, arrays), "batch_size": 4}
    path.with_suffix(".json").write_text(json.dumps(record))
    np.savez(path.with_suffix(".npz"), **arrays)


def has_masked_attention(path):
    """True if all samples but the first have fully masked attention."""
    return path.stem.startswith(("sequences_2", "windows_2"))


def copy_golden(path, folder, samples=None):
    """Copies a golden file into a folder, with its record in main.cpp's form."""
    shutil.copy(path, folder)
    golden = json.loads(path.with_suffix(".json").read_text())
    arrays = {name: decoded(golden[name])[:samples] for name in ("inputs", "outputs", "targets")
              if name in golden}
    record = {name: name for name in arrays} | {
        "dtypes": [golden["outputs"]["dtype"]],
        "tolerance": HALF_TOLERANCE if path.stem.startswith("mixed") else TOLERANCE}
    if "losses" in golden:
        record |= {"losses": golden["losses"], "batch_size": len(arrays["inputs"])}
    record_path = folder / path.with_suffix(".json").name
    record_path.write_text(json.dumps(record))
    np.savez(record_path.with_suffix(".npz"), **arrays)


def check_step(path, record_path):
    """Yields an error unless a training step changes the weights and has a finite loss."""
    _, arrays = read_record(record_path)
    model = keras.models.load_model(path, safe_mode=False)
    model.compile("sgd", "mse", run_eagerly=True)
    before = model.get_weights()
    loss = model.train_on_batch(arrays["inputs"], arrays["outputs"] + 1)
    after = model.get_weights()
    if not np.isfinite(loss).all():
        yield f"training step: expected a finite loss, got {loss}"
    if all(np.array_equal(a, b) for a, b in zip(before, after)):
        yield "training step: expected changed weights"


def differences(name, ours, theirs, tolerance):
    """Yields an error if arrays differ, by the rule of main.cpp."""
    if theirs.dtype.kind == "S":
        if not np.array_equal(ours.astype("S"), theirs):
            yield f"{name}: {ours}, expected {theirs}"
        return
    ours, theirs = (np.asarray(x).astype("float64") for x in (ours, theirs))
    if ours.shape != theirs.shape:
        yield f"{name}: shape {ours.shape}, expected {theirs.shape}"
        return
    finite = np.abs(theirs[np.isfinite(theirs)])
    scale = finite.max(initial=0)
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= tolerance * np.minimum(scale, 1 + np.abs(theirs))
    near |= (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if not near.all():
        worst = np.abs(ours - theirs)[~near].max()
        yield f"{name} differs by {worst}, where the largest number is {scale}"


def check(path, record_path, save=None):
    """Yields the differences between a model in a file and its record. `save` is called with the
    loaded model. Training is not checked for an .h5: Keras makes its optimizer for no variables."""
    record, arrays = read_record(record_path)
    model = keras.models.load_model(path, safe_mode=False)
    if save:
        save(model)
    yield from check_outputs(model, record, arrays)
    if "losses" in record and path.suffix != ".h5":
        inputs, targets = structure(record["inputs"], arrays), structure(record["targets"], arrays)
        losses = train(model, inputs, targets, record["batch_size"])
        # On TensorFlow, Keras 3 does not update rows without a gradient; old versions did.
        if record.get("sparse"):
            losses, record["losses"] = losses[:1], record["losses"][:1]
        if not np.allclose(losses, record["losses"], record["tolerance"], record["tolerance"]):
            yield f"losses: {losses}, expected {record['losses']}"


def check_weights(model, path, record_path):
    """Yields the differences between a model with the weights of a file and a record."""
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    model.load_weights(path)
    yield from check_outputs(model, *read_record(record_path))


def read_record(path):
    return json.loads(path.read_text()), np.load(path.with_suffix(".npz"))


def check_outputs(model, record, arrays):
    inputs, expected = structure(record["inputs"], arrays), structure(record["outputs"], arrays)
    outputs = run(model, inputs, record.get("compiled", False))
    try:
        keras.tree.assert_same_structure(expected, outputs)
    except (TypeError, ValueError) as error:
        yield f"outputs: {error}"
        return
    flat = zip(keras.tree.flatten_with_path(expected), keras.tree.flatten(outputs), record["dtypes"])
    for (at, theirs), ours, dtype in flat:
        name = "output" + "".join(f"[{key}]" for key in at)
        if keras.backend.standardize_dtype(ours.dtype) != dtype:
            yield f"{name}: {ours.dtype}, expected {dtype}"
        ours = keras.ops.convert_to_numpy(ours)
        yield from differences(name, ours, theirs, record["tolerance"])


def held(dataset):
    """A dataset's dtype, shape and bytes. Integers become int64: Keras's step counter is int64 on
    TensorFlow, and int32 on JAX and in Keratin."""
    array = dataset[()]
    array = array.astype("int64") if dataset.dtype.kind == "i" else array
    return array.dtype.str, array.shape, array.tobytes()


def walk(file):
    """All objects of an HDF5 file with their attributes and data, as libhdf5 reads them. Empty groups
    are left out: Keras writes some for layers used as activations."""
    found = {}

    def visit(name, item):
        attributes = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}
        found[name] = (attributes, held(item) if isinstance(item, h5py.Dataset) else None)

    file.visititems(visit)
    data = [name for name, (_, held) in found.items() if held]
    return {name: item for name, item in found.items()
            if any(at == name or at.startswith(name + "/") for at in data)}


def weights_in(path):
    """The objects of a weights file, which may be inside a .keras file."""
    if path.suffix != ".keras":
        return walk(h5py.File(path))
    with zipfile.ZipFile(path) as archive:
        return walk(h5py.File(io.BytesIO(archive.read("model.weights.h5"))))


def compare_weights(ours, theirs):
    """Yields the differences between two files of weights."""
    ours, theirs = weights_in(ours), weights_in(theirs)
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"weights: '{name}' is only in the file of {'Keratin' if name in ours else 'Keras'}"
    for name in sorted(ours.keys() & theirs.keys()):
        (our_attributes, our_data), (their_attributes, their_data) = ours[name], theirs[name]
        if name.endswith("/_lookup_layer/vars"):  # Keras numbers the name of such a layer anew
            our_attributes = their_attributes
        if our_attributes != their_attributes:
            yield f"weights: attributes of '{name}' {our_attributes}, expected {their_attributes}"
        if our_data != their_data:
            yield f"weights: '{name}' {(our_data or ())[:2]} is not {(their_data or ())[:2]}"
