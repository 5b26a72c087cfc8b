"""Records operations: what a function of keras.ops (in Keras 2, of TensorFlow) puts into a graph,
and its numbers.

A case is one expression over the inputs below; the rows of data are the batch.
"""

import json
import re

import keras
import numpy as np

from maker import encode

INPUTS = {  # name: shape without the batch, dtype, random data
    "x": ((3, 4), "float32", lambda r, s: r.normal(0, 1.5, s)),
    "y": ((3, 4), "float32", lambda r, s: r.normal(0, 1.5, s)),
    "p": ((3, 4), "float32", lambda r, s: r.uniform(0.05, 0.95, s)),
    "q": ((3, 4), "float32", lambda r, s: r.uniform(1.1, 4, s)),
    "n": ((3, 4), "int32", lambda r, s: r.integers(-9, 10, s)),
    "i": ((3, 4), "int32", lambda r, s: r.integers(0, 3, s)),
    "b": ((3, 4), "bool", lambda r, s: r.integers(0, 2, s)),
    "m": ((4, 4), "float32", lambda r, s: r.normal(0, 1, s)),
    "w": ((4,), "float32", lambda r, s: r.normal(0, 1, s)),
    "u": ((), "float32", lambda r, s: r.normal(0, 1, s)),
    "v": ((), "float32", lambda r, s: r.normal(0, 1, s)),
    "o": ((3, 4), "float32", lambda r, s: r.choice([0.0, -1.5, 2.0, float("nan")], s)),
    "e": ((3, 4), "float32", lambda r, s: r.choice([0.5, float("inf"), float("-inf"), float("nan")], s)),
    # Small inputs, for options and dtypes.
    "t": ((3,), "float32", lambda r, s: r.normal(0, 1.5, s)),
    "k": ((3,), "int32", lambda r, s: r.integers(-9, 10, s)),
    "g": ((3,), "bool", lambda r, s: r.integers(0, 2, s)),
    "h": ((3,), "float16", lambda r, s: r.uniform(30000, 60000, s)),
    "f": ((3,), "float16", lambda r, s: r.normal(0, 100, s)),
    "c": ((3,), "int8", lambda r, s: r.integers(-100, 100, s)),
    "l": ((3,), "int64", lambda r, s: r.integers(-9, 10, s)),
    "z": ((3,), "float32", lambda r, s: r.choice([0.0, -0.0], s)),
}
ROWS = 2

