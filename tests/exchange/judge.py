"""How real Keras tells what a model does, and compares what another side told: see main.cpp."""

import base64
import io
import json
import shutil
import zipfile

import h5py
import keras
import numpy as np

TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-2
OLD_TOLERANCE = 2e-5  # old versions had other kernels
EPOCHS = 3


def structure(names, arrays):
    if isinstance(names, dict):
        return {key: structure(value, arrays) for key, value in names.items()}
    if isinstance(names, list):
        return [structure(value, arrays) for value in names]
    return names if names is None else arrays[names]


def kept(what, tree, arrays):
    """The same structure with names, under which the arrays are kept."""
    if isinstance(tree, dict):
        return {key: kept(what, value, arrays) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [kept(what, value, arrays) for value in tree]
    if tree is None:
        return None
    name = f"{what}_{len(arrays)}"
    array = keras.ops.convert_to_numpy(tree)
    arrays[name] = array.astype("float32") if array.dtype.name == "bfloat16" else array
    return name


def tolerance_of(model):
    return HALF_TOLERANCE if "float16" in model.to_json() else TOLERANCE


def classes_of(config):
    """Of every object in a config, however deep."""
    if isinstance(config, dict):
        own = {config["class_name"]} if "class_name" in config else set()
        return own.union(*map(classes_of, config.values()))
    return set().union(*map(classes_of, config)) if isinstance(config, list) else set()


def run(model, inputs, compiled=False):
    """Without `training`, which would go before what calls of layers in the model say. TensorFlow
    runs convolutions of channels_first on a CPU only when XLA compiles them."""
    tensors = keras.tree.map_structure(
        lambda x: None if x is None else keras.ops.convert_to_tensor(x), inputs)
    call = lambda: model(tensors)
    if compiled:
        import tensorflow

        return tensorflow.function(call, jit_compile=True, autograph=False)()
    return call()


def train(model, inputs, targets, batch_size):
    # Single steps are run one by one: to compile a graph takes longer than all of them.
    model.run_eagerly = True
    return model.fit(inputs, targets, batch_size=batch_size, epochs=EPOCHS, verbose=0,
                     shuffle=False).history["loss"]


def tell(path, model, inputs, targets=None, batch_size=None, **more):
    """Writes what a model does, and trains it on if there is something to learn."""
    arrays = {}
    outputs = run(model, inputs, more.get("compiled", False))
    told = {"inputs": kept("input", inputs, arrays), "outputs": kept("output", outputs, arrays),
            "dtypes": [keras.backend.standardize_dtype(x.dtype) for x in keras.tree.flatten(outputs)],
            "tolerance": tolerance_of(model)} | more
    if targets is not None:
        told |= {"targets": kept("target", targets, arrays), "batch_size": batch_size,
                 "losses": train(model, inputs, targets, batch_size)}
    path.with_suffix(".json").write_text(json.dumps(told))
    np.savez(path.with_suffix(".npz"), **arrays)


def decoded(tree):
    """The arrays of a golden file."""
    if isinstance(tree, list):
        return [decoded(item) for item in tree]
    return np.frombuffer(base64.b64decode(tree["data"]), tree["dtype"]).reshape(tree["shape"])


def old_files(folder):
    """Of every file in tests/golden/old: a name, the file, what is told of it, and arrays."""
    for entry in json.loads((folder / "old.json").read_text()):
        told = {key: entry[key] for key in ("weights", "losses") if key in entry}
        if "_th." in entry["file"]:
            told["compiled"] = True
        if b"Embedding" in (folder / entry["file"]).read_bytes():
            told["sparse"] = True
        targets = decoded(entry["targets"]) if "losses" in entry else None
        yield (entry["file"].replace(".", "_"), folder / entry["file"], told,
               decoded(entry["inputs"]), decoded(entry["outputs"]), targets)


def keep(path, told, inputs, outputs, targets):
    """Writes what a model did elsewhere, as `tell` does what one does here."""
    arrays = {}
    told = {"inputs": kept("input", inputs, arrays), "outputs": kept("output", outputs, arrays),
            "dtypes": [x.dtype.name for x in keras.tree.flatten(outputs)],
            "tolerance": OLD_TOLERANCE} | told
    if targets is not None:
        told |= {"targets": kept("target", targets, arrays), "batch_size": 4}
    path.with_suffix(".json").write_text(json.dumps(told))
    np.savez(path.with_suffix(".npz"), **arrays)


def has_masked_attention(path):
    """Has attention where all is masked, in all samples but the first?"""
    return path.stem.startswith(("sequences_2", "windows_2"))


def tell_golden(path, folder, samples=None):
    """Puts a golden file into a folder, and beside it in our words what it does."""
    shutil.copy(path, folder)
    golden = json.loads(path.with_suffix(".json").read_text())
    arrays = {name: decoded(golden[name])[:samples] for name in ("inputs", "outputs", "targets")
              if name in golden}
    told = {name: name for name in arrays} | {
        "dtypes": [golden["outputs"]["dtype"]],
        "tolerance": HALF_TOLERANCE if path.stem.startswith("mixed") else TOLERANCE}
    if "losses" in golden:
        told |= {"losses": golden["losses"], "batch_size": len(arrays["inputs"])}
    told_at = folder / path.with_suffix(".json").name
    told_at.write_text(json.dumps(told))
    np.savez(told_at.with_suffix(".npz"), **arrays)


def check_step(path, told_at):
    """One step of training changes the weights, and nothing in it is NaN."""
    _, arrays = told_of(told_at)
    model = keras.models.load_model(path, safe_mode=False)
    model.compile("sgd", "mse", run_eagerly=True)
    before = model.get_weights()
    loss = model.train_on_batch(arrays["inputs"], arrays["outputs"] + 1)
    after = model.get_weights()
    if not np.isfinite(loss).all():
        yield f"a step of training: the loss is {loss}"
    if all(np.array_equal(a, b) for a, b in zip(before, after)):
        yield "a step of training changes nothing"


def differences(name, ours, theirs, tolerance):
    """The rule of main.cpp."""
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


def check(path, told_at, save=None):
    """What is wrong with a model in a file, in lines. `save` is called with the opened model. With
    an .h5 Keras cannot go on training: it makes the optimizer for no variables."""
    told, arrays = told_of(told_at)
    model = keras.models.load_model(path, safe_mode=False)
    if save:
        save(model)
    yield from check_outputs(model, told, arrays)
    if "losses" in told and path.suffix != ".h5":
        inputs, targets = structure(told["inputs"], arrays), structure(told["targets"], arrays)
        losses = train(model, inputs, targets, told["batch_size"])
        # On TensorFlow, Keras 3 leaves rows alone whose gradient is sparse; old versions did not.
        if told.get("sparse"):
            losses, told["losses"] = losses[:1], told["losses"][:1]
        if not np.allclose(losses, told["losses"], told["tolerance"], told["tolerance"]):
            yield f"losses: {losses}, expected {told['losses']}"


def check_weights(model, path, told_at):
    """What is wrong with the weights in a file, in lines. The model has others."""
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    model.load_weights(path)
    yield from check_outputs(model, *told_of(told_at))


def told_of(path):
    return json.loads(path.read_text()), np.load(path.with_suffix(".npz"))


def check_outputs(model, told, arrays):
    inputs, expected = structure(told["inputs"], arrays), structure(told["outputs"], arrays)
    outputs = run(model, inputs, told.get("compiled", False))
    try:
        keras.tree.assert_same_structure(expected, outputs)
    except (TypeError, ValueError) as error:
        yield f"outputs: {error}"
        return
    flat = zip(keras.tree.flatten_with_path(expected), keras.tree.flatten(outputs), told["dtypes"])
    for (at, theirs), ours, dtype in flat:
        name = "output" + "".join(f"[{key}]" for key in at)
        if keras.backend.standardize_dtype(ours.dtype) != dtype:
            yield f"{name}: {ours.dtype}, expected {dtype}"
        ours = keras.ops.convert_to_numpy(ours)
        yield from differences(name, ours, theirs, told["tolerance"])


def held(dataset):
    """Keras counts steps in int64 on TensorFlow and in int32 on JAX; Keratin is with JAX."""
    array = dataset[()]
    array = array.astype("int64") if dataset.dtype.kind == "i" else array
    return array.dtype.str, array.shape, array.tobytes()


def walk(file):
    """Every object of an HDF5 file as libhdf5 reads it: the attributes, and what a dataset holds.
    Groups with nothing in them are left out: Keras has some for activations that are layers."""
    found = {}

    def visit(name, item):
        attributes = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}
        found[name] = (attributes, held(item) if isinstance(item, h5py.Dataset) else None)

    file.visititems(visit)
    data = [name for name, (_, held) in found.items() if held]
    return {name: item for name, item in found.items()
            if any(at == name or at.startswith(name + "/") for at in data)}


def weights_in(path):
    """What the weights file is that a .keras file holds, or that stands for itself."""
    if path.suffix != ".keras":
        return walk(h5py.File(path))
    with zipfile.ZipFile(path) as archive:
        return walk(h5py.File(io.BytesIO(archive.read("model.weights.h5"))))


def compare_weights(ours, theirs):
    """Value for value."""
    ours, theirs = weights_in(ours), weights_in(theirs)
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"weights: '{name}' is only in the file of {'Keratin' if name in ours else 'Keras'}"
    for name in sorted(ours.keys() & theirs.keys()):
        (our_attributes, our_data), (their_attributes, their_data) = ours[name], theirs[name]
        if our_attributes != their_attributes:
            yield f"weights: attributes of '{name}' {our_attributes}, expected {their_attributes}"
        if our_data != their_data:
            yield f"weights: '{name}' {(our_data or ())[:2]} is not {(their_data or ())[:2]}"
