"""The models, each a function of a Keras module: `keras` itself or `tf_keras`.

A function returns the inputs and outputs of a functional model, or a finished model.
"""

import dataclasses

from maker import custom
from maker.spec import F, Given, I, function

ZOO = {}


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    build: object
    data: object  # what to call the model with
    lambdas: dict  # layer name: names of its functions
    keras2: bool  # can be written with tf_keras


def model(data, lambdas=None, keras2=True):
    def add(build):
        name = build.__name__
        ZOO[name] = Entry(name, build, data, lambdas or {}, keras2)
        return build

    return add


PADDED = Given(  # 3 rows of 5 steps of 2 features; zeros are padding
    [
        [[1, 0.5], [0.3, -1], [0.7, 0.2], [0, 0], [0, 0]],
        [[0.4, 0.6], [0, 0], [-0.2, 0.9], [0.1, -0.3], [0, 0]],
        [[-1, 1], [0.5, 0.5], [0.25, -0.75], [1, 2], [-0.6, 0.1]],
    ]
)
WORDS = Given([[3, 1, 4, 0, 0], [1, 5, 0, 2, 0], [6, 5, 3, 5, 2]], "int32")
OTHER_WORDS = Given([[2, 0, 0, 1, 0], [0, 6, 2, 2, 2], [1, 0, 3, 0, 2]], "int32")


def words(k, name="words"):
    return k.Input((5,), dtype="int32", name=name)


def embedding(k, name="embedding", dim=3):
    return k.layers.Embedding(7, dim, mask_zero=True, name=name)


def named(k, layer_name, fn, mask=None, **args):
    """A Lambda that is known by its layer's name."""
    given = {"mask": function(mask)} if mask else {}
    return k.layers.Lambda(function(fn), name=layer_name, **given, **args)


# --- The plain ones, and the models of the original bug


@model(F(3, 4))
def dense_chain(k):
    x = k.Input((4,), name="x")
    y = k.layers.Dense(3, activation="relu", name="hidden")(x)
    return x, k.layers.Dense(2, name="out")(y)


@model(F(3, 4))
def automatic_names(k):
    x = k.Input((4,))
    y = k.layers.Dense(3)(x)
    return x, k.layers.Dense(2)(k.layers.Dense(3)(y))


@model(F(3, 1), {"split": {"function": "twice"}})
def issue(k):
    x = k.Input((1,), name="x")
    a, b = named(k, "split", "twice")(x)
    return x, k.layers.Add(name="add")([a, b])


@model(F(3, 4), {"split": {"function": "plus_one_and_same"}})
def upstream_swap(k):
    x = k.Input((4,), name="x")
    a, b = named(k, "split", "plus_one_and_same")(x)
    a, b = custom.layers(k).Swap(name="swap")([a, b])
    return [x], [a, b]


@model([F(3, 2), F(3, 2)], {"both": {"function": "sum_and_product"}})
def two_in_two_out(k):
    x, y = k.Input((2,), name="x"), k.Input((2,), name="y")
    a, b = named(k, "both", "sum_and_product")([x, y])
    return [x, y], [k.layers.Dense(3, name="of_sum")(a), k.layers.Dense(2, name="of_product")(b)]


@model(F(3, 4), {"split": {"function": "plus_one_and_same"}})
def first_output_only(k):
    x = k.Input((4,), name="x")
    a, _ = named(k, "split", "plus_one_and_same")(x)
    return x, k.layers.Dense(2, name="out")(a)


@model(F(3, 4), {"scale": {"function": "scale"}})
def lambda_arguments(k):
    x = k.Input((4,), name="x")
    y = named(k, "scale", "scale", arguments={"by": 2.5})(x)
    return x, k.layers.Dense(2, name="out")(y)


# --- Masks


@model(F(3, 5, 2))
def fork(k):
    x = k.Input((5, 2), name="x")
    a, b = custom.layers(k).Fork(name="fork")(x)
    return x, [k.layers.LSTM(3, name="left")(a), k.layers.LSTM(3, name="right")(b)]


@model(PADDED)
def fork_masked(k):
    x = k.Input((5, 2), name="x")
    a, b = custom.layers(k).Fork(name="fork")(k.layers.Masking(name="masking")(x))
    return x, [k.layers.LSTM(3, name="left")(a), k.layers.LSTM(3, name="right")(b)]