UNARY = {  # by the input in whose range they are defined
    "x": "absolute arcsinh arctan cbrt ceil celu cos cosh deg2rad elu erf erfc exp exp2 expm1 "
         "fabs floor gelu hard_shrink hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid "
         "log_softmax negative rad2deg ravel real relu relu6 round selu sigmoid sign silu sin sinc "
         "sinh soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid square squareplus "
         "stop_gradient tan tanh tanh_shrink trunc conjugate copy fliplr flipud zeros_like "
         "ones_like isreal signbit",
    "p": "arccos arcsin arctanh erfinv glu reciprocal",
    "q": "arccosh log log10 log1p log2 rsqrt sqrt",
    "n": "abs bitwise_invert bitwise_not exp negative sign square relu",
    "b": "logical_not sum",
    "e": "isfinite isinf isnan isneginf isposinf nan_to_num",
}
BINARY = {
    "xy": "add subtract multiply divide true_divide maximum minimum arctan2 equal not_equal less "
          "less_equal greater greater_equal heaviside hypot logaddexp logaddexp2 fmax fmin vdot",
    "xq": "floor_divide mod fmod divide_no_nan",
    "qx": "power",
    "ni": "add subtract multiply divide maximum left_shift right_shift "
          "bitwise_left_shift bitwise_right_shift bitwise_and bitwise_or bitwise_xor",
    "bn": "logical_and logical_or logical_xor add",
    "xn": "add multiply",
    "ie": "divide_no_nan",
    "oy": "fmax fmin",
}
REDUCE = {
    "x": "amax amin max min mean prod std sum var logsumexp ptp argmax argmin count_nonzero",
    "n": "sum mean max prod any all count_nonzero",
    "b": "any all",
    "o": "nanmax nanmin nanmean nanprod nansum nanstd nanvar",
}
OTHER = [
    "ops.append(x, y)", "ops.append(x, y, axis=1)", "ops.array(n, dtype='float32')",
    "ops.average(x)", "ops.average(x, axis=1)", "ops.average(x, axis=1, weights=p)",
    "ops.argsort(x)", "ops.argsort(x, axis=1)", "ops.sort(x)", "ops.sort(x, axis=1)",
    "ops.array_split(x, 2, axis=2)", "ops.array_split(x, 2, axis=1)",
    "ops.batch_normalization(x, w[0], q[0, 0], axis=-1)",
    "ops.broadcast_to(w, (3, 2, 4))", "ops.cast(x, 'int32')", "ops.saturate_cast(q, 'int32')",
    "ops.clip(x, -0.5, 1)", "ops.clip(n, -2, 2)",
    "ops.concatenate([x, y], axis=1)", "ops.concatenate([x, n], axis=-1)",
    "ops.convert_to_tensor(n, 'float32')",
    "ops.count_nonzero(i, axis=(1, 2))",
    "ops.cumprod(x, axis=1)", "ops.cumsum(x)", "ops.cumsum(x, axis=-1)", "ops.cumsum(n, axis=1)",
    "ops.nancumsum(o, axis=1)", "ops.nancumprod(o, axis=-1)",
    "ops.diagonal(m, axis1=1, axis2=2)", "ops.diagonal(x, offset=1, axis1=1, axis2=2)",
    "ops.diagonal(x, offset=-1, axis1=2, axis2=1)",
    "ops.trace(m, axis1=1, axis2=2)", "ops.trace(x, offset=1, axis1=1, axis2=-1)",
    "ops.diff(x)", "ops.diff(x, n=2, axis=1)", "ops.digitize(x, np.array([-1.0, 0.0, 1.5], 'float32'))",
    "ops.searchsorted(ops.cumsum(q[0, 0]), 3.0 * q[:, 0, 0])", "ops.searchsorted(w[0] * 0, i[0, 0] * 1.0 - 1, side='right')",
    "ops.dot(w, m)", "ops.dot(x, w[0])", "ops.inner(x, w)",
    "ops.einsum('bij,bkj->bik', x, y)", "ops.empty_like(x)",
    "ops.expand_dims(x, 1)", "ops.expand_dims(x, (0, -1))", "ops.flip(x)", "ops.flip(x, axis=1)",
    "ops.full_like(x, 2.5)", "ops.full_like(n, 3)",
    "x[:, 0]", "x[:, 1:3, ::2]", "x[..., None]", "x[:, -1]", "x[:, ::-1]", "x[0]", "x[:, None, 2]",
    "ops.hstack([x, y])", "ops.vstack([x, y])", "ops.dstack([x, y])",
    "ops.hsplit(x, 3)", "ops.vsplit(x, [1])", "ops.dsplit(x, 2)", "ops.dsplit(x, [1, 3])",
    "ops.in_top_k(i[:, 0, 0], w, 2)",
    "ops.isclose(x, y)", "ops.isclose(o, o, equal_nan=True)", "ops.isclose(x, y, rtol=1.0, atol=0.5)",
    "ops.isin(n, [1, 2, 3])", "ops.isin(n, [1, 2], invert=True)",
    "ops.layer_normalization(x, epsilon=1e-3)", "ops.rms_normalization(x)",
    "ops.rms_normalization(x, scale=[1.0, 2.0, 3.0, 4.0], axis=-1, epsilon=0.1)",
    "ops.layer_normalization(x, gamma=[1.0, 2.0, 3.0, 4.0], beta=[0.0, 1.0, 0.0, 1.0], axis=-1)",
    "ops.ldexp(x, i)", "ops.matmul(x, m)", "ops.matmul(m, w[0])",
    "ops.meshgrid(u, v)", "ops.meshgrid(u, v, indexing='ij')",
    "ops.moments(x, axes=[1])", "ops.moments(x, axes=[0, 2], keepdims=True)",
    "ops.moveaxis(x, 1, -1)", "ops.moveaxis(x, (0, 1), (2, 0))", "ops.swapaxes(x, 1, 2)",
    "ops.multi_hot(i, 5)", "ops.nan_to_num(e, nan=1.0, posinf=2.0, neginf=-2.0)",
    "ops.norm(w)", "ops.norm(x, axis=1)", "ops.norm(x, ord=1, axis=-1, keepdims=True)",
    "ops.norm(x, ord=2, axis=1)", "ops.norm(x, ord=3, axis=1)", "ops.norm(x, ord='fro', axis=(1, 2))",
    "ops.norm(x, ord=float('inf'), axis=1)", "ops.norm(x, ord=1, axis=(1, 2))", "ops.norm(x, ord=0, axis=1)",
    "ops.normalize(x)", "ops.normalize(x, axis=1)", "ops.one_hot(i, 3)", "ops.one_hot(i, 3, axis=1)",
    "ops.outer(u, v)", "ops.outer(x, w)",
    "ops.pad(x, [[0, 0], [1, 2], [0, 1]])", "ops.pad(x, [[0, 0], [1, 2], [0, 1]], mode='reflect')",
    "ops.pad(x, [[0, 0], [1, 2], [0, 1]], constant_values=2.5)",
    "ops.pad(x, [[0, 0], [1, 1], [0, 1]], mode='symmetric')",
    "ops.psnr(x, y, 2.0)", "ops.repeat(x, 2, axis=1)", "ops.repeat(x, 2)",
    "ops.reshape(x, (-1, 6, 2))", "ops.roll(x, 1, axis=1)", "ops.round(x, decimals=1)",
    "ops.rot90(x, axes=(1, 2))", "ops.rot90(m, k=2, axes=(1, 2))", "ops.rot90(x, k=-1, axes=(2, 1))",
    "ops.select([b, x > 0], [x, y], 7.0)", "ops.select([b], [n])",
    "ops.slice(x, [0, 1, 1], (1, 2, 3))", "ops.slice_update(x, [0, 1, 1], y[:, :2, 1:3])",
    "ops.softmax(x, axis=1)", "ops.sparsemax(ops.one_hot(i, 3) * 9.0)",
    "ops.split(x, 2, axis=2)", "ops.split(x, [1, 3], axis=2)", "ops.squeeze(x[:, :1])",
    "ops.squeeze(x[:, :1], axis=1)", "ops.stack([x, y], axis=1)", "ops.stack([x, n])",
    "ops.take(w, [[0, 1], [3, -1]], axis=1)", "ops.take(x, i)", "ops.take_along_axis(x, i, axis=1)",
    "ops.take_along_axis(w, i[:, 0], axis=-1)", "ops.tensordot(x, y, axes=[[0, 1], [0, 1]])",
    "ops.tensordot(x, m[0], axes=1)", "ops.tensordot(x, y, axes=3)",
    "ops.threshold(x, 0.5, -2.0)", "ops.tile(x, (2, 1, 2))", "ops.tile(w, (3, 1, 1))", "ops.top_k(x, 2)",
    "ops.transpose(x)", "ops.transpose(x, (0, 2, 1))", "ops.tril(m)", "ops.tril(x, k=1)",
    "ops.triu(m)", "ops.triu(x, k=-1)", "ops.unstack(x, axis=1)", "ops.unstack(x, 4, axis=-1)",
    "ops.where(b, x, y)", "ops.where(x > 0, x, 0.0)", "ops.where(b, n, 0)",
    "x + 1", "1 - x", "2 * n", "x / 2", "n / 2", "n // 2", "x % 2", "x ** 2", "-x", "x > 0", "x <= y",
    "b & (x > 0)", "b | (x > 0)", "b ^ (x > 0)", "~b", "x @ m", "abs(x)",
    "ops.all(b, axis=1)", "ops.glu(x, axis=-1)", "ops.gelu(x, approximate=False)",
    "ops.celu(x, alpha=0.3)", "ops.elu(x, alpha=0.3)", "ops.leaky_relu(x, 0.3)",
    "ops.squareplus(x, b=1)", "ops.hard_shrink(x, 1.0)", "ops.soft_shrink(x, 1.0)",
    # Over an empty list of axes.
    *(f"ops.{name}(t, axis=())" for name in
      "sum mean max min amax amin prod std var logsumexp ptp any all count_nonzero nansum nanmax "
      "nanmin nanmean nanprod nanstd nanvar flip normalize rms_normalization "
      "layer_normalization".split()),
    "ops.max(t, axis=(), keepdims=True)", "ops.moments(t, axes=())",
    # Over all axes.
    "ops.softmax(t, axis=None)", "ops.log_softmax(t, axis=None)", "ops.sort(t, axis=None)",
    "ops.argsort(t, axis=None)", "ops.roll(t, 2)", "ops.roll(x, (1, 2), axis=(1, 2))",
    "ops.normalize(t, axis=None)",
    "ops.argmax(t, keepdims=True)", "ops.argmin(t, keepdims=True)",
    # Sums of float16.
    "ops.mean(h)", "ops.mean(h, axis=0)", "ops.var(h, axis=0)", "ops.var(f)",
    "ops.std(f, axis=-1)", "ops.moments(h, axes=[0])", "ops.moments(h, axes=[0, 1])",
    "ops.sum(h)", "ops.layer_normalization(h)", "ops.rms_normalization(h)",
    # Initial elements, signed zeros, orders of norms.
    "ops.max(t, initial=0.5)", "ops.max(t, axis=1, initial=0.5)", "ops.min(t, axis=0, initial=-1)",
    "ops.max(k, initial=5)", "ops.min(g, axis=1, initial=False)", "ops.max(t[:, 3:], axis=1, initial=-2)",
    "ops.argmax(z)", "ops.argmax(z, axis=0)", "ops.argmin(z, axis=1)", "ops.argmax(-z)", "ops.argmin(-z)",
    "ops.normalize(t, order=1)", "ops.normalize(t, order=3, axis=0)", "ops.normalize(t, order=1, axis=None)",
    "ops.normalize(t, order=1, axis=(0, 1))", "ops.normalize(x, axis=(1, 2))",
    "ops.layer_normalization(t, gamma=[1.0, 2.0, 3.0], rms_scaling=True)",
    "ops.layer_normalization(x, axis=(1, 2), rms_scaling=True)",
    # Integers and bools.
    *(f"ops.{name}(k)" for name in
      "nansum nanmax nanmin nanmean nanprod nanstd nanvar nancumsum nancumprod nan_to_num trunc "
      "round layer_normalization rms_normalization".split()),
    "ops.round(k, decimals=-1)", "ops.fmax(k, k[:, ::-1])", "ops.fmin(k, 2)", "ops.fmax(k, 2.5)",
    *(f"ops.{name}(g)" for name in
      "max min amax amin nanmax nanmin nansum nanprod cumsum cumprod argmax argmin sort argsort abs "
      "prod diff square trunc nan_to_num mean".split()),
    "ops.max(g, axis=1, keepdims=True)", "ops.matmul(g, g[0])", "ops.dot(g, g[0])",
    "ops.outer(g, g[0])", "ops.clip(g, 0, 1)",
    "ops.matmul(c, ops.transpose(c))", "ops.einsum('ab,db->ad', c, c)", "ops.dot(c, c[0])",
    "ops.inner(c, c)", "ops.sum(c)", "ops.tensordot(c, c, axes=2)",
    "ops.hypot(l, l[:, ::-1])", "ops.heaviside(l, l)", "ops.cbrt(l)", "ops.deg2rad(l)", "ops.rad2deg(l)",
    "ops.sqrt(abs(l))",
    # Along the batch, whose size is unknown.
    "ops.split(t, 2, axis=0)", "ops.split(t, [1], axis=0)", "ops.array_split(t, 2, axis=0)",
    "ops.vsplit(t, 2)", "ops.unstack(t, 2, axis=0)", "ops.diagonal(t)", "ops.diagonal(t, offset=1)",
    "ops.diagonal(t, offset=-1)", "ops.diagonal(t, axis1=1, axis2=0)", "ops.trace(t)",
    "ops.trace(x, axis1=2, axis2=0)", "ops.glu(t, axis=0)",
    # Broadcast.
    "ops.take_along_axis(t, np.array([[0, -1]], 'int32'), axis=1)",
    "ops.take_along_axis(x[:1, :], i[:, :1], axis=2)", "ops.take_along_axis(t, np.array([0, 4], 'int32'))",
]


