"""Random functional graphs: how Keras orders their layers, weights and nodes."""

import json
import random

import keras
from keras import layers, ops

from maker import encode
from maker.models import nodes_by_depth

COUNT, WIDTH, STEPS = 40, 4, 3


class Graph:
    """Grows a graph step by step. Every tensor has WIDTH features; sequences carry masks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.sequences = seed % 3 == 2
        shape = (STEPS, WIDTH) if self.sequences else (WIDTH,)
        self.shape = shape
        count = self.pick([1, 1, 2, 3, 4])
        self.inputs = [keras.Input(shape, name=f"in_{i}") for i in range(count)]
        self.tensors = list(self.inputs)
        self.shared = []  # layers to be called again
        self.count = 0

    def pick(self, choices):
        return self.random.choice(choices)

    def tensor(self):
        """Any tensor, recent ones more often."""
        return self.pick(self.tensors + self.tensors[-3:])

    def name(self, kind):
        self.count += 1
        return f"{kind}_{self.count}"

    def grow(self):
        steps = [self.dense, self.dense, self.again, self.merge, self.join, self.operator,
                 self.split, self.nest, self.nest_two, self.stack, self.slice]
        steps += [self.mask, self.recur, self.recur] if self.sequences else []
        made = self.pick(steps)()
        self.tensors += made if isinstance(made, list) else [made]

    def dense(self):
        layer = layers.Dense(WIDTH, name=self.name("dense"))
        self.shared.append(layer)
        return layer(self.tensor())

    def again(self):
        return self.pick(self.shared)(self.tensor()) if self.shared else self.dense()

    def merge(self):
        cls = self.pick([layers.Add, layers.Multiply, layers.Maximum])
        return cls(name=self.name("merge"))([self.tensor() for _ in range(self.pick([2, 3]))])

    def join(self):
        x = layers.Concatenate(name=self.name("join"))([self.tensor(), self.tensor()])
        return layers.Dense(WIDTH, name=self.name("dense"))(x)

    def operator(self):
        operate = self.pick([lambda x, y: x + y, lambda x, y: x * 2.0 - y])
        return operate(self.tensor(), self.tensor())

    def split(self):
        return ops.split(ops.concatenate([self.tensor(), self.tensor()], axis=-1), 2, axis=-1)

    def slice(self):
        return self.tensor()[..., ::-1]

    def mask(self):
        return layers.Masking(name=self.name("masking"))(self.tensor())

    def recur(self):
        return layers.GRU(WIDTH, return_sequences=True, name=self.name("gru"))(self.tensor())

    def nest(self):
        name = self.name("inner")
        x = keras.Input(self.shape, name=f"{name}_x")
        y = layers.Dense(WIDTH, name=f"{name}_dense")(x)
        inner = keras.Model(x, layers.Add(name=f"{name}_add")([x, y]), name=name)
        self.shared.append(inner)
        return inner(self.tensor())

    def nest_two(self):
        name = self.name("pair")
        a, b = (keras.Input(self.shape, name=f"{name}_{letter}") for letter in "ab")
        out = [layers.Dense(WIDTH, name=f"{name}_of_b")(b), a + b]
        return list(keras.Model([a, b], out, name=name)([self.tensor(), self.tensor()]))

    def stack(self):
        name = self.name("stack")
        parts = [layers.Dense(WIDTH, name=f"{name}_{i}") for i in range(2)]
        layer = keras.Sequential([keras.Input(self.shape), *parts], name=name)
        self.shared.append(layer)
        return layer(self.tensor())

    def model(self, name):
        made = self.tensors[len(self.inputs):]
        outputs = [made[-1]] + [self.pick(made) for _ in range(self.pick([0, 1, 2, 3]))]
        shapes = [outputs[0], outputs, {f"o{-i % 10}": x for i, x in enumerate(outputs)}]
        given = list(self.inputs)
        self.random.shuffle(given)
        return keras.Model(given, self.pick(shapes[bool(outputs[1:]):]), name=name)


def record(seed):
    keras.utils.clear_session()
    graph = Graph(seed)
    for _ in range(6 + seed // 3):
        graph.grow()
    model = graph.model(f"graph_{seed}")
    config = encode.config(json.loads(model.to_json()))
    reloaded = keras.models.model_from_json(json.dumps(config))
    names = [layer.name for layer in model.layers]
    entry = {
        "name": model.name,
        "config": config,
        "layers": names,
        "operations": [operation.name for operation in model.operations],
        "weights": [w.path for w in model.weights],
        "nodes_by_depth": nodes_by_depth(model),
    }
    again = [layer.name for layer in reloaded.layers]
    return entry | ({"layers_reloaded": again} if again != names else {})


def write(folder, only=None):
    if only is None or "topology" in only:
        encode.write(folder / "topology.json", [record(seed) for seed in range(COUNT)])