@model(PADDED)
def fork_own_masks(k):
    x = k.Input((5, 2), name="x")
    a, b = custom.layers(k).ForkMasks(name="fork")(k.layers.Masking(name="masking")(x))
    return x, [a, b, k.layers.GRU(3, name="left")(a), k.layers.GRU(3, name="right")(b)]


@model(PADDED, {"split": {"function": "plus_and_minus"}})
def lambda_two_outputs_masked(k):
    x = k.Input((5, 2), name="x")
    a, b = named(k, "split", "plus_and_minus")(k.layers.Masking(name="masking")(x))
    return x, [k.layers.LSTM(3, name="left")(a), k.layers.LSTM(3, name="right")(b)]


@model(PADDED, {"split": {"function": "plus_one_and_same"}})
def lambda_returns_its_input_masked(k):
    """The second output is the input itself, with the mask that is attached to it."""
    x = k.Input((5, 2), name="x")
    a, b = named(k, "split", "plus_one_and_same")(k.layers.Masking(name="masking")(x))
    return x, [k.layers.LSTM(3, name="left")(a), k.layers.LSTM(3, name="right")(b)]


@model(WORDS)
def nested_mask_emitter(k):
    ids = words(k, "inner_words")
    inner = k.Model(ids, embedding(k)(ids), name="inner")
    x = words(k)
    return x, k.layers.LSTM(4, name="lstm")(inner(x))


@model(WORDS)
def nested_mask_passer(k):
    x = k.Input((5, 3), name="inner_x")
    inner = k.Model(x, k.layers.Dense(3, name="inner_dense")(x), name="inner")
    ids = words(k)
    return ids, k.layers.LSTM(4, name="lstm")(inner(embedding(k)(ids)))


@model(WORDS)
def nested_mask_consumer(k):
    x = k.Input((5, 3), name="inner_x")
    inner = k.Model(x, k.layers.LSTM(4, name="inner_lstm")(x), name="inner")
    ids = words(k)
    return ids, k.layers.Dense(2, name="out")(inner(embedding(k)(ids)))


@model(F(3, 5, 2))
def mask_maker(k):
    x = k.Input((5, 2), name="x")
    y = custom.layers(k).MaskMaker(name="maker")(x)
    return x, k.layers.LSTM(3, name="lstm")(y)


@model(PADDED, {"square": {"function": "square", "mask": "mask_as_it_is"}})
def lambda_mask(k):
    x = k.Input((5, 2), name="x")
    y = named(k, "square", "square", mask="mask_as_it_is")(k.layers.Masking(name="masking")(x))
    return x, k.layers.LSTM(3, name="lstm")(y)


@model(PADDED, {"square": {"function": "square", "mask": "mask_reversed"}}, keras2=False)
def lambda_mask_changed(k):
    x = k.Input((5, 2), name="x")
    y = named(k, "square", "square", mask="mask_reversed")(k.layers.Masking(name="masking")(x))
    return x, k.layers.LSTM(3, name="lstm")(y)


@model(PADDED, {"square": {"function": "square"}})
def lambda_loses_mask(k):
    x = k.Input((5, 2), name="x")
    y = named(k, "square", "square")(k.layers.Masking(name="masking")(x))
    return x, k.layers.LSTM(3, name="lstm")(y)


@model([WORDS, OTHER_WORDS])
def initial_state_masked(k):
    """An encoder gives its state to a decoder; both are masked."""
    source, target = words(k, "source"), words(k, "target")
    encoder = k.layers.LSTM(4, return_state=True, name="encoder")
    _, h, c = encoder(embedding(k, "source_embedding")(source))
    decoder = k.layers.LSTM(4, return_sequences=True, name="decoder")
    y = decoder(embedding(k, "target_embedding")(target), initial_state=[h, c])
    return [source, target], k.layers.Dense(2, name="out")(y)


@model(PADDED)
def return_state(k):
    x = k.Input((5, 2), name="x")
    y = k.layers.Masking(name="masking")(x)
    y, h, c = k.layers.LSTM(3, return_sequences=True, return_state=True, name="lstm")(y)
    z, s = k.layers.GRU(3, return_state=True, name="gru")(y, initial_state=c)
    return x, [y, h, z, s]


@model(PADDED)
def time_distributed(k):
    x = k.Input((5, 2), name="x")
    y = k.layers.Masking(name="masking")(x)
    return x, k.layers.TimeDistributed(k.layers.Dense(3, name="dense"), name="each")(y)


