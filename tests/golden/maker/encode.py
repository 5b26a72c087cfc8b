"""How tensors and structures are written: see README.md."""

import base64
import json
import pathlib
import zlib

import keras
import numpy as np
from keras.src.backend.common.masking import get_keras_mask, set_keras_mask


def generator(*names):
    """Random numbers that depend on the name of a case only, never on its neighbours."""
    return np.random.default_rng(zlib.crc32("/".join(names).encode()))


def tensor(x):
    x = x if isinstance(x, np.ndarray) else np.asarray(keras.ops.convert_to_numpy(x))
    if x.dtype.kind in "OSU":
        text = [s.decode() if isinstance(s, bytes) else str(s) for s in x.reshape(-1)]
        return {"dtype": "string", "shape": list(x.shape), "data": text}
    data = x.astype(x.dtype.newbyteorder("<")) if x.dtype.byteorder == ">" else x
    return {
        "dtype": x.dtype.name,
        "shape": list(x.shape),
        "data": base64.b64encode(data.tobytes()).decode(),
    }


def structure(x):
    """Lists, dicts, plain values and null stay; every tensor is encoded."""
    if isinstance(x, dict):
        return {key: structure(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [structure(value) for value in x]
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    return tensor(x)


def weights(of):
    return [
        {"path": getattr(w, "path", w.name), "name": w.name, "trainable": w.trainable, **tensor(w)}
        for w in of.weights
    ]


def masks(outputs):
    """One mask or null per flat output."""
    return [structure(get_keras_mask(x)) for x in keras.tree.flatten(outputs)]


def config(x):
    """The JSON form of a Keras object, with small numbers where Keras writes memory addresses."""
    return tidy(json.loads(json.dumps(x)))


def tidy(x, ids=None):
    ids = {} if ids is None else ids
    if isinstance(x, list):
        return [tidy(value, ids) for value in x]
    if not isinstance(x, dict):
        return x
    known = {key: tidy(value, ids) for key, value in x.items()}
    if "shared_object_id" in known:
        known["shared_object_id"] = ids.setdefault(known["shared_object_id"], len(ids) + 1)
    return known


def with_mask(x, mask):
    x = keras.ops.convert_to_tensor(x)
    if mask is not None:
        set_keras_mask(x, keras.ops.convert_to_tensor(mask))
    return x


def attempt(name, record):
    """Other backends fail at a few cases; that must not end a comparison."""
    try:
        return record()
    except Exception as error:
        if keras.backend.backend() == "tensorflow":
            raise
        print(f"{name}: {keras.backend.backend()} cannot: {error}"[:200])
        return None


def write(path, entries):
    """A JSON array or object with one entry a line, so that differences are readable."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    compact = lambda x: json.dumps(x, separators=(",", ":"), ensure_ascii=False)
    if entries is None:
        text = "null\n"
    elif isinstance(entries, dict):
        lines = [f"{compact(key)}:{compact(value)}" for key, value in entries.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
    else:
        text = "[\n" + ",\n".join(compact(entry) for entry in entries) + "\n]\n"
    path.write_text(text)
