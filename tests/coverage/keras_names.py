"""What is public in the installed Keras: {namespace: [Row]}, by introspection."""

import dataclasses
import importlib
import inspect
import pkgutil
import types

import keras

LEFT_OUT = {
    "src": "is not public",
    "backend": "has Keras 1's names of functions that keras.ops has",
    "legacy": "has names of Keras 2",
    "mixed_precision": "has names of Keras 2",
}
POLICIES = {  # class: arguments
    "DTypePolicy": ["float32"],
    "FloatDTypePolicy": ["float32"],
    "DTypePolicyMap": [],
    "QuantizedDTypePolicy": ["int8", "float32"],
    "QuantizedFloat8DTypePolicy": ["float8", "float32"],
    "Int4DTypePolicy": ["int4/128", "float32"],
    "GPTQDTypePolicy": ["gptq/4/128", "float32"],
    "AWQDTypePolicy": ["awq/4/128", "float32"],
}


@dataclasses.dataclass
class Row:
    name: str  # after the namespace
    aliases: list
    is_class: bool = False


def public(holder):
    return {name: value for name, value in vars(holder).items() if not name.startswith("_")}


def walk(module, prefix="", apart=()):
    """Yields the path and the value of each public name, also in modules inside of this one."""
    for name, value in sorted(public(module).items()):
        if not isinstance(value, types.ModuleType):
            yield prefix + name, value
        elif value.__name__.startswith("keras") and name not in ("legacy", *apart):
            yield from walk(value, f"{prefix}{name}.")


def rows_of(module, apart=()):
    """One row for each object, under its own name or else the shortest one."""
    found = {}
    for path, value in walk(module, apart=apart):
        found.setdefault(id(value), (value, []))[1].append(path)
    rows = []
    for value, paths in found.values():
        own = getattr(value, "__name__", "")
        paths.sort(key=lambda path: (path.count("."), path.split(".")[-1] != own, path))
        aliases = {path for path in paths[1:] if path.split(".")[-1] != paths[0].split(".")[-1]}
        short = {path for path in aliases if path.count(".") == paths[0].count(".")}
        rows.append(Row(paths[0], sorted(short), inspect.isclass(value)))
    return sorted(rows, key=lambda row: (row.name.count("."), row.name))


def operation_classes():
    """The classes of operations in graphs: configs name these, not the functions."""
    import keras.src.ops as ops

    classes = set()
    for module in pkgutil.iter_modules(ops.__path__):
        if module.name.endswith("_test"):
            continue
        loaded = importlib.import_module(f"keras.src.ops.{module.name}")
        classes |= {value.__name__ for value in vars(loaded).values()
                    if inspect.isclass(value) and value.__module__ == loaded.__name__
                    and issubclass(value, keras.Operation) and value is not keras.Operation}
    return [Row(name, [], True) for name in sorted(classes)]


def members(cls, *bases):
    known = set().union(*map(dir, bases))
    return [Row(name, []) for name in sorted(dir(cls)) if not name.startswith("_") and name not in known]


def of_keras2(rows):
    """The classes of Keras 2 whose names nothing in Keras 3 has."""
    import tf_keras

    known = {name.split(".")[-1] for row in rows for name in (row.name, *row.aliases)}
    for space in ("layers", "losses", "metrics", "optimizers", "callbacks", "initializers",
                  "regularizers", "constraints", "activations", "utils", "models", "experimental"):
        for name, value in sorted(walk_keras2(getattr(tf_keras, space)), key=lambda item: item[0]):
            if inspect.isclass(value) and name not in known and not name.islower():
                known.add(name)
                yield Row(f"{space}.{name}", [], True)


def walk_keras2(module):
    for name, value in public(module).items():
        if isinstance(value, types.ModuleType) and "tf_keras" in value.__name__:
            yield from walk_keras2(value)
        elif not isinstance(value, types.ModuleType):
            yield name, value


def all_namespaces():
    tables = {"keras": [row for row in rows_of(types.SimpleNamespace(**{
        name: value for name, value in public(keras).items()
        if not isinstance(value, types.ModuleType)}))]}
    for name, module in sorted(public(keras).items()):
        if isinstance(module, types.ModuleType) and name not in LEFT_OUT:
            tables[f"keras.{name}"] = rows_of(module, apart=("schedules",))
    tables["keras.optimizers.schedules"] = rows_of(keras.optimizers.schedules)
    tables["Operations in graphs"] = operation_classes()
    tables["Layer"] = members(keras.Layer)
    tables["Model"] = members(keras.Model, keras.Layer)
    tables["Sequential"] = members(keras.Sequential, keras.Model)
    tables["Callback"] = members(keras.callbacks.Callback)
    tables["Metric"] = members(keras.metrics.Metric)
    tables["Optimizer"] = members(keras.optimizers.Optimizer)
    tables["Keras 2"] = list(of_keras2([row for rows in tables.values() for row in rows]))
    return tables


def policies():
    """Keras's envelopes of dtype policies; a class without arguments in POLICIES has none."""
    from keras import dtype_policies

    return [dtype_policies.serialize(getattr(dtype_policies, name)(*arguments)) | {"class_name": name}
            for name, arguments in POLICIES.items() if hasattr(dtype_policies, name)]