@model([WORDS, OTHER_WORDS])
def concatenate_masks(k):
    a, b = words(k, "a"), words(k, "b")
    x, y = embedding(k, "of_a")(a), embedding(k, "of_b")(b)
    features = k.layers.Concatenate(name="features")([x, y])
    time = k.layers.Concatenate(axis=1, name="time")([x, y])
    return [a, b], [k.layers.GRU(3, name="wide")(features), k.layers.GRU(3, name="long")(time)]


@model([WORDS, OTHER_WORDS])
def merge_masks(k):
    a, b = words(k, "a"), words(k, "b")
    x, y = embedding(k, "of_a")(a), embedding(k, "of_b")(b)
    merged = [getattr(k.layers, cls)(name=cls.lower())([x, y])
              for cls in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")]
    return [a, b], [k.layers.GRU(2, name=f"gru_{i}")(z) for i, z in enumerate(merged)]


@model([WORDS, F(3, 5, 3)])
def merge_with_unmasked(k):
    a, y = words(k, "a"), k.Input((5, 3), name="y")
    z = k.layers.Add(name="add")([embedding(k)(a), y])
    return [a, y], [z, k.layers.GRU(2, name="gru")(z)]


@model(WORDS)
def masked_outputs(k):
    """The outputs carry masks: a loss would see them."""
    ids = words(k)
    x = embedding(k)(ids)
    y = k.layers.Bidirectional(k.layers.GRU(2, return_sequences=True), name="both_ways")(x)
    return ids, [x, y, k.layers.Dense(2, name="dense")(y),
                 k.layers.GlobalAveragePooling1D(name="mean")(y)]


@model(WORDS)
def mask_none(k):
    """An explicit mask=None: Keras 2 takes it for an answer, Keras 3 fills it in."""
    ids = words(k)
    return ids, k.layers.LSTM(3, name="lstm")(embedding(k)(ids), mask=None)


@model([WORDS, Given([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1]], "bool")])
def mask_given(k):
    """An explicit mask wins over the attached one."""
    ids, mask = words(k), k.Input((5,), dtype="bool", name="mask")
    return [ids, mask], k.layers.LSTM(3, name="lstm")(embedding(k)(ids), mask=mask)


@model(PADDED)
def mask_destroyed(k):
    """Conv1D does not know masks."""
    x = k.Input((5, 2), name="x")
    y = k.layers.Masking(name="masking")(x)
    y = k.layers.Conv1D(3, 2, padding="same", name="conv")(y)
    return x, k.layers.LSTM(3, name="lstm")(y)


@model(PADDED)
def masked_normalization(k):
    x = k.Input((5, 2), name="x")
    y = k.layers.Masking(name="masking")(x)
    y = k.layers.BatchNormalization(name="batch")(y)
    y = k.layers.LayerNormalization(name="layer")(y)
    y = k.layers.Dropout(0.5, name="dropout")(k.layers.Activation("tanh", name="tanh")(y))
    return x, k.layers.GRU(3, name="gru")(y)


@model(PADDED)
def masked_shared_layer(k):
    """One LSTM sees a masked and an unmasked sequence."""
    x = k.Input((5, 2), name="x")
    lstm = k.layers.LSTM(3, name="lstm")
    return x, [lstm(k.layers.Masking(name="masking")(x)), lstm(x)]


# --- Sharing and nesting


@model([F(3, 4), F(3, 4)])
def shared_layers(k):
    a, b = k.Input((4,), name="a"), k.Input((4,), name="b")
    shared = k.layers.Dense(4, name="dense_1")
    x = k.layers.Dropout(0.5, name="dropout")(shared(a))
    x = k.layers.BatchNormalization(name="normalization")(x)
    x = k.layers.Dense(4, name="dense_2")(x)
    return [a, b], k.layers.Add(name="add")([x, shared(b)])


@model(F(3, 3))
def shared_in_a_chain(k):
    x = k.Input((3,), name="x")
    shared = k.layers.Dense(3, activation="tanh", name="shared")
    y = shared(shared(k.layers.Dense(3, name="first")(x)))
    return x, k.layers.Dense(2, name="last")(y)


def two_dense(k, name):
    x = k.Input((3,), name=f"{name}_x")
    y = k.layers.Dense(4, activation="relu", name=f"{name}_hidden")(x)
    return k.Model(x, k.layers.Dense(3, name=f"{name}_out")(y), name=name)


@model(F(3, 3))
def nested(k):
    inner = two_dense(k, "inner")
    x = k.Input((3,), name="x")
    y = k.layers.Dense(3, name="between")(inner(x))
    return x, [inner(y), y]


