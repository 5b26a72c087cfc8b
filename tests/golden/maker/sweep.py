"""Records operations exhaustively, on TensorFlow and on JAX, and settles on one answer a case.

`python sweep.py BACKEND FILE` records what one backend does; `write` runs both and merges them.
"""

import base64
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types
import zipfile

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from maker import sweep_cases

BATCH = 2  # samples where the batch size is unknown


def data(dtype, shape, pool, offset):
    import ml_dtypes  # noqa: F401  (numpy learns bfloat16)
    import numpy as np

    values = sweep_cases.POOLS[pool]["float" if dtype in sweep_cases.FLOATS else "whole"]
    values = sweep_cases.WHOLE[dtype] if values is None else values
    shape = [BATCH if size is None else size for size in shape]
    count = int(np.prod(shape))
    picked = [values[(i + offset) % len(values)] for i in range(count)]
    wanted = np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)
    if dtype == "uint8" or dtype == "bool":
        picked = [abs(v) for v in picked]
    wide = "float64" if dtype in sweep_cases.FLOATS else "int64"
    with np.errstate(all="ignore"):
        return np.array(picked, wide).astype(wanted).reshape(shape)


def placeholders(x, names):
    """The arguments of a node as its file has them, {"$": i} for input i."""
    if isinstance(x, list):
        return [placeholders(value, names) for value in x]
    if isinstance(x, dict):
        if x.get("class_name") == "__keras_tensor__":
            return {"$": names.index(x["config"]["keras_history"][0])}
        return {key: placeholders(value, names) for key, value in x.items()}
    return x


def written(operation, args, kwargs, names):
    """An operation and the arguments of its call, as files have them."""
    from keras.src.models.functional import serialize_node
    from keras.src.ops.symbolic_arguments import SymbolicArguments
    from keras.src.saving import serialization_lib

    arguments = SymbolicArguments(*args, **kwargs)
    node = types.SimpleNamespace(input_tensors=arguments.keras_tensors, arguments=arguments)
    call = json.loads(json.dumps(serialize_node(node)))
    config = json.loads(json.dumps(serialization_lib.serialize_keras_object(operation)["config"]))
    name = config.pop("name")
    return arguments, dict(config, name=name), {
        "class": type(operation).__name__,
        "module": type(operation).__module__.removeprefix("keras.src.ops."),
        "args": placeholders(call["args"], names),
        "kwargs": {k: v for k, v in placeholders(call["kwargs"], names).items() if v is not None},
        "options": config and {k: v for k, v in config.items() if k != "name"},
    }


def to_numpy(x):
    import keras
    import ml_dtypes
    import numpy as np

    if keras.backend.standardize_dtype(x.dtype) != "bfloat16":
        return np.asarray(keras.ops.convert_to_numpy(x))
    wide = keras.ops.convert_to_numpy(keras.ops.cast(x, "float32"))  # scalars cannot be converted
    return np.asarray(wide).astype(ml_dtypes.bfloat16)


def record(code, tensors, called):
    import keras
    import numpy as np

    names = [f"i{k}" for k in range(len(tensors))]
    symbols = [keras.Input(batch_shape=shape, dtype=dtype, name=name)
               for name, (dtype, shape, _) in zip(names, tensors)]
    given = [data(*tensor, 3 * k) for k, tensor in enumerate(tensors)]
    called.clear()
    made = refused = None
    try:
        made = keras.tree.flatten(eval(code,
                                       {"ops": keras.ops, "np": np, **dict(zip("abc", symbols))}))
    except Exception as error:
        refused = f"symbolic: {type(error).__name__}: {error}"[:300]
    if len(called) != 1:
        return {"skip": f"{len(called)} operations"}
    try:
        arguments, config, case = written(*called[0], names)
    except Exception as error:
        return {"skip": f"cannot be written: {error}"[:200]}
    if refused:
        return case | {"refused": refused}
    case["declared"] = [(keras.backend.standardize_dtype(x.dtype), tuple(x.shape)) for x in made]
    try:
        plain = called[0][0]
        again = type(plain).from_config(config)
        values = {id(s): keras.ops.convert_to_tensor(g, dtype=t[0])
                  for s, g, t in zip(symbols, given, tensors)}
        args, kwargs = arguments.fill_in(values)
        try:
            out = keras.tree.flatten(again(*args, **kwargs))
        except Exception:  # a file has lists where JAX wants tuples
            out = keras.tree.flatten(plain(*args, **kwargs))
        case["out"] = [to_numpy(x) for x in out]
        case["dtypes"] = [keras.backend.standardize_dtype(x.dtype) for x in out]
    except Exception as error:
        case["refused"] = f"{type(error).__name__}: {error}"[:300]
    return case


