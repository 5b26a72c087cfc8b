"""The calls that sweep.py records: operations x dtypes x shapes x options.

A case is an expression of keras.ops over a, b, c and what these are: dtype, shape (None where the
batch is open; it then has two samples) and the name of a pool, whose values fill it in turn.
"""

import itertools

from maker.sweep_moved import MOVED, with_arrays

DTYPES = "bool int8 uint8 int32 int64 float16 bfloat16 float32 float64".split()
FLOATS = DTYPES[5:]
INTEGERS = DTYPES[1:5]

NAN, INF = float("nan"), float("inf")
WHOLE = {
    "bool": [0, 1, 1, 0],
    "int8": [0, 1, -1, 2, 3, -3, 7, -8, 100, -100, 127, -128],
    "uint8": [0, 1, 2, 3, 7, 8, 100, 128, 200, 255],
    "int32": [0, 1, -1, 2, 3, -3, 7, -8, 100, 46341, 2**31 - 1, -2**31],
    "int64": [0, 1, -1, 2, 3, -3, 7, -8, 2**31 + 5, -2**40, 2**63 - 1, -2**63],
}
# By name and kind of dtype; "edge" and "pair" of integers are those above.
POOLS = {
    "edge": {"float": [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 2.5, 0.1, 7.25, -7.75, 20.0,
                       -20.0, 100.0, -100.0, NAN, INF, -INF, 1e-4, 6e4, -6e4], "whole": None},
    "pair": {"float": [1.5, -2.5, 0.0, -0.0, NAN, INF, -INF, 3.0, -7.0, 0.5], "whole": None},
    "calm": {"float": [0.5, -1.25, 2.0, 3.5, -0.75, 1.0, -2.5, 0.25, 4.0, -3.0, 1.5],
             "whole": [3, 1, 4, 0, 5, 9, 2, 6, 8, 7, 10]},
    "size": {"float": [1.5, 2.5, 1.0, 3.0, 0.5, 2.0, 4.0], "whole": [1, 2, 3, 5, 7, 4, 6]},
    "ties": {"float": [2.0, -1.0, 2.0, 0.0, -0.0, -1.0, 3.0, 3.0], "whole": [2, 1, 2, 0, 3, 3, 1]},
    "nans": {"float": [NAN, 1.5, -2.0, NAN, 0.5, 3.0, NAN, -1.0, 4.0],
             "whole": [3, 1, 4, 0, 5, 9, 2, 6]},
    "nan": {"float": [NAN], "whole": [1]},
    "unit": {"float": [0.1, 0.9, 0.5, 0.25, 0.75, 1.0, 0.0], "whole": [0, 1, 1, 0]},
    "index": {"float": [0.0, 1.0, 2.0, 1.0], "whole": [0, 2, 1, 1, 0]},
    "minus": {"float": [-1.0, 0.0], "whole": [-1, 0, 1, -2]},
    "rising": {"float": [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0],
               "whole": [0, 1, 2, 4, 6, 8, 9]},
}

UNARY = (
    "absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_invert bitwise_not cbrt ceil "
    "celu conjugate copy cos cosh deg2rad elu empty_like erf erfc erfinv exp exp2 expm1 fabs floor "
    "gelu hard_shrink hard_sigmoid hard_silu hard_tanh isfinite isinf isnan isneginf isposinf "
    "isreal leaky_relu log log10 log1p log2 log_sigmoid logical_not nan_to_num negative ones_like "
    "rad2deg ravel real reciprocal relu relu6 round rsqrt selu sigmoid sign signbit silu sin sinc "
    "sinh soft_shrink softplus softsign sparse_plus sparse_sigmoid sqrt square squareplus "
    "stop_gradient tan tanh tanh_shrink trunc zeros_like convert_to_tensor array").split()
BINARY = (
    "add subtract multiply divide true_divide maximum minimum arctan2 equal not_equal less "
    "less_equal greater greater_equal heaviside hypot logaddexp logaddexp2 fmax fmin "
    "logical_and logical_or logical_xor divide_no_nan isclose").split()