@model(F(3, 3))
def nested_deep(k):
    x = k.Input((3,), name="middle_x")
    middle = k.Model(x, two_dense(k, "inner")(x), name="middle")
    stack = k.Sequential([k.Input((3,)), middle, k.layers.Dense(2, name="last")], name="stack")
    x = k.Input((3,), name="x")
    return x, stack(k.layers.Dense(3, name="first")(x))


@model([F(3, 2), F(3, 3)])
def nested_multi(k):
    a, b = k.Input((2,), name="inner_a"), k.Input((3,), name="inner_b")
    both = k.layers.Concatenate(name="inner_both")([a, b])
    outs = [k.layers.Dense(2, name="inner_p")(both), k.layers.Dense(3, name="inner_q")(both)]
    inner = k.Model([a, b], outs, name="inner")
    x, y = k.Input((2,), name="x"), k.Input((3,), name="y")
    p, q = inner([x, y])
    r, s = inner([p, q])
    return [x, y], [s, k.layers.Dense(2, name="out")(r), p]


@model(F(3, 3))
def output_is_nested(k):
    x = k.Input((3,), name="x")
    return x, two_dense(k, "inner")(x)


@model([F(3, 3), F(3, 3)])
def siamese(k):
    inner = two_dense(k, "inner")
    x, y = k.Input((3,), name="x"), k.Input((3,), name="y")
    return [x, y], k.layers.Subtract(name="difference")([inner(x), inner(y)])


# --- Inputs and outputs


@model(I(3, 4, below=6))
def int_inputs(k):
    x = k.Input((4,), dtype="int32", name="ids")
    y = k.layers.Flatten(name="flat")(k.layers.Embedding(6, 2, name="embedding")(x))
    return x, k.layers.Dense(2, name="out")(y)


@model(F(3, 3))
def duplicate_outputs(k):
    x = k.Input((3,), name="x")
    y = k.layers.Dense(2, name="dense")(x)
    return x, [y, y]


@model(F(3, 3))
def input_is_output(k):
    x = k.Input((3,), name="x")
    return x, [x, k.layers.Dense(2, name="dense")(x)]


@model({"b": F(3, 2), "a": F(3, 3)})
def dict_io(k):
    inputs = {"b": k.Input((2,), name="b"), "a": k.Input((3,), name="a")}
    y = k.layers.Concatenate(name="both")([inputs["b"], inputs["a"]])
    outs = {"z": k.layers.Dense(2, name="z")(y), "c": k.layers.Dense(3, name="c")(y)}
    return inputs, outs


@model({"x": [F(3, 2), F(3, 3)], "y": F(3, 4)}, keras2=False)
def structured_io(k):
    inputs = {"x": [k.Input((2,), name="x0"), k.Input((3,), name="x1")],
              "y": k.Input((4,), name="y0")}
    a = k.layers.Concatenate(name="both")(inputs["x"])
    b = k.layers.Dense(3, name="dense")(inputs["y"])
    return inputs, [a, {"b": b, "a": [k.layers.Dense(2, name="other")(a)]}]


@model([F(3, 2)])
def one_in_a_list(k):
    x = k.Input((2,), name="x")
    return [x], [k.layers.Dense(3, name="dense")(x)]


@model([F(3, 2), F(3, 2)], keras2=False)
def same_input_twice(k):
    x = k.Input((2,), name="x")
    return [x, x], k.layers.Dense(3, name="dense")(x)


@model([F(3, 2), F(3, 3)], keras2=False)
def unused_input(k):
    x, y = k.Input((2,), name="x"), k.Input((3,), name="unused")
    return [x, y], k.layers.Dense(3, name="dense")(x)


@model([F(3, 2), F(3, 2)], keras2=False)
def optional_given(k):
    x, y = k.Input((2,), name="x"), k.Input((2,), name="maybe", optional=True)
    return [x, y], k.layers.Dense(3, name="dense")(custom.layers(k).AddIfThere(name="add")(x, y))


@model([F(3, 2), None], keras2=False)
def optional_missing(k):
    return optional_given(k)


