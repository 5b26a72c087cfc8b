"""Where Keras's backends disagree about operations: which one is followed, and why."""

import re

LACKING = ("int16", "uint16", "uint32", "uint64", "complex64", "complex128")


def out_of_scope(case):
    """Dtypes that Keratin does not have."""
    return any(dtype in LACKING for dtype in case.get("dtypes", []))


# Errors of Python inside Keras, where an argument that should be a tensor is a list or a number:
# a graph cannot be made of it, so no file has it.
ACCIDENTS = ("AttributeError", "IndexError", "TypeError", "ValueError: Invalid dtype: ",
             "ValueError: Unsupported key type")


def accident(case):
    return case.get("refused", "").removeprefix("symbolic: ").startswith(ACCIDENTS)


def has_float64(tensors):
    return any(dtype == "float64" for dtype, _, _ in tensors)


def narrowed(code, tensors, jax):
    """JAX makes float64 of int64 once it has 64-bit types; the default float of Keras is 32."""
    if has_float64(tensors) or "float64" in code or "float64" not in jax["dtypes"]:
        return jax
    return jax | {
        "out": [x.astype("float32") if x.dtype == "float64" else x for x in jax["out"]],
        "dtypes": ["float32" if x == "float64" else x for x in jax["dtypes"]],
    }


def dtype_of_tensorflow(tensors, jax, tensorflow):
    """What Keras declares counts; of int64, JAX makes float64 where Keras says float32."""
    declared = [dtype for dtype, _ in tensorflow["declared"]]
    if declared in (jax["dtypes"], tensorflow["dtypes"]):
        return declared == tensorflow["dtypes"]
    return "float64" in jax["dtypes"] and not has_float64(tensors)


# Class and the cause why its numbers on TensorFlow count.
WRAPS = "JAX wraps a number that is outside of the tensor's dtype before it compares"
TENSORFLOW_IS_RIGHT = {
    "Exp2": "JAX multiplies by log 2 in 16 bits",
    "Less": WRAPS, "LessEqual": WRAPS, "Greater": WRAPS, "GreaterEqual": WRAPS,
    "Multiply": "JAX selects where a factor is bool, so that infinity times false is 0, not NaN",
    "FloorDivide": "JAX divides as Python does, TensorFlow takes the floor of the quotient",
    "OneHot": "JAX compares floats with the classes, TensorFlow makes indices of them",
}


def tensorflow_is_right(code, tensors, operation):
    return operation in TENSORFLOW_IS_RIGHT


# Neither backend is right; patterns of code and first dtype, and the cause.
UNSETTLED = [
    (r"ops\.clip\(a, -300, 300\) (u?int8|bool)", "both wrap limits outside of the dtype"),
    (r"ops\.(nan)?mean\(a\) int(32|64) edge", "what is left of sums of extremes in float32"),
]


def unsettled(code, tensors):
    dtype, _, pool = tensors[0]
    return any(re.match(pattern, f"{code} {dtype} {pool}") for pattern, _ in UNSETTLED)
