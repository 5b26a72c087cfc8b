"""Models that show how layers are joined: sharing, nesting, structures, operations, Sequential."""

from maker import custom
from maker.spec import F, I
from maker.zoo import PADDED, model, named


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


@model(F(2, 3, 5, 4, 2))
def film(k):
    """Keras 2 has another default for the recurrent activation."""
    layer = lambda name, **args: k.layers.ConvLSTM2D(recurrent_activation="sigmoid", name=name,
                                                     **args)
    x = k.Input((3, 5, 4, 2), name="x")
    h, state, carry = layer("first", filters=2, kernel_size=3, padding="same",
                            return_sequences=True, return_state=True)(x)
    again = layer("again", filters=2, kernel_size=(1, 2), padding="same")(
        h, initial_state=[state, carry])
    half = layer("half", filters=3, kernel_size=2, strides=2)
    return x, [again, k.layers.Bidirectional(half, name="both")(h)]


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