@model([F(3, 2), F(3, 2), F(3, 2), F(3, 2)])
def depth_ties(k):
    """Four inputs at the same depth, used in another order than they are declared."""
    a, b, c, d = (k.Input((2,), name=name) for name in "abcd")
    left = k.layers.Concatenate(name="left")([d, b])
    right = k.layers.Concatenate(name="right")([c, a])
    late = k.layers.Dense(2, name="late")(a)
    y = k.layers.Add(name="add")([k.layers.Dense(2, name=f"of_{n}")(x)
                                  for n, x in (("right", right), ("left", left))])
    return [a, b, c, d], [y, k.layers.Multiply(name="product")([late, y])]


@model([F(3, 2), F(3, 2)])
def tensor_arguments(k):
    """A tensor among the keyword arguments."""
    x, y = k.Input((2,), name="x"), k.Input((2,), name="y")
    by = k.layers.Dense(2, name="by")(y)
    return [x, y], custom.layers(k).Scaled(name="scaled")(x, by=by, shift=0.5)


@model(F(2, 4), keras2=False)
def fixed_batch(k):
    x = k.Input(batch_shape=(2, 4), name="x")
    return x, k.layers.Dense(3, name="dense")(x)


# --- Operations as nodes


@model([F(3, 4), F(3, 4)], keras2=False)
def op_nodes(k):
    x, y = k.Input((4,), name="x"), k.Input((4,), name="y")
    z = k.layers.Dense(4, name="dense")(x + y)
    z = 2.0 * z - y / 3.0
    z = k.ops.concatenate([z, -x, k.ops.abs(y)], axis=-1)
    return [x, y], [z, z[:, 1:5:2], k.ops.mean(z, axis=1, keepdims=True)]


@model([F(3, 4), F(3, 4)])
def plain_operators(k):
    x, y = k.Input((4,), name="x"), k.Input((4,), name="y")
    z = k.layers.Dense(4, name="dense")(x + y)
    return [x, y], [z * x, z[:, :2] - 1.0]


@model(F(3, 4, 2), keras2=False)
def op_functions(k):
    o, x = k.ops, k.Input((4, 2), name="x")
    a, b = o.split(x, 2, axis=1)
    y = o.matmul(a, o.transpose(b, (0, 2, 1)))
    y = o.where(y > 0, y, o.exp(y))
    y = o.softmax(o.reshape(y, (-1, 4)), axis=-1)
    z = o.stack([o.sum(x, axis=(1, 2)), o.max(x, axis=(1, 2))], axis=1)
    return x, {"y": k.layers.Dense(2, name="out")(y), "z": o.expand_dims(z, -1), "a": x[..., 0]}


@model({"x": F(3, 2), "y": F(3, 2)}, keras2=False)
def upstream_structured(k):
    x, y = k.Input((2,), name="x"), k.Input((2,), name="y")
    z1 = x + y
    return dict(x=x, y=y), dict(z1=z1, z2=k.layers.Dense(5, name="dense")(z1))


# --- Parts of other models


@model(F(3, 4), keras2=False)
def submodel_from_middle(k):
    """Its input is an intermediate tensor of another graph."""
    x = k.Input((3,), name="x")
    middle = k.layers.Dense(4, name="first")(x)
    y = k.layers.Dense(2, name="second")(k.layers.Activation("relu", name="relu")(middle))
    return middle, y


@model(F(3, 3))
def submodel_to_middle(k):
    x = k.Input((3,), name="x")
    middle = k.layers.Dense(4, name="first")(x)
    whole = k.Model(x, k.layers.Dense(2, name="second")(middle))
    return whole.input, whole.get_layer("first").output


# --- Sequential


@model(F(3, 4))
def sequential(k):
    return k.Sequential(
        [k.Input((4,), name="x"), k.layers.Dense(3, activation="relu", name="hidden"),
         k.layers.Dense(2, name="out")], name="stack")


@model(F(3, 4))
def sequential_upstream(k):
    return k.Sequential(
        [k.Input((4,)), k.layers.Dense(4), k.layers.BatchNormalization(), k.layers.Dropout(0.5),
         k.layers.Dense(4)])


@model(F(3, 4))
def sequential_deferred(k):
    return k.Sequential([k.layers.Dense(3, activation="relu", name="hidden"),
                         k.layers.Dense(2, name="out")], name="deferred")


@model(PADDED)
def sequential_masked(k):
    return k.Sequential([k.Input((5, 2)), k.layers.Masking(name="masking"),
                         k.layers.LSTM(3, return_sequences=True, name="first"),
                         k.layers.LSTM(2, name="second")], name="stack")