DIVISION = "floor_divide mod fmod power".split()  # by zero, each backend has its own answer
SHIFTS = "left_shift right_shift bitwise_left_shift bitwise_right_shift".split()
BITS = "bitwise_and bitwise_or bitwise_xor".split()
REDUCE = ("all any amax amin max min mean prod std sum var logsumexp ptp nanmax nanmin nanmean "
          "nanprod nansum nanstd nanvar").split()

SHAPES = [(), (0,), (0, 3), (3, 0), (1,), (1, 1), (2, 1, 2, 1, 3), (None,), (None, 3), (None, 2, 0)]


def one(code, dtype, shape, pool="calm"):
    return code, [(dtype, tuple(shape), pool)]


def two(code, a, b):
    return code, [a, b]


def unary():
    for name in UNARY:
        for dtype in DTYPES:
            yield one(f"ops.{name}(a)", dtype, (22 if dtype in FLOATS else 12,), "edge")
        for shape in SHAPES:
            yield one(f"ops.{name}(a)", "float32", shape)
        yield one(f"ops.{name}(a)", "int32", ())
        yield one(f"ops.{name}(a)", "bool", (0, 2))
    options = {
        "celu": ["alpha=0.3", "alpha=2"], "elu": ["alpha=0.3", "alpha=2", "alpha=-1.0"],
        "gelu": ["approximate=False"], "hard_shrink": ["1.0", "0"], "soft_shrink": ["1.0", "0"],
        "leaky_relu": ["0.3", "0", "1"], "squareplus": ["b=1", "b=0"],
        "nan_to_num": ["nan=1.0", "posinf=2.0", "neginf=-2", "nan=1, posinf=3, neginf=4"],
        "round": ["decimals=1", "decimals=-1", "decimals=2"],
        "zeros_like": ["dtype='int8'", "dtype='bool'"],
        "ones_like": ["dtype='float16'", "dtype='bool'"],
        "empty_like": ["dtype='int32'"], "array": ["dtype='float16'", "dtype='bool'"],
        "convert_to_tensor": ["dtype='int32'", "dtype='float64'"],
        "threshold": ["0.5, -2.0", "1, 0", "0, 3"],
    }
    for name, choices in options.items():
        for choice, dtype in itertools.product(choices,
                                               ("float32", "float16", "int32", "uint8", "bool")):
            yield one(f"ops.{name}(a, {choice})", dtype, (22 if dtype in FLOATS else 12,), "edge")
    for to in DTYPES:
        for dtype in DTYPES:
            pool = "calm" if dtype in FLOATS and to not in FLOATS and to != "bool" else "edge"
            yield one(f"ops.cast(a, '{to}')", dtype, (11,), pool)
            yield one(f"ops.saturate_cast(a, '{to}')", dtype, (12,), "edge")
    for low, high in (("-0.5", "1"), ("0", "5"), ("-300", "300"), ("1.5", "2.5"), ("True", "3"),
                      ("3", "1"), ("None", "1.5"), ("0", "None")):
        for dtype in DTYPES:
            yield one(f"ops.clip(a, {low}, {high})", dtype, (12,), "edge")
    for value in ("2.5", "3", "True", "-1"):
        for dtype in DTYPES:
            yield one(f"ops.full_like(a, {value})", dtype, (2, 1))
            yield one(f"ops.full_like(a, {value}, dtype='int32')", dtype, (None, 1))
    for name in ("flip", "fliplr", "flipud"):
        yield one(f"ops.{name}(a)", "float32", (2, 3))


