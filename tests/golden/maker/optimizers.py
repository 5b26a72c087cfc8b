"""Records optimizers and learning rate schedules: 20 steps from fixed weights by fixed gradients.

Only on JAX, where a step is a function of all state, as it is in Keratin.
"""

import copy

import keras
import numpy as np
from keras import optimizers
from keras.optimizers import schedules
from keras.src import backend

from maker import encode
from maker.cases_optimizers import CASES, ERRORS, SCHEDULES

STEPS = 20
RECORDED = (1, 2, 7, 20)  # the steps after which weights are written down
VARIABLES = {  # every rank, matrices both wide and tall, and one that Muon takes for an embedding
    "net/gain": (),
    "dense/bias": (3,),
    "dense/kernel": (3, 4),
    "wide/kernel": (4, 2),
    "embedding/embeddings": (5, 2),
    "attention/kernel": (2, 2, 3),
    "conv/kernel": (2, 1, 2, 2),
}


def start(path):
    return encode.generator("optimizers", path).normal(0, 1, VARIABLES[path]).astype("float32")


def gradients(path):
    """One for each step. Rows of an embedding that are not looked up have none."""
    draw = encode.generator("optimizers", path, "gradients")
    values = draw.normal(0.3, 1, (STEPS, *VARIABLES[path])).astype("float32")
    if "embedding" in path:
        values *= draw.integers(0, 2, (STEPS, 5, 1))
    return values


def make_variables(case):
    made = []
    for path in VARIABLES:
        folder, name = path.split("/")
        with backend.name_scope(folder):
            made.append(keras.Variable(start(path), dtype=case.get("dtype", "float32"), name=name))
    if "constraint" in case:
        made[2].constraint = keras.constraints.get(case["constraint"])
    return made


def gradients_of(case, step, scale):
    """Those of one step, as the scaled loss gives them."""
    values = []
    for index, path in enumerate(VARIABLES):
        value = gradients(path)[step - 1].astype("float32")
        if step in case.get("not_finite", ()) and index == 1:
            value = value + np.float32("inf")
        dtype = case.get("dtype", "float32")
        value = keras.ops.cast(keras.ops.convert_to_tensor(value), dtype)
        missing = index in case.get("missing", ())
        values.append(None if missing else keras.ops.cast(value * scale, dtype))
    return values


def named(variables, values):
    return [{"path": v.path, "name": v.name, **encode.tensor(x)} for v, x in zip(variables, values)]


def run(optimizer, case):
    """The weights after some steps, and all state after the last one."""
    variables = make_variables(case)
    if "exclude" in case:
        optimizer.exclude_from_weight_decay(var_names=case["exclude"])
    optimizer.build(variables)
    weights, rates = {}, []
    for step in range(1, STEPS + 1):
        if str(step) in case.get("set_rates", {}):
            optimizer.learning_rate = case["set_rates"][str(step)]
        if not isinstance(optimizer, optimizers.MultiOptimizer):
            rates.append(float(optimizer.learning_rate))
        scale = optimizer.scale_loss(keras.ops.ones(()))
        trained, state = optimizer.stateless_apply(
            [v.value for v in optimizer.variables],
            gradients_of(case, step, scale),
            [v.value for v in variables],
        )
        for v, x in zip([*variables, *optimizer.variables], [*trained, *state]):
            v.assign(x)
        if step in RECORDED:
            weights[str(step)] = [encode.tensor(x) for x in trained]
    state = named(optimizer.variables, [v.value for v in optimizer.variables])
    result = {"weights": weights, "rates": rates, "variables": state}
    result["iterations"] = int(optimizer.iterations)
    if case.get("finalize"):
        optimizer.finalize_variable_values(variables)
        result["finalized"] = [encode.tensor(v.value) for v in variables]
    return result


def make(kind, arguments):
    """An optimizer from JSON: a dict with a class in it is another object of Keras."""
    def built(x):
        if not isinstance(x, dict):
            return x
        if "class" not in x:
            return {key: built(value) for key, value in x.items()}
        rest = {key: built(value) for key, value in x.items() if key != "class"}
        found = getattr(schedules, x["class"], None) or getattr(optimizers, x["class"])
        return found(**rest)

    return getattr(optimizers, kind)(**built(arguments))


def record(kind, name, arguments, case):
    keras.backend.clear_session()
    optimizer = make(kind, copy.deepcopy(arguments))
    config = encode.config(optimizers.serialize(optimizer))
    return {"name": name, **case, "config": config, **run(optimizer, case)}


def all_schedules():
    for name, kind, arguments, last in SCHEDULES:
        schedule = getattr(schedules, kind)(**arguments)
        steps = np.unique(np.linspace(0, last, 101).astype("int32"))
        rates = [float(schedule(keras.ops.convert_to_tensor(s))) for s in steps]
        yield {
            "name": name,
            "config": encode.config(schedules.serialize(schedule)),
            "steps": encode.tensor(steps),
            "rates": encode.tensor(np.array(rates, "float32")),
        }


def all_errors():
    for kind, arguments in ERRORS:
        keras.backend.clear_session()
        message = None
        try:
            getattr(optimizers if hasattr(optimizers, kind) else schedules, kind)(**arguments)
        except ValueError as error:
            message = str(error)
        yield {"class_name": kind, "config": arguments, "message": message}


def write(folder, only):
    if "optimizers" not in only:
        return
    folder = folder / "optimizers"
    steps = {
        "variables": [{"path": p, **encode.tensor(start(p))} for p in VARIABLES],
        "gradients": [encode.tensor(gradients(p)) for p in VARIABLES],
    }
    encode.write(folder / "steps.json", steps)
    for kind, cases in CASES.items():
        encode.write(folder / f"{kind}.json", [record(kind, *case) for case in cases])
    encode.write(folder / "schedules.json", list(all_schedules()))
    encode.write(folder / "errors.json", list(all_errors()))
