#pragma once

// The known differences between Keratin's operations and the cases of tests/golden/sweep.
namespace keratin {

struct Known {
  const char* cases;  // a regular expression that the name of a case begins with
  const char* kind;   // how the difference begins
  const char* cause;
};

inline constexpr const char* in_integers =
    "JAX, where TensorFlow refuses, computes in the integers, which overflow; here they are floats";
inline constexpr const char* no_index =
    "an index outside of the axis is an error, on JAX it is NaN";
inline constexpr const char* of_nothing = "no elements have no largest one, as on JAX";

inline constexpr Known known[] = {
    {"ops\\.sparsemax", "numbers", "Keras 3.15 computes another threshold, see ops/activations.h"},

    {"ops\\.(maximum|fmax|fmin|relu6?|clip|celu)", "zeros",
     "which zero is the larger one depends on backend and dtype in Keras"},
    {"ops\\.add\\(a, 0\\.0\\)", "zeros", "canonicalize turns x + 0 into x"},

    {"ops\\.(log_sigmoid|softsign|squareplus|hard_shrink|softmax|log_softmax)\\(.* a: u?int",
     "numbers", in_integers},
    {"ops\\.hard_tanh\\(a\\)  a: uint8", "numbers", "JAX wraps the limit -1"},
    {"ops\\.(relu6|soft_shrink|hard_shrink)\\(.* a: (bool|uint8)", "dtype",
     "TensorFlow keeps integers; JAX, where it refuses, makes floats of them"},
    {"ops\\.batch_normalization\\(.* a: u?int", "numbers",
     "TensorFlow makes integers of the statistics; here the result alone is one"},
    {"ops\\.batch_normalization\\(a, np.* a: bool", "dtype",
     "of float64 constants JAX makes float32, unless 64-bit types are turned on"},
    {"ops\\.batch_normalization\\(a, b, c.* a: float(32|64).* b: float(16|32)", "numbers",
     "statistics are widened before they are used, not after"},
    {"ops\\.psnr\\(a, b.* a: b?float16", "numbers", "JAX takes the logarithm in 16 bits"},
    {"ops\\.squareplus\\(.* a: b?float", "numbers",
     "x + sqrt(x² + b) without its cancellation, which leaves 0 or NaN of large negative x"},
    {"ops\\.saturate_cast\\(a, '(float|bfloat)", "numbers",
     "the limits of the float wrap in the integer"},
    {"ops\\.floor_divide\\(a, -0\\.0\\)", "numbers", "TensorFlow loses the sign of the number"},
    {"ops\\.floor_divide\\(a, b\\)  a: u?int", "numbers", "an integer divided by 0 is 0"},
    {"ops\\.isclose\\(a, b, 1\\.0, 0\\.5.* a: float16", "numbers", "int32 beyond float16"},
    {"ops\\.in_top_k\\(np", "numbers", "a target that is no class is not among the largest"},
    {"ops\\.in_top_k\\(a, b, 2\\)  a: int32\\[2\\] index  b: float32\\[2, 0\\]", "numbers",
     "a target that is no class is not among the largest"},
    {"ops\\.multi_hot\\(a, 3\\)  a: float32\\[4, 0\\]", "numbers", "no index makes no class hot"},
    {"ops\\.(nan)?cumsum\\(a, axis=1\\)  a: bfloat16", "numbers", "sums are rounded elsewhere"},
    {"ops\\.sinc\\(a\\)  a: float16", "numbers", "the sine of a large angle in 16 bits"},
    {"ops\\.top_k\\(a, 2\\)  a: b?float\\d+\\[2, 6\\] nans", "numbers",
     "NaN comes last, on JAX first, on TensorFlow anywhere"},
    {"ops\\.select\\(\\[a\\], \\[b\\], 2\\.5\\).* b: int64", "dtype",
     "float64 on both, though Keras declares no such dtype for int64 beside a number"},

    {"ops\\.(diagonal\\(a, offset=-2\\)|split\\(a, \\[1\\]\\))", "inferred",
     "sizes that depend on an unknown one are inferred by other rules"},

    {"ops\\.(nanmax|nanmin|ptp)", "refused", of_nothing},
    {"ops\\.norm\\(a, ord=float\\('inf'\\), axis=0\\)  a: \\w+\\[0", "refused", of_nothing},
    {"ops\\.pad\\(.*mode='edge'", "refused", "Keras documents no such mode, JAX alone has it"},
    {"ops\\.(take|take_along_axis)", "refused", no_index},
    {"ops\\.norm\\(a, ord=(2|-2|'nuc')", "refused", "needs a singular value decomposition"},
    {"ops\\.pad\\(.*mode='(reflect|symmetric)'", "refused", "reflects once, as TensorFlow does"},
    {"ops\\.unstack", "refused", "`num` is not the size of the axis, or there is nothing to give"},
    {"ops\\.where\\(a\\)", "refused", "the shape depends on the data"},
    {"a\\[True\\]", "refused", "indices that are bools are not supported"},

    {"ops\\.(argsort|normalize)\\(a\\)  a: \\w+\\[\\]", "accepted", "a scalar counts as a row"},
    {"ops\\.split", "accepted",
     "Keras fails at sections beyond the axis, which NumPy leaves empty"},
};

}  // namespace keratin