def watch_calls():
    """The operations that are called symbolically, with their arguments, even if they refuse."""
    from keras.src.ops.operation import Operation

    called, plain = [], Operation.symbolic_call

    def symbolic_call(self, *args, **kwargs):
        called.append((self, args, kwargs))
        return plain(self, *args, **kwargs)

    Operation.symbolic_call = symbolic_call
    return called


def record_all(path, families=()):
    import contextlib
    import warnings

    import keras

    warnings.simplefilter("ignore")
    scope = None
    if keras.backend.backend() == "jax":
        import jax
        from keras.src.backend.common import dtypes

        dtypes.BIT64_TO_BIT32_DTYPE.update(int64="int64", float64="float64")
        scope = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    called = watch_calls()
    old = {}
    if os.path.exists(path):
        with open(path, "rb") as file:
            old = {(code, tuple(tensors)): case for _, code, tensors, case in pickle.load(file)}
    found, made = [], 0
    for family, code, tensors in sweep_cases.cases():
        if families and family not in families:
            continue
        case = old.get((code, tuple(tensors)))
        if case is None:
            wide = any("64" in dtype for dtype, _, _ in tensors) or "64'" in code
            with scope(True) if wide and scope is not None else contextlib.nullcontext():
                case = record(code, tensors, called)
            made += 1
            if made % 250 == 0:
                keras.backend.clear_session()
                if scope is not None:
                    jax.clear_caches()  # programs for each dtype and shape: gigabytes
                print(len(found), made, file=sys.stderr, flush=True)
        found.append((family, code, tensors, case))
    save(path, found)


def save(path, found):
    with open(path + ".part", "wb") as file:
        pickle.dump(found, file)
    os.replace(path + ".part", path)


def same(x, y):
    """True if the numbers differ by rounding alone."""
    import numpy as np

    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind in "biu":
        return np.array_equal(x, y)
    near = {"float16": 2e-3, "bfloat16": 1.6e-2, "float64": 1e-10}.get(x.dtype.name, 1e-5)
    x, y = x.astype("float64"), y.astype("float64")
    return np.allclose(x, y, rtol=near, atol=near / 10, equal_nan=True)


def signs_of_zeros(arrays):
    import numpy as np

    return [np.signbit(x.astype("float64")[x == 0]).tolist() for x in arrays]


def recast(jax, tensorflow):
    """JAX's numbers in the dtypes of TensorFlow, where these are of the same kind."""
    pairs = list(zip(jax["out"], tensorflow["out"]))
    if any(x.shape != y.shape or x.dtype.kind != y.dtype.kind or x.itemsize < y.itemsize
           for x, y in pairs):
        return tensorflow
    return tensorflow | {"out": [x.astype(y.dtype) for x, y in pairs]}