@model(F(3, 4))
def sequential_nested(k):
    inner = k.Sequential([k.layers.Dense(3, name="a"), k.layers.Dense(3, name="b")], name="inner")
    return k.Sequential([k.Input((4,)), inner, k.layers.Dense(2, name="out")], name="outer")


# --- Whole networks


@model(PADDED)
def padded_lstm(k):
    x = k.Input((None, 2), name="x")
    y = k.layers.Masking(name="masking")(x)
    y = k.layers.LSTM(4, return_sequences=True, name="lower")(y)
    y = k.layers.LSTM(3, name="upper")(y)
    return x, k.layers.Dense(2, activation="softmax", name="out")(y)


@model(WORDS)
def attention_pooling(k):
    """Embedding, both ways, then a mean weighted by a masked softmax over time."""
    ids = k.Input((None,), dtype="int32", name="words")
    embed = embedding(k, dim=4)
    x = embed(ids)
    y = k.layers.Bidirectional(k.layers.LSTM(3, return_sequences=True), name="both_ways")(x)
    scores = k.layers.Dense(1, name="scores")(k.layers.Dense(4, activation="tanh", name="keys")(y))
    scores = k.layers.Permute((2, 1), name="over_time")(scores)
    mask = k.layers.Reshape((1, -1), name="row")(embed.compute_mask(ids))
    weights = k.layers.Softmax(name="weights")(scores, mask=mask)
    pooled = k.layers.Dot(axes=(2, 1), name="pooled")([weights, y])
    return ids, k.layers.Dense(2, name="out")(k.layers.Flatten(name="flat")(pooled))


@model(WORDS)
def attention_and_mean(k):
    ids = words(k)
    x = embedding(k, dim=4)(ids)
    y = k.layers.Bidirectional(k.layers.LSTM(3, return_sequences=True), name="both_ways")(x)
    y = k.layers.Attention(use_scale=True, name="attention")([y, y])
    y = k.layers.GlobalAveragePooling1D(name="mean")(y)
    return ids, k.layers.Dense(2, name="out")(y)


@model(WORDS)
def transformer_block(k):
    ids = words(k)
    x = embedding(k, dim=4)(ids)
    y = k.layers.MultiHeadAttention(2, 3, name="heads")(x, x, use_causal_mask=True)
    x = k.layers.LayerNormalization(name="norm")(k.layers.Add(name="skip")([x, y]))
    return ids, k.layers.GlobalAveragePooling1D(name="mean")(x)


@model(F(2, 6, 6, 2))
def residual_network(k):
    x = k.Input((6, 6, 2), name="x")
    y = k.layers.Conv2D(3, 3, padding="same", use_bias=False, name="conv_1")(x)
    y = k.layers.BatchNormalization(name="norm_1")(y)
    z = k.layers.ReLU(name="relu_1")(y)
    z = k.layers.Conv2D(3, 3, padding="same", name="conv_2")(z)
    y = k.layers.Add(name="skip")([y, z])
    y = k.layers.MaxPooling2D(name="pool")(y)
    y = k.layers.GlobalAveragePooling2D(name="mean")(y)
    return x, k.layers.Dense(2, activation="softmax", name="out")(y)


@model(F(3, 5, 2))
def recurrent_cells(k):
    x = k.Input((5, 2), name="x")
    rnn = k.layers.RNN([k.layers.LSTMCell(3, activation="relu")], return_sequences=True)
    y = k.layers.Bidirectional(rnn, name="both_ways")(x)
    return x, k.layers.Dense(2, activation="softmax", name="out")(y)


@model(F(3, 4))
def frozen_and_regularized(k):
    x = k.Input((4,), name="x")
    y = k.layers.Dense(3, trainable=False, name="frozen")(x)
    y = k.layers.BatchNormalization(name="norm")(y)
    y = k.layers.Dense(3, kernel_regularizer=k.regularizers.L2(0.1), name="penalized")(y)
    y = k.layers.ActivityRegularization(l1=0.2, name="activity")(y)
    return x, y


@model(F(3, 4))
def training_flag(k):
    """Normalisation told not to train, whatever the model does."""
    x = k.Input((4,), name="x")
    y = k.layers.BatchNormalization(name="norm")(x, training=False)
    return x, k.layers.Dense(2, name="out")(y)


@model(F(3, 4), keras2=False)
def mixed_precision(k):
    x = k.Input((4,), name="x")
    y = k.layers.Dense(3, activation="relu", dtype="mixed_bfloat16", name="hidden")(x)
    return x, k.layers.Dense(2, dtype="float32", name="out")(y)