def binary():
    for name in BINARY + DIVISION + SHIFTS + BITS:
        first = "size" if name in DIVISION else "pair"
        second = "size" if name in DIVISION + SHIFTS else "pair"
        for a, b in itertools.product(DTYPES, DTYPES):
            if (name in SHIFTS + BITS and (a in FLOATS or b in FLOATS)
                    and (a, b) != ("float32", "int32")):
                continue
            yield two(f"ops.{name}(a, b)", (a, (7,), first), (b, (7,), second))
        for dtype in ("int32", "int8", "uint8", "int64", "float32", "float16", "bool"):
            if name not in SHIFTS + BITS or dtype not in FLOATS:
                yield two(f"ops.{name}(a, b)", (dtype, (8, 1), "pair"),
                          (dtype, (7 if second == "size" else 8,), second))
        for dtype in DTYPES:
            for number in ("2", "2.5", "True", "-3"):
                if name in SHIFTS and number == "-3" or name in SHIFTS + BITS and number == "2.5":
                    continue
                yield one(f"ops.{name}(a, {number})", dtype, (5,), "size")
                if number != "True":
                    yield one(f"ops.{name}({number}, a)", dtype, (5,), "size")
        if name not in SHIFTS + BITS:
            for number in ("0.0", "-0.0", "float('inf')", "float('nan')", "300"):
                yield one(f"ops.{name}(a, {number})", "float32", (10,), "pair")
            yield one(f"ops.{name}(a, 300)", "int8", (5,), "size")
            yield one(f"ops.{name}(a, 0.1)", "float16", (5,), "size")
        kind = "int32" if name in SHIFTS + BITS else "float32"
        for a, b in [((), (3,)), ((3, 1), (1, 4)), ((), ()), ((0,), (1,)), ((0, 3), (3,)),
                     ((2, 0), ()),
                     ((None, 3), (3,)), ((None, 1), (None, 3)), ((2, 1, 2, 1, 3), (3, 1)),
                     ((1,), (2, 2, 1, 1, 2)),
                     ((None,), ()), ((2,), (3,))]:
            yield two(f"ops.{name}(a, b)", (kind, a, "size"), (kind, b, "size"))
    for name in ("add", "multiply", "maximum", "equal", "power", "mod"):
        yield one(f"ops.{name}(a, np.array([1, 2, 3], 'int32'))", "float32", (3,))
        yield one(f"ops.{name}(a, np.array([1, 2, 3], 'int32'))", "int8", (3,))
        yield one(f"ops.{name}(a, np.array([1.5, 2, 3]))", "int32", (2, 3))
        yield one(f"ops.{name}(a, np.array([1.5, 2, 3]))", "float16", (None, 3))
        yield one(f"ops.{name}(a, np.array([True, False, True]))", "float16", (3,))
    for name in DIVISION:
        for dtype in FLOATS + INTEGERS:
            yield two(f"ops.{name}(a, b)", (dtype, (10,), "pair"), (dtype, (10,), "calm"))
    for dtype in INTEGERS:  # beyond the width of the type, and below zero
        for name in SHIFTS:
            yield two(f"ops.{name}(a, b)", (dtype, (8, 1), "edge"), (dtype, (5,), "rising"))
    for a, b in (("float32", "int32"), ("float16", "int8"), ("float64", "int64"),
                 ("int32", "int32"),
                 ("bfloat16", "uint8"), ("float32", "float32"), ("bool", "bool")):
        yield two("ops.ldexp(a, b)", (a, (8,), "edge"), (b, (8,), "size"))
        yield two("ops.ldexp(a, b)", (a, (None, 2), "calm"), (b, (2,), "calm"))
    for equal_nan in (False, True):
        yield two(f"ops.isclose(a, b, equal_nan={equal_nan})", ("float32", (8, 1), "pair"),
                  ("float32", (8,), "pair"))
        yield two(f"ops.isclose(a, b, 1.0, 0.5, equal_nan={equal_nan})",
                  ("float16", (8, 1), "pair"), ("int32", (8,), "pair"))


AXES = ("axis=0", "axis=-1", "axis=1, keepdims=True", "axis=(0, 2)", "axis=(-1, 0), keepdims=True",
        "axis=()", "axis=(), keepdims=True", "keepdims=True", "axis=(1,)", "axis=[0, 1]",
        "axis=None",
        "axis=3", "axis=(0, 0)")