# Keras 2 turns these into layers. It loses arguments of tf.einsum and == when it saves them.
TENSORFLOW = [
    *(f"tf.math.{name}(x)" for name in
      "abs sin cos tan tanh sigmoid exp square sign floor ceil round negative softplus erf "
      "reduce_logsumexp expm1 sinh cosh asinh atan".split()),
    *(f"tf.math.{name}(q)" for name in "log log1p sqrt rsqrt reciprocal acosh".split()),
    *(f"tf.math.{name}(p)" for name in "acos asin atanh erfinv".split()),
    *(f"tf.math.{name}(x, y)" for name in
      "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal "
      "squared_difference atan2 divide_no_nan multiply_no_nan".split()),
    "tf.math.divide(x, q)", "tf.math.truediv(n, i + 1)", "tf.math.floordiv(n, i + 1)",
    "tf.math.floormod(n, i + 1)", "tf.math.pow(q, x)", "tf.pow(x, 2.0)", "tf.add_n([x, y, p])",
    "tf.math.scalar_mul(2.0, x)", "tf.math.logical_and(b, x > 0)", "tf.math.logical_or(b, x > 0)",
    "tf.math.logical_not(b)", "tf.math.logical_xor(b, x > 0)", "tf.math.is_nan(e)",
    "tf.math.is_inf(e)", "tf.math.is_finite(e)",
    *(f"tf.nn.{name}(x)" for name in
      "relu relu6 elu selu silu gelu leaky_relu softmax log_softmax softsign l2_normalize".split()),
    "tf.nn.softmax(x, axis=1)", "tf.nn.leaky_relu(x, alpha=0.3)", "tf.nn.gelu(x, approximate=True)",
    "tf.nn.bias_add(x, np.array([1.0, 2.0, 3.0, 4.0], 'float32').tolist())",
    "tf.math.l2_normalize(x, axis=1)",
    *(f"tf.reduce_{name}(x, axis=1)" for name in "sum mean max min prod".split()),
    *(f"tf.reduce_{name}(x, axis=[1, 2], keepdims=True)" for name in "sum mean max min".split()),
    "tf.reduce_sum(x)", "tf.reduce_any(b, axis=1)", "tf.reduce_all(b, axis=-1)",
    "tf.math.reduce_std(x, axis=1)", "tf.math.reduce_variance(x, axis=1)",
    "tf.math.reduce_euclidean_norm(x, axis=1)", "tf.math.reduce_euclidean_norm(t, axis=[])",
    "tf.reduce_sum(t, axis=[])", "tf.reduce_max(t, axis=[])", "tf.norm(x, axis=1)", "tf.norm(x, ord=1, axis=-1)",
    "tf.argmax(x, axis=1)", "tf.math.argmin(x, axis=-1)", "tf.cumsum(x, axis=1)",
    "tf.math.cumprod(x, axis=1)", "tf.math.top_k(x, k=2)", "tf.sort(x, axis=1)", "tf.argsort(x)",
    "tf.concat([x, y], axis=1)", "tf.concat([x, y, x], -1)", "tf.stack([x, y], axis=1)",
    "tf.unstack(x, axis=1)", "tf.split(x, 2, axis=2)", "tf.split(x, [1, 3], axis=2)",
    "tf.expand_dims(x, 1)", "tf.expand_dims(x, axis=-1)", "tf.squeeze(x[:, :1], axis=1)",
    "tf.squeeze(x[:, :1], [1])", "tf.reshape(x, (-1, 6, 2))", "tf.transpose(x, perm=[0, 2, 1])",
    "tf.transpose(x)", "tf.tile(x, [1, 2, 1])", "tf.repeat(x, 2, axis=1)", "tf.reverse(x, axis=[1])",
    "tf.roll(x, shift=1, axis=1)", "tf.pad(x, [[0, 0], [1, 2], [0, 1]])",
    "tf.pad(x, [[0, 0], [1, 1], [0, 1]], mode='REFLECT')",
    "tf.pad(x, [[0, 0], [1, 1], [0, 1]], constant_values=2.5)", "tf.broadcast_to(w[0], (3, 2, 4))",
    "tf.gather(x, [0, 2], axis=1)", "tf.gather(x, i[:, :, 0], axis=2, batch_dims=0)",
    "tf.one_hot(i, 3)", "tf.one_hot(i, depth=5, axis=1)",
    "tf.cast(n, 'float32')", "tf.cast(x, tf.int32)", "tf.cast(x > 0, dtype=tf.float32)",
    "tf.where(b, x, y)", "tf.where(x > 0, x, 0.0)", "tf.clip_by_value(x, -0.5, 1.0)",
    "tf.zeros_like(x)", "tf.ones_like(n)", "tf.identity(x)", "tf.stop_gradient(x)",
    "tf.matmul(x, m)", "tf.matmul(x, y, transpose_b=True)", "tf.matmul(x, y, transpose_a=True)",
    "tf.linalg.matmul(x, m, transpose_b=True)", 
    "tf.tensordot(x, m[0], axes=1)", "tf.tensordot(x, y, axes=[[0, 1], [0, 1]])",
    "tf.linalg.band_part(m, -1, 0)", "tf.linalg.diag_part(m)", "tf.linalg.trace(m)",
    "x[:, 0]", "x[:, 1:3, ::2]", "x[..., None]", "x[:, -1]", "x[:, ::-1]", "x[0]", "x[:, None, 2]",
    "x + y", "x - 1.0", "1.0 - x", "x * 2.0", "2.0 * x", "x / q", "x / 2.0", "1.0 / q", "-x", "n // 2",
    "n % 4", "q ** 2.0", "x @ m", "x > y", "x >= 0.0", "x < y", "x <= 0.0", "~b", "b & (x > 0)",
    "b | (x > 0)", "abs(x)",
]


