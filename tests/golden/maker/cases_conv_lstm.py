"""Cases of the convolutional recurrent layers."""

from keras import regularizers

from maker.spec import B, Case, F, layer

RIGHT, HOLES = "110 111", "101 010"  # 2 rows, 3 steps
SHORT = "10 01"
SEQUENCES = dict(return_sequences=True)
BOTH = SEQUENCES | dict(return_state=True)
FALSE = dict(training=False)


def masked(bits, *shape):
    return F(*shape, mask=bits)


def one_axis():
    """Every option once, on sequences of 3 steps with 5 positions and 2 channels."""
    shape = (2, 3, 5, 2)
    X = F(*shape)
    base = dict(filters=2, kernel_size=3)
    same = base | dict(padding="same")
    state = [F(2, 5, 2), F(2, 5, 2)]
    first = same | dict(data_format="channels_first")
    return [
        Case("plain", base, X),
        Case("same", same, X),
        Case("sequences and state, no bias", base | BOTH | dict(use_bias=False), X),
        Case("even kernel, same", dict(filters=2, kernel_size=(4,), padding="SAME"), X),
        Case("strides, same", same | dict(strides=(2,)) | BOTH, X),
        Case("dilation", base | dict(dilation_rate=2) | BOTH, X),
        Case("channels first, valid", first | BOTH | dict(padding="valid"), F(2, 3, 2, 5)),
        Case("channels first, strides", first | BOTH | dict(strides=2), F(2, 3, 2, 5)),
        Case("backwards", same | SEQUENCES | dict(go_backwards=True), X),
        Case("forget bias 0", base | dict(unit_forget_bias=False), X),
        Case("activations", base | dict(activation="relu", recurrent_activation="hard_sigmoid"), X),
        Case("layers as activations",
             base | dict(activation=layer("LeakyReLU", negative_slope=0.2),
                         recurrent_activation=layer("ReLU", max_value=1.0)), X),
        Case("dropouts, not training", base | dict(dropout=0.3, recurrent_dropout=1.5, seed=3), X,
             FALSE),
        Case("unrolled, masked", same | BOTH | dict(unroll=True), masked(HOLES, *shape)),
        Case("initial state", same | BOTH, X, dict(initial_state=state)),
        Case("masked, sequences and state", same | BOTH, masked(HOLES, *shape)),
        Case("masked, valid, backwards", base | BOTH | dict(go_backwards=True),
             masked(RIGHT, *shape)),
        Case("mask given", same | BOTH, X, dict(mask=B(HOLES))),
        Case("mask by position, strides", base | SEQUENCES | dict(strides=2), X,
             more=(None, B(HOLES))),
        Case("masked, initial state", same | BOTH, masked(HOLES, *shape),
             dict(initial_state=state)),
        Case("zeros for masked", same | BOTH | dict(zero_output_for_mask=True),
             masked(HOLES, *shape)),
        Case("a row all masked", base | BOTH, masked("000 110", *shape)),
        Case("stateful", same | dict(stateful=True), X, again=X),
        Case("stateful, masked", base | BOTH | dict(stateful=True), masked(RIGHT, *shape),
             again=masked(HOLES, *shape)),
        Case("one step", base | BOTH, F(2, 1, 5, 2)),
        Case("one position", same | BOTH, F(2, 2, 1, 2)),
        Case("half", base | BOTH | dict(dtype="mixed_float16"), X),
        Case("bfloat", base | dict(dtype="mixed_bfloat16"), X),
        Case("double", base | dict(dtype="float64"), X),
        Case("regularizers",
             base | dict(kernel_regularizer=regularizers.L2(0.1),
                         recurrent_regularizer=regularizers.L1(0.2),
                         bias_regularizer=regularizers.L2(0.3),
                         activity_regularizer=regularizers.L2(0.3)), X),
        Case("constraints",
             base | dict(kernel_constraint="non_neg", recurrent_constraint="max_norm",
                         bias_constraint="non_neg"), X),
    ]


def several_axes(*sizes):
    """Where more axes make a difference."""
    rank = len(sizes)
    shape = (2, 2) + sizes + (2,)
    base = dict(filters=2, kernel_size=2)
    uneven = dict(kernel_size=tuple(range(rank, 0, -1)))
    first = dict(data_format="channels_first")
    state = [F(2, *sizes, 2), F(2, *sizes, 2)]
    return [
        Case("plain", base, F(*shape)),
        Case("same, sequences and state", base | BOTH | dict(padding="same"), F(*shape)),
        Case("uneven kernel", base | uneven | SEQUENCES, F(*shape)),
        Case("strides", base | dict(strides=tuple(range(1, rank + 1)), padding="same"), F(*shape)),
        Case("dilation", base | dict(dilation_rate=tuple([2] + [1] * (rank - 1))), F(*shape)),
        Case("channels first", base | uneven | first | BOTH, F(2, 2, 2, *sizes)),
        Case("backwards, masked", base | BOTH | dict(go_backwards=True), masked(SHORT, *shape)),
        Case("initial state", base | dict(padding="same"), F(*shape), dict(initial_state=state)),
        Case("stateful", base | dict(stateful=True), F(*shape), again=F(*shape)),
    ]


CONV_LSTM = {
    "ConvLSTM1D": one_axis(),
    "ConvLSTM2D": several_axes(3, 4),
    "ConvLSTM3D": several_axes(3, 2, 2),
}


def both_ways(**args):
    return layer("ConvLSTM1D", filters=2, kernel_size=2, **args)


WRAPPED = {
    "Bidirectional": [
        Case("convolution", dict(layer=both_ways()), F(2, 3, 4, 2)),
        Case("convolution, sequences, masked", dict(layer=both_ways(**SEQUENCES)),
             masked(RIGHT, 2, 3, 4, 2)),
        Case("convolution, sequences and state, apart",
             dict(layer=both_ways(**BOTH), merge_mode=None), F(2, 3, 4, 2)),
        Case("convolution of two axes, channels first",
             dict(layer=layer("ConvLSTM2D", filters=2, kernel_size=2, padding="same",
                              data_format="channels_first", **SEQUENCES), merge_mode="sum"),
             F(2, 2, 2, 3, 3)),
        Case("convolution, initial state", dict(layer=both_ways(padding="same")), F(2, 3, 4, 2),
             dict(initial_state=[F(2, 4, 2)] * 4)),
    ],
    "TimeDistributed": [
        Case("convolutional lstm", dict(layer=both_ways(**SEQUENCES)), F(2, 2, 3, 4, 2)),
        Case("convolutional lstm, masked", dict(layer=both_ways()),
             F(2, 2, 3, 4, 2, mask="110,101 011,111")),
    ],
}