def reductions():
    for name in REDUCE:
        for dtype in DTYPES:
            yield one(f"ops.{name}(a)", dtype, (7,), "nans")
            yield one(f"ops.{name}(a)", dtype, (2, 11), "edge")
            yield one(f"ops.{name}(a, axis=1)", dtype, (2, 5), "calm")
            if dtype in ("bool", "int32", "float16"):
                yield one(f"ops.{name}(a, axis=())", dtype, (2, 3), "nans")
        for options in AXES:
            yield one(f"ops.{name}(a, {options})", "float32", (2, 3, 2), "nans")
            yield one(f"ops.{name}(a, {options})", "int32", (2, 3, 2), "calm")
            yield one(f"ops.{name}(a, {options})", "float32", (None, 3, 2), "calm")
        for shape in SHAPES:
            yield one(f"ops.{name}(a)", "float32", shape, "size")
            if len(shape):
                yield one(f"ops.{name}(a, axis=-1)", "float32", shape, "size")
                yield one(f"ops.{name}(a, axis=0, keepdims=True)", "int32", shape, "size")
        yield one(f"ops.{name}(a, axis=(1, 3))", "float32", (2, 3, 1, 2, 2), "calm")
        yield one(f"ops.{name}(a, axis=())", "float32", (), "calm")
        yield one(f"ops.{name}(a, axis=-1)", "float32", (2, 3), "nan")
        yield one(f"ops.{name}(a, axis=0)", "float32", (), "calm")
    for name in ("max", "min"):
        for initial in ("3", "1.5", "-1", "0", "100", "float('inf')"):
            for dtype in DTYPES:
                yield one(f"ops.{name}(a, initial={initial})", dtype, (5,), "calm")
            yield one(f"ops.{name}(a, axis=1, initial={initial})", "float32", (2, 3), "nans")
            yield one(f"ops.{name}(a, axis=0, keepdims=True, initial={initial})", "float32", (0, 3))
            yield one(f"ops.{name}(a, axis=(), initial={initial})", "float32", (2, 3))
            yield one(f"ops.{name}(a, axis=0, initial={initial})", "int32", (None, 3))
    for to in DTYPES:
        for dtype in DTYPES:
            yield one(f"ops.prod(a, dtype='{to}')", dtype, (4,), "size")
            yield one(f"ops.cumsum(a, axis=0, dtype='{to}')", dtype, (4,), "size")
            yield one(f"ops.cumprod(a, dtype='{to}')", dtype, (4,), "size")
    for name in ("argmax", "argmin"):
        for dtype in DTYPES:
            yield one(f"ops.{name}(a)", dtype, (2, 8), "ties")
            yield one(f"ops.{name}(a, axis=1)", dtype, (2, 8), "edge")
            yield one(f"ops.{name}(a, axis=0)", dtype, (5,), "nans")
        for options in ("axis=0", "axis=-1, keepdims=True", "keepdims=True", "axis=-2", "axis=5"):
            for shape in ((2, 3), (None, 3), (2, 1, 2, 1, 3), (1, 1), (0, 3), (3, 0)):
                yield one(f"ops.{name}(a, {options})", "float32", shape, "ties")
        for shape in SHAPES:
            yield one(f"ops.{name}(a)", "float32", shape, "ties")
        yield one(f"ops.{name}(a)", "float32", (2,), "minus")
        yield one(f"ops.{name}(a, axis=-1)", "float32", (3, 5), "minus")
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        for dtype in DTYPES:
            yield one(f"ops.{name}(a)", dtype, (2, 4), "nans")
            yield one(f"ops.{name}(a, axis=1)", dtype, (2, 6), "edge")
        for axis in ("0", "-1", "1", "4"):
            for shape in ((2, 3), (None, 3), (2, 1, 2, 1, 3), (0, 3), (3, 0), (1,)):
                yield one(f"ops.{name}(a, axis={axis})", "float32", shape, "calm")
        for shape in SHAPES:
            yield one(f"ops.{name}(a)", "float32", shape, "calm")
    for dtype in DTYPES:
        yield one("ops.count_nonzero(a)", dtype, (12,), "edge")
        yield one("ops.count_nonzero(a, axis=1)", dtype, (2, 3), "ties")
        yield one("ops.moments(a, axes=[0])", dtype, (2, 3), "calm")
        yield one("ops.moments(a, axes=[0, 1], keepdims=True)", dtype, (2, 3), "calm")
        yield one("ops.average(a)", dtype, (2, 3), "calm")
        yield one("ops.average(a, axis=0)", dtype, (2, 3), "calm")
        for other in DTYPES:
            yield two("ops.average(a, axis=0, weights=b)", (dtype, (3, 2), "calm"),
                      (other, (3, 2), "size"))
    for axis in ("0", "-1", "(0, 1)", "()", "(-1,)", "None", "7"):
        for shape in ((2, 3), (None, 3), (0, 3), (3, 0), (2, 1, 2, 1, 3)):
            yield one(f"ops.count_nonzero(a, axis={axis})", "float32", shape, "ties")
            yield one(f"ops.average(a, axis={axis})", "float32", shape, "calm")
            yield one(f"ops.moments(a, axes={axis})", "float32", shape, "calm")
            yield one(f"ops.logsumexp(a, axis={axis}, keepdims=True)", "float32", shape, "calm")
    yield two("ops.average(a, axis=1, weights=b)", ("float32", (2, 3), "calm"),
              ("float32", (3,), "size"))
    yield two("ops.average(a, axis=0, weights=b)", ("float32", (None, 3), "calm"),
              ("float32", (None,), "size"))
    yield two("ops.average(a, weights=b)", ("float32", (2, 3), "calm"), ("float32", (2, 3), "size"))
    yield two("ops.average(a, weights=b)", ("float32", (2, 3), "calm"), ("float32", (3,), "size"))