def expressions():
    for data, names in UNARY.items():
        yield from (f"ops.{name}({data})" for name in names.split())
    for data, names in BINARY.items():
        yield from (f"ops.{name}({', '.join(data)})" for name in names.split())
    for data, names in REDUCE.items():
        for name in names.split():
            # Several axes, where the function takes them.
            one = name.startswith("arg")
            yield f"ops.{name}({data})"
            yield f"ops.{name}({data}, axis={1 if one or name == 'count_nonzero' else '(1, 2)'})"
            if name != "count_nonzero":
                yield f"ops.{name}({data}, axis=-1, keepdims=True)"
    yield from OTHER


def record(code, k, ops):
    k.backend.clear_session()
    rng = encode.generator("operations", code)
    used = [name for name in INPUTS if re.search(rf"\b{name}\b(?!=)", code)]
    tensors = {name: k.Input(INPUTS[name][0], dtype=INPUTS[name][1], name=name) for name in used}
    data = [INPUTS[name][2](rng, (ROWS, *INPUTS[name][0])).astype(INPUTS[name][1]) for name in used]
    made = eval(code, {"np": np, **ops, **tensors})
    made = list(made) if isinstance(made, tuple) else made
    model = k.Model([tensors[name] for name in used], made, name="operation")
    return {
        "name": code,
        "config": encode.config(json.loads(model.to_json())),
        "inputs": [encode.tensor(x) for x in data],
        "outputs": encode.structure(model([keras.ops.convert_to_tensor(x) for x in data])),
    }


def write(folder, only=None):
    if only is not None and "operations" not in only:
        return
    cases = [encode.attempt(code, lambda: record(code, keras, {"ops": keras.ops}))
             for code in expressions()]
    encode.write(folder / "operations.json", cases)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf
        import tf_keras

        cases = [record(code, tf_keras, {"tf": tf}) for code in TENSORFLOW]
        encode.write(folder / "operations.keras2.json", cases)