def settle(code, tensors, jax, tensorflow):
    """The case that is recorded, and what the backends disagree about, or nothing."""
    from maker import sweep_known

    for case in (jax, tensorflow):
        if "skip" in case:
            return None, "skip: " + case["skip"]
    if any(map(sweep_known.out_of_scope, (jax, tensorflow))):
        return None, "a dtype that Keratin lacks"
    if tensorflow.get("refused", "").startswith("symbolic") and sweep_known.accident(tensorflow):
        return None, "accident"
    if sweep_known.unsettled(code, tensors):
        return None, "unsettled"
    if "refused" in tensorflow and "refused" in jax:
        return tensorflow, None
    if "refused" in jax:
        return tensorflow, "refused by JAX"
    if "refused" in tensorflow:
        return sweep_known.narrowed(code, tensors, jax), "refused by TensorFlow"
    if tensorflow["dtypes"] != jax["dtypes"]:
        right = sweep_known.dtype_of_tensorflow(tensors, jax, tensorflow)
        return (recast(jax, tensorflow) if right else jax), "dtype"
    if [x.shape for x in jax["out"]] != [x.shape for x in tensorflow["out"]]:
        return jax, "shape"
    if not all(map(same, jax["out"], tensorflow["out"])):
        right = sweep_known.tensorflow_is_right(code, tensors, tensorflow["class"])
        return (tensorflow if right else jax), "numbers"
    if signs_of_zeros(jax["out"]) != signs_of_zeros(tensorflow["out"]):
        return jax | {"zeros": "any"}, None
    return jax, None


def fits(declared, shape):
    """Keras declares shapes that are not those of the numbers, here and there."""
    return len(declared) == len(shape) and all(
        size in (None, known) for size, known in zip(declared, shape))


def line(code, tensors, case):
    """A case as the file has it."""
    import numpy as np

    written = {"code": code, "class": case["class"], "module": case["module"],
               "inputs": [[dtype, list(shape), pool] for dtype, shape, pool in tensors],
               "options": case["options"], "args": case["args"], "kwargs": case["kwargs"]}
    if "refused" in case:
        return written | {"refused": case["refused"].split("\n")[0][:60]}
    outputs = []
    for array, (_, declared) in zip(case["out"], case["declared"]):
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        outputs.append({"dtype": array.dtype.name, "shape": list(array.shape), "data": data})
        if not fits(declared, array.shape):
            outputs[-1]["declared"] = None
        elif None in declared:
            outputs[-1]["declared"] = list(declared)
    if "zeros" in case:
        written["zeros"] = case["zeros"]
    return written | {"outputs": outputs}


def archive(path, entries):
    """A zip whose bytes depend on its contents alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, text in entries.items():
            file.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED, 9)


def compact(x):
    return json.dumps(x, separators=(",", ":"))


def merge(folder, records):
    """One archive a family; returns what the backends disagree about."""
    import ml_dtypes  # noqa: F401

    by_backend = []
    for paths in records:
        found = {}
        for path in paths:
            with open(path, "rb") as file:
                found |= {(code, tuple(tensors)): case
                          for _, code, tensors, case in pickle.load(file)}
        by_backend.append(found)
    lines, disagreements = {}, []
    for family, code, tensors in sweep_cases.cases():
        key = code, tuple(tensors)
        cases = [found.get(key) for found in by_backend]
        if cases[1] is None:
            continue
        case, difference = settle(code, tensors, cases[0] or cases[1], cases[1])
        if difference:
            disagreements.append((family, code, tensors, difference, *cases))
        if case is not None:
            lines.setdefault(family, []).append(compact(line(code, tensors, case)))
    pools = compact(sweep_cases.POOLS | {"whole": sweep_cases.WHOLE})
    folder.mkdir(parents=True, exist_ok=True)
    for family, cases in lines.items():
        archive(folder / f"{family}.zip",
                {"pools.json": pools, "cases.json": "[" + ",\n".join(cases) + "]\n"})
    return disagreements


def write(folder, only=None):
    """Only if it is requested: JAX compiles for every dtype and shape, which takes a while."""
    if only is None or "sweep" not in only:
        return
    with tempfile.TemporaryDirectory() as scratch:
        paths = {name: f"{scratch}/{name}" for name in ("jax", "tensorflow")}
        running = [subprocess.Popen([sys.executable, __file__, name, path])
                   for name, path in paths.items()]
        for one in running:
            if one.wait() != 0:
                raise RuntimeError("a backend could not be recorded")
        merge(folder / "sweep", [[path] for path in paths.values()])


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = sys.argv[1]
    os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"  # programs that run once
    record_all(sys.argv[2], sys.argv[3:])