def movements():
    for shape, codes in MOVED.items():
        for code in codes.split(";"):
            code = code if code.startswith("a[") else f"ops.{with_arrays(code)}"
            more = ("float16", "bool") if shape == (2, 3) else ()
            dtypes = ("float32", "int32", *more)
            for dtype in dtypes:
                yield one(code, dtype, shape)


PRODUCTS = [("matmul", (2, 3), (3, 2)), ("dot", (2, 3), (3,)), ("inner", (2, 3), (2, 3)),
            ("outer", (2,), (3,)),
            ("vdot", (3,), (3,)), ("append", (2,), (3,)), ("digitize", (4,), (3,)),
            ("searchsorted", (4,), (3,)),
            ("isin", (2, 3), (4,))]


def products():
    for name, a, b in PRODUCTS:
        second = "rising" if name == "digitize" else "calm"
        first = "rising" if name == "searchsorted" else "calm"
        for x, y in itertools.product(DTYPES, DTYPES):
            yield two(f"ops.{name}(a, b)", (x, a, first), (y, b, second))
    for x, y in itertools.product(DTYPES, DTYPES):
        yield two("ops.concatenate([a, b])", (x, (2,), "calm"), (y, (1,), "calm"))
        yield two("ops.stack([a, b])", (x, (2,), "calm"), (y, (2,), "calm"))
        yield "ops.where(c, a, b)", [(x, (3,), "calm"), (y, (3,), "calm"), ("bool", (3,), "calm")]
        yield two("ops.einsum('ij,jk->ik', a, b)", (x, (2, 3), "calm"), (y, (3, 1), "calm"))
        yield two("ops.tensordot(a, b, axes=1)", (x, (2, 3), "calm"), (y, (3, 1), "calm"))
        yield two("ops.slice_update(a, [1], b)", (x, (3,), "calm"), (y, (2,), "calm"))
        yield two("ops.full_like(a, b)", (x, (3,), "calm"), (y, (), "size"))
        yield two("ops.psnr(a, b, 1.0)", (x, (3,), "calm"), (y, (3,), "size"))
        yield two("ops.take(a, b)", (x, (3,), "calm"), (y, (2,), "index"))
        yield "ops.select([c, c], [a, b], 2)", [(x, (3,), "calm"), (y, (3,), "calm"),
                                                ("bool", (3,), "calm")]
        yield two("ops.meshgrid(a, b)", (x, (2,), "calm"), (y, (3,), "calm"))
        yield two("ops.hstack([a, b])", (x, (2,), "calm"), (y, (1,), "calm"))
        if y in INTEGERS:
            yield two("ops.take_along_axis(a, b, axis=0)", (x, (3,), "calm"), (y, (2,), "index"))
    for name, shapes in {
        "matmul": [((2, 0), (0, 3)), ((None, 3), (3, 2)), ((2, 2, 3), (3,)), ((3,), (2, 3, 2)),
                   ((2, 1, 2, 3), (4, 3, 1)), ((2, 3), (2, 3)),
                   ((0, 3), (3, 2)), ((None, 2, 3), (None, 3, 2)), ((1, 3), (3, 1)),
                   ((2, 1, 2, 1, 3), (2, 3, 2)), ((3,), (3,)), ((2,), (3,))],
        "dot": [((), (3,)), ((2, 3), (2, 3, 2)), ((None, 3), (3, 2)), ((0,), (0,)),
                ((2, 2, 3), (3,)), ((2, 3), (2,)), ((2, 1, 3), (2, 2, 3, 1))],
        "inner": [((), (3,)), ((2, 3), (3,)), ((None, 3), (2, 3)), ((0,), (0,)), ((2, 3), (2,)),
                  ((2, 1, 3), (2, 3))],
        "outer": [((), (3,)), ((2, 2), (3,)), ((None,), (3,)), ((0,), (2,))],
        "vdot": [((2, 2), (2, 2)), ((None, 2), (None, 2)), ((0,), (0,)), ((2, 3), (3, 2)),
                 ((3,), (2,))],
        "take": [((None, 3), (2,)), ((2, 3), (2, 2)), ((3,), ()), ((3,), (0,))],
        "digitize": [((2, 2), (3,)), ((), (3,)), ((None, 2), (3,)), ((0,), (2,)), ((2,), (0,))],
        "searchsorted": [((3,), (2, 2)), ((3,), ()), ((3,), (None, 2)), ((3,), (0,)),
                         ((0,), (2,)), ((1,), (2,)), ((2, 3), (2,))],
        "isin": [((2, 2), (2, 2)), ((), (3,)), ((None, 2), (3,)), ((0,), (2,)), ((2,), (0,)),
                 ((2,), ())],
        "append": [((), ()), ((2, 2), (3,)), ((None, 2), (None,)), ((0,), (2,))],
    }.items():
        for a, b in shapes:
            for dtype in ("float32", "int32"):
                sorts = name in ("digitize", "searchsorted")
                pool = "index" if name == "take" else "rising" if sorts else "calm"
                yield two(f"ops.{name}(a, b)", (dtype, a, pool),
                          ("int32" if name == "take" else dtype, b, pool))
    for a, b, axis in [((2, 3), (2, 1), 1), ((2, 3), (1, 3), 0), ((2, 3), (1, 2), 1),
                       ((None, 3), (None, 2), 1), ((None, 3), (1, 2), 1),
                       ((2, 3), (2, 3), -1), ((2, 1, 2), (1, 2, 2), 2), ((2, 3), (2, 0), 1),
                       ((2, 3), (3,), 0), ((2, 3), (4,), None), ((1, 3), (2, 2), 1)]:
        yield two(f"ops.take_along_axis(a, b, axis={axis})", ("float32", a, "calm"),
                  ("int32", b, "index"))
        yield two(f"ops.take_along_axis(a, b, axis={axis})", ("int32", a, "calm"),
                  ("int32", b, "minus"))
    for c in DTYPES:
        yield "ops.where(a, b, c)", [(c, (4,), "index"), ("float16", (4,), "calm"),
                                     ("int32", (4,), "calm")]
        yield "ops.where(a, b, 2)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.where(a, b, 2.5)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.where(a, 1, b)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.where(a, True, b)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.where(a, 1, 2)", [(c, (4,), "index")]
        yield "ops.where(a, 1.5, 0)", [(c, (4,), "index")]
        yield "ops.where(a)", [(c, (2, 4), "index")]
        yield "ops.select([a], [b])", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.select([a], [b], 2.5)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.select([a], [b], True)", [("bool", (4,), "calm"), (c, (4,), "calm")]
        yield "ops.select([a, b], [1, 2])", [("bool", (4,), "calm"), (c, (4,), "index")]
        yield "ops.in_top_k(a, b, 2)", [("int32", (2,), "index"), (c, (2, 4), "calm")]
        yield "ops.in_top_k(a, b, 1)", [("int32", (2,), "index"), (c, (2, 4), "ties")]
        yield "ops.in_top_k(a, b, 2)", [(c, (2,), "index"), ("float32", (2, 4), "nans")]
        for other in ("float32", "float16"):
            yield "ops.batch_normalization(a, b, c, axis=-1)", [(c, (2, 3), "calm"),
                                                                (other, (3,), "calm"),
                                                                (other, (3,), "size")]
        yield "ops.layer_normalization(a, gamma=b)", [(c, (2, 3), "calm"),
                                                      ("float32", (3,), "calm")]
        yield "ops.rms_normalization(a, scale=b)", [(c, (2, 3), "calm"), ("float32", (3,), "calm")]
        yield "ops.threshold(a, 0.5, -2.0)", [(c, (12,), "edge")]
        yield "ops.one_hot(a, 4)", [(c, (3,), "minus")]
        for name in ("softmax", "log_softmax", "sparsemax", "normalize", "norm", "top_k", "sort",
                     "argsort", "layer_normalization", "rms_normalization", "glu",
                     "diff", "trace", "tril", "diagonal", "one_hot", "multi_hot", "tile",
                     "repeat", "roll", "rot90", "unstack", "transpose"):
            extra = {"top_k": ", 2", "one_hot": ", 3", "multi_hot": ", 3", "tile": ", 2",
                     "repeat": ", 2", "roll": ", 1"}.get(name, "")
            yield f"ops.{name}(a{extra})", [(c, (2, 4), "index")]
            if name in ("softmax", "log_softmax", "sparsemax", "normalize", "norm", "top_k",
                        "sort", "argsort", "layer_normalization", "rms_normalization", "diff"):
                yield f"ops.{name}(a{extra})", [(c, (2, 6), "nans" if c in FLOATS else "edge")]
                yield f"ops.{name}(a{extra})", [(c, (2, 8), "ties")]
        yield f"ops.pad(a, [[1, 2]])", [(c, (3,), "calm")]
        yield f"ops.pad(a, [[1, 2]], constant_values=3)", [(c, (3,), "calm")]
        yield f"ops.psnr(a, a, 1.0)", [(c, (3,), "calm")]
    for a, b, d in [((None, 3), (None, 3), (3,)), ((3,), (2, 1), ()),
                    ((2, 1, 2, 1, 3), (3,), ()), ((0,), (1,), ()), ((), (), ()),
                    ((2, 1), (1, 3), (0, 1, 1))]:
        yield "ops.where(a, b, c)", [("bool", a, "calm"), ("float32", b, "calm"),
                                     ("float32", d, "size")]
        yield "ops.select([a], [b], c)", [("bool", a, "calm"), ("float32", b, "calm"),
                                          ("float32", d, "size")]
    for shape in ((2, 2, 4), (None, 4), (2, 4), (1,), (2, 0)):
        yield "ops.in_top_k(a, b, 2)", [("int32", shape[:-1], "index"), ("float32", shape, "calm")]
        yield "ops.glu(a)", [("float32", shape, "calm")]
        yield "ops.top_k(a, 1)", [("float32", shape, "ties")]
    for shape in ((4, 4), (None, 4), (0, 4), (4, 0), (2, 4, 4), (None, 2, 3), (2, None, 3)):
        for code in ("tril(a, k=1)", "triu(a, k=-1)", "diagonal(a)", "diagonal(a, offset=1)",
                     "diagonal(a, offset=-2)", "trace(a)",
                     "trace(a, offset=1, axis1=-1, axis2=0)", "split(a, 2)",
                     "split(a, 2, axis=1)", "glu(a, axis=0)", "array_split(a, 3)", "roll(a, 3)",
                     "norm(a)", "norm(a, axis=(0, 1))", "flip(a)", "cumsum(a)",
                     "sort(a, axis=None)", "softmax(a, axis=None)", "unstack(a, axis=-1)",
                     "multi_hot(a, 3)", "argmax(a, keepdims=True)", "take(a, [0, 1])",
                     "repeat(a, 2)", "diff(a)", "pad(a, 1)"):
            yield one(f"ops.{code}", "float32", shape)


OPERATORS = ("a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a @ b", "a < b",
             "a == b", "a != b", "a >= b",
             "a & b", "a | b", "a ^ b", "-a", "abs(a)", "~a", "1 - a", "2 * a", "a / 2",
             "2 ** a", "1 / a", "a ** 2", "a ** 0.5", "round(a)")


def operators():
    for code in OPERATORS:
        for dtype in ("float32", "int32", "bool", "float16", "uint8"):
            tensors = [(dtype, (3,), "size")] * (2 if "b" in code.replace("abs", "") else 1)
            yield code, tensors


FAMILIES = {"unary": unary, "binary": binary, "reductions": reductions, "movements": movements,
            "products": products, "operators": operators}


def cases():
    """Every case once: family, expression, inputs."""
    seen = set()
    for family, make in FAMILIES.items():
        for code, tensors in make():
            key = code, tuple(tensors)
            if key not in seen:
                seen.add(key)
                yield family, code, tensors
