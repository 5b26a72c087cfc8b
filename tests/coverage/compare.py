"""Where each public name of Keras is in Keratin."""

import collections
import dataclasses
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The kinds of tests/coverage/known.cpp, and the namespaces that have them.
REGISTRIES = {
    "keras.layers": "layers", "keras.losses": "losses", "keras.metrics": "metrics",
    "keras.optimizers": "optimizers", "keras.optimizers.schedules": "schedules",
    "keras.initializers": "initializers", "keras.regularizers": "regularizers",
    "keras.constraints": "constraints", "keras.activations": "activations",
    "keras.dtype_policies": "dtype_policies", "Operations in graphs": "operations",
}
# Where the names of a namespace may be, in this order, beside `keratin::`.
SPACES = {
    "keras.activations": ["ops"], "keras.distribution": ["distribute"], "keras.ops": ["ops"],
    "keras.optimizers.schedules": ["schedules"],
}
# The base classes of parts: configs do not name them.
BASES = {"Layer", "Loss", "Metric", "Optimizer", "Initializer", "Regularizer", "Constraint",
         "LearningRateSchedule", "Input", "InputSpec", "OptimizerMap"}
# The classes whose members are those of a class of Keras.
MEMBERS = {
    "Layer": ["Layer", "LayerState"],
    "Model": ["Model", "ModelSteps", "Trainer", "ModelLayer"],
    "Sequential": ["Sequential", "Model"], "Callback": ["Callback"],
    "Metric": ["Metric", "MetricState"], "Optimizer": ["Optimizer", "OptimizerState"],
}


@dataclasses.dataclass
class Place:
    """Where a name of Keras is: a public name here with its headers, or why there is none."""
    name: str = ""
    headers: tuple = ()
    by_name: bool = False  # files or options may name it
    reason: str = ""  # it is not meant to be
    here = property(lambda self: bool(self.name or self.by_name))


def public_names():
    """The public names of Keratin, with the headers that declare them."""
    path = str(ROOT / "scripts/api")
    spec = importlib.util.spec_from_loader("api", importlib.machinery.SourceFileLoader("api", path))
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    index = collections.defaultdict(set)
    for header in api.public_headers(ROOT):
        for name, _ in api.Parser((ROOT / header).read_text("utf-8")).parse():
            index[name].add(header)
    return index


def ask(program, tables, policies):
    """Which names the registries know: {kind: {name}}."""
    asked = {REGISTRIES[space]: [name for row in rows for name in (row.name, *row.aliases)]
             for space, rows in tables.items() if space in REGISTRIES}
    asked["dtype_policies"] = policies
    asked["layers"] += [row.name.split(".")[-1] for row in tables["Keras 2"]]
    done = subprocess.run([program], input=json.dumps(asked), check=True, capture_output=True, text=True)
    return {kind: set(names) for kind, names in json.loads(done.stdout).items()}


class Keratin:
    def __init__(self, index, known, lists):
        self.index, self.known, self.lists = index, known, lists

    def find(self, space, row):
        """The Place of a row."""
        if reason := self.lists.NOT_MEANT.get(space, {}).get(row.name):
            return Place(reason=reason)
        for name in (row.name, *row.aliases):
            place = self.find_name(space, name, row.is_class)
            if place.here:
                return place
        return Place()

    def find_name(self, space, name, is_class):
        own = name.split(".")[-1]
        if space == "Keras 2":
            by_name = own in self.known["layers"]
            return self.declared([own] if by_name else [], by_name)
        if space in MEMBERS:
            return self.declared([f"{cls}::{own}" for cls in MEMBERS[space]], False,
                                 self.renamed(space, name))
        by_name = own in self.known.get(REGISTRIES.get(space), ())
        if space == "Operations in graphs":
            return Place(by_name=by_name)
        if is_class and space in REGISTRIES and own not in BASES and not by_name:
            return Place()  # files can name every class of these namespaces
        spaces = SPACES.get(space, [space.split(".")[-1]])
        candidates = [f"{inside}::{own}" for inside in spaces]
        if space != "keras.ops":
            candidates.append(own)
        return self.declared(candidates, by_name, self.renamed(space, name))

    def renamed(self, space, name):
        return self.lists.RENAMED.get(f"{space}.{name}")

    def declared(self, candidates, by_name, renamed=None):
        names = [f"keratin::{candidate}" for candidate in candidates] + [renamed]
        for name in names:
            if name in self.index:
                headers = tuple(sorted(self.index[name]))
                return Place(name.removeprefix("keratin::"), headers, by_name)
        return Place(by_name=by_name)


def complaints(places, lists, index):
    """Yields what the lists say wrongly or not at all. `places` is {namespace: [(row, Place)]}."""
    for space in lists.LISTED:
        known = lists.MISSING.get(space, set())
        names = {row.name for row, _ in places[space]}
        for row, place in places[space]:
            if not place.here and not place.reason and row.name not in known:
                yield (f"{space}.{row.name} is new in Keras: expected a class here, or the name in "
                       "MISSING or NOT_MEANT of tests/coverage/lists.py")
            if place.here and row.name in known:
                yield f"{space}.{row.name} is in MISSING of tests/coverage/lists.py, but it is here"
        for name in sorted(known - names):
            yield f"{space}.{name} is in MISSING of tests/coverage/lists.py, but not in Keras"
    for space, reasons in lists.NOT_MEANT.items():
        names = {row.name for row, _ in places[space]}
        for name in sorted(set(reasons) - names):
            yield f"{space}.{name} is in NOT_MEANT of tests/coverage/lists.py, but not in Keras"
    for theirs, ours in lists.RENAMED.items():
        if ours not in index:
            yield f"{theirs} is {ours} in tests/coverage/lists.py, which no public header declares"
