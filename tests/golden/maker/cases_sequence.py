"""Cases of the recurrent and attention layers."""

from keras import regularizers

from maker.spec import SAME, B, Case, F, Given, I, layer

RIGHT, LEFT, HOLES = "11100 11111", "00111 00001", "10101 01010"  # 2 rows, 5 steps
X = F(2, 5, 3)
SEQUENCES, STATE = dict(return_sequences=True), dict(return_state=True)
BOTH = SEQUENCES | STATE
ZEROS = dict(zero_output_for_mask=True)
FALSE = dict(training=False)


def masked(mask, features=3):
    return F(2, 5, features, mask=mask)


def recurrent(states, **own):
    """What all recurrent layers have in common; `states` is the number of their states."""
    units = dict(units=4)
    initial = dict(initial_state=[F(2, 4)] * states if states > 1 else F(2, 4))
    return [
        Case("plain", units, X),
        Case("sequences", units | SEQUENCES, X),
        Case("state", units | STATE, X),
        Case("sequences and state", units | BOTH, X),
        Case("backwards", units | dict(go_backwards=True), X),
        Case("backwards, sequences", units | SEQUENCES | dict(go_backwards=True), X),
        Case("no bias", units | dict(use_bias=False), X),
        Case("relu", units | dict(activation="relu"), X),
        Case("dropouts, not training", units | dict(dropout=0.3, recurrent_dropout=0.4), X, FALSE),
        Case("unrolled", units | BOTH | dict(unroll=True), X),
        Case("unrolled, masked", units | BOTH | dict(unroll=True), masked(HOLES)),
        Case("initial state", units | BOTH, X, initial),
        Case("initial state, list", units, X, dict(initial_state=[F(2, 4)] * states)),
        Case("padded right", units, masked(RIGHT)),
        Case("padded right, sequences and state", units | BOTH, masked(RIGHT)),
        Case("padded left, sequences", units | SEQUENCES, masked(LEFT)),
        Case("holes, sequences and state", units | BOTH, masked(HOLES)),
        Case("a row all masked", units | BOTH, masked("00000 11000")),
        Case("mask given", units | BOTH, X, dict(mask=B(HOLES))),
        Case("masked, backwards", units | BOTH | dict(go_backwards=True), masked(RIGHT)),
        # Given a state, Keras 3 does not see the mask of the sequence; a mask argument it does.
        Case("masked, initial state", units | BOTH, masked(HOLES), initial),
        Case("mask given, initial state", units | BOTH, X, initial | dict(mask=B(HOLES))),
        Case("zeros for masked", units | BOTH | ZEROS, masked(HOLES)),
        Case("zeros for masked, last step", units | ZEROS, masked(RIGHT)),
        Case("zeros for masked, backwards", units | BOTH | ZEROS | dict(go_backwards=True),
             masked(RIGHT)),
        Case("stateful", units | dict(stateful=True), X, again=X),
        Case("stateful, sequences, masked", units | BOTH | dict(stateful=True), masked(RIGHT),
             again=masked(HOLES)),
        Case("one step", units | BOTH, F(2, 1, 3)),
        Case(
            "regularizers",
            units | dict(kernel_regularizer=regularizers.L2(0.1),
                         recurrent_regularizer=regularizers.L1(0.2),
                         activity_regularizer=regularizers.L2(0.3)),
            X,
        ),
    ] + [Case(name, units | args, X) for name, args in own.items()]


def cell(states, **own):
    call = dict(states=[F(2, 4)] * states if states > 1 else F(2, 4))
    given = lambda **args: dict(units=4) | args
    return [
        Case("plain", given(), F(2, 3), call),
        Case("no bias", given(use_bias=False), F(2, 3), call),
        Case("sigmoid", given(activation="sigmoid"), F(2, 3), call),
        Case("dropouts, not training", given(dropout=0.3, recurrent_dropout=0.4), F(2, 3),
             call | FALSE),
    ] + [Case(name, given(**args), F(2, 3), call) for name, args in own.items()]


RESET_BEFORE = {
    "reset before": dict(reset_after=False),
    "reset before, no bias": dict(reset_after=False, use_bias=False),
}
HARD = {"hard sigmoid": dict(recurrent_activation="hard_sigmoid")}
SIMPLE, LSTM, GRU = (layer(name, units=4) for name in ("SimpleRNNCell", "LSTMCell", "GRUCell"))
STACK = [layer("LSTMCell", units=3), layer("GRUCell", units=4)]
STACKED = layer("StackedRNNCells", cells=STACK)
STACK_STATES = [[F(2, 3), F(2, 3)], F(2, 4)]

BENDS = dict(
    units=4,
    activation=layer("LeakyReLU", negative_slope=0.2),
    recurrent_activation=layer("ReLU", max_value=1.0),
)

RECURRENT = {
    "SimpleRNN": recurrent(1),
    "LSTM": recurrent(2, **HARD, **{"forget bias 0": dict(unit_forget_bias=False)})
    + [
        Case("layers as activations", BENDS, X),
        Case("mask by position", dict(units=4) | SEQUENCES, X, more=(None, B(HOLES))),
    ],
    "GRU": recurrent(1, **HARD, **RESET_BEFORE)
    + [Case("reset before, masked", dict(units=4, reset_after=False) | BOTH, masked(HOLES))],
    "SimpleRNNCell": cell(1) + [
        Case("layer as activation", dict(units=4, activation=layer("PReLU")), F(2, 3),
             dict(states=F(2, 4))),
    ],
    "LSTMCell": cell(2, **HARD),
    "GRUCell": cell(1, **HARD, **RESET_BEFORE),
    "RNN": [
        Case("simple", dict(cell=SIMPLE), X),
        Case("lstm", dict(cell=LSTM) | BOTH, X),
        Case("gru, masked", dict(cell=GRU) | BOTH, masked(HOLES)),
        Case("gru, zeros for masked", dict(cell=GRU) | BOTH | ZEROS, masked(HOLES)),
        Case("lstm, backwards", dict(cell=LSTM, go_backwards=True) | SEQUENCES, masked(RIGHT)),
        Case("lstm, initial state", dict(cell=LSTM), X, dict(initial_state=[F(2, 4)] * 2)),
        Case("lstm, stateful", dict(cell=LSTM, stateful=True), X, again=X),
        Case("list of cells", dict(cell=STACK), X),
        Case("list of cells, all returned", dict(cell=STACK) | BOTH, masked(RIGHT)),
        Case("stacked", dict(cell=STACKED) | BOTH, X),
        Case("stacked, initial state", dict(cell=STACKED) | BOTH, X,
             dict(initial_state=STACK_STATES)),
        Case("one cell in a list", dict(cell=[GRU]) | SEQUENCES, X),
        Case("unrolled", dict(cell=GRU, unroll=True) | BOTH, masked(LEFT)),
    ],
    "StackedRNNCells": [
        Case("two", dict(cells=STACK), F(2, 3), dict(states=STACK_STATES)),
        Case("one", dict(cells=[SIMPLE]), F(2, 3), dict(states=[F(2, 4)])),
        Case("three", dict(cells=[SIMPLE, GRU, LSTM]), F(2, 3),
             dict(states=[F(2, 4), F(2, 4), [F(2, 4), F(2, 4)]])),
    ],
}


def both_ways(cls="LSTM", **args):
    return layer(cls, units=3, **args)


RECURRENT["Bidirectional"] = [
    case
    for mode in ("concat", "sum", "mul", "ave", None)
    for case in (
        Case(f"{mode}", dict(layer=both_ways(), merge_mode=mode), X),
        Case(f"{mode}, sequences", dict(layer=both_ways(**SEQUENCES), merge_mode=mode), X),
        Case(f"{mode}, sequences, masked",
             dict(layer=both_ways("GRU", **SEQUENCES), merge_mode=mode), masked(RIGHT)),
    )
] + [
    Case("masked", dict(layer=both_ways()), masked(HOLES)),
    Case("mask by position", dict(layer=both_ways()), X, more=(None, B(HOLES))),
    Case("single within half", dict(layer=both_ways(), dtype="mixed_float16"), X),
    Case("state", dict(layer=both_ways(**STATE)), X),
    Case("sequences and state", dict(layer=both_ways(**BOTH)), masked(RIGHT)),
    Case("sequences and state, apart", dict(layer=both_ways(**BOTH), merge_mode=None), X),
    Case("gru, state", dict(layer=both_ways("GRU", **BOTH)), X),
    Case("zeros for masked", dict(layer=both_ways(**SEQUENCES, **ZEROS)), masked(HOLES)),
    Case("initial state", dict(layer=both_ways(**BOTH)), X, dict(initial_state=[F(2, 3)] * 4)),
    Case("initial state, gru, masked", dict(layer=both_ways("GRU", **SEQUENCES)), masked(LEFT),
         dict(initial_state=[F(2, 3)] * 2)),
    Case("initial state, mask given", dict(layer=both_ways("GRU", **SEQUENCES)), X,
         dict(initial_state=[F(2, 3)] * 2, mask=B(LEFT))),
    Case("own backward layer",
         dict(layer=both_ways(**SEQUENCES),
              backward_layer=layer("LSTM", units=3, activation="relu", go_backwards=True,
                                   **SEQUENCES)), X),
    Case("other backward layer",
         dict(layer=both_ways(), backward_layer=layer("GRU", units=5, go_backwards=True)), X),
    Case("stateful", dict(layer=both_ways(stateful=True)), X, again=X),
    Case("rnn of a cell", dict(layer=layer("RNN", cell=LSTM, **SEQUENCES)), masked(RIGHT)),
    Case("mask given", dict(layer=both_ways("SimpleRNN", **SEQUENCES)), X, dict(mask=B(HOLES))),
]

DENSE = layer("Dense", units=3)
TRAIN = dict(training=True)
CONV = layer("Conv2D", filters=3, kernel_size=2)
RECURRENT["SpectralNormalization"] = [
    Case("not training", dict(layer=DENSE), F(2, 4)),
    Case("training", dict(layer=DENSE), F(2, 4), TRAIN, again=F(2, 4)),
    Case("three iterations", dict(layer=DENSE, power_iterations=3), F(2, 3, 4), TRAIN),
    Case("Conv2D", dict(layer=CONV), F(2, 4, 3, 2), TRAIN),
    Case("DepthwiseConv2D", dict(layer=layer("DepthwiseConv2D", kernel_size=2)), F(2, 4, 3, 2),
         TRAIN),
    Case("EinsumDense",
         dict(layer=layer("EinsumDense", equation="abc,cde->abde", output_shape=(None, 2, 3))),
         F(2, 3, 4), TRAIN),
    Case("Embedding gives whole numbers", dict(layer=layer("Embedding", input_dim=5, output_dim=3)),
         I(2, 3, below=5), TRAIN),
    Case("Embedding of floats", dict(layer=layer("Embedding", input_dim=5, output_dim=3)),
         Given([[1, 2, 4], [0, 3, 3]]), TRAIN),
    Case("zeros", dict(layer=layer("Dense", units=3, kernel_initializer="zeros")), F(2, 4), TRAIN,
         noise=False),
    Case("mask", dict(layer=DENSE), F(2, 4, 3, mask="1110 1000"), TRAIN),
    Case("regularizer",
         dict(layer=layer("Dense", units=3, kernel_regularizer=regularizers.L2(0.1))), F(2, 4),
         TRAIN),
    Case("frozen layer", dict(layer=layer("Dense", units=3, trainable=False)), F(2, 4), TRAIN),
    Case("frozen", dict(layer=DENSE, trainable=False), F(2, 4), TRAIN),
    Case("mixed_float16",
         dict(layer=layer("Dense", units=3, dtype="mixed_float16"), dtype="mixed_float16"),
         F(2, 4)),
    Case("float64", dict(layer=layer("Dense", units=3, dtype="float64"), dtype="float64"),
         F(2, 4, dtype="float64"), TRAIN),
]
RECURRENT["TimeDistributed"] = [
    Case("dense", dict(layer=DENSE), F(2, 4, 3)),
    Case("dense, four axes", dict(layer=DENSE), F(2, 4, 2, 3)),
    Case("convolution", dict(layer=layer("Conv2D", filters=2, kernel_size=2)), F(2, 3, 4, 4, 2)),
    Case("masked", dict(layer=DENSE), F(2, 4, 3, mask="1110 1000")),
    Case("mask given", dict(layer=DENSE), F(2, 4, 3), dict(mask=B("1010 0011"))),
    Case("lstm", dict(layer=layer("LSTM", units=2)), F(2, 3, 4, 2)),
    Case("lstm, sequences, masked", dict(layer=layer("LSTM", units=2, **SEQUENCES)),
         F(2, 2, 4, 3, mask="1110,1100 1000,1111")),
    Case("embedding", dict(layer=layer("Embedding", input_dim=5, output_dim=2, mask_zero=True)),
         I(2, 3, 4, below=3)),
    Case("nested", dict(layer=layer("TimeDistributed", layer=DENSE)), F(2, 3, 2, 4)),
    Case("flatten", dict(layer=layer("Flatten")), F(2, 3, 2, 2)),
    Case("batch normalization", dict(layer=layer("BatchNormalization")), F(2, 4, 3)),
    Case("batch normalization, training", dict(layer=layer("BatchNormalization")), F(2, 4, 3),
         dict(training=True)),
    Case("dropout, not training", dict(layer=layer("Dropout", rate=0.5)), F(2, 4, 3), FALSE),
    Case("along the batch", dict(layer=layer("Softmax", axis=0)), F(2, 4, 3)),
    Case("mask by position", dict(layer=DENSE), F(2, 4, 3), more=(None, B("1010 0011"))),
    Case("half within single", dict(layer=layer("Dense", units=2, dtype="mixed_float16")),
         F(2, 4, 3)),
    Case("single within half", dict(layer=DENSE, dtype="mixed_float16"), F(2, 4, 3)),
    Case("bfloat within half",
         dict(layer=layer("Dense", units=2, dtype="mixed_bfloat16"), dtype="mixed_float16"),
         F(2, 4, 3)),
    Case("lstm, half within single", dict(layer=layer("LSTM", units=2, dtype="mixed_float16")),
         F(2, 3, 4, 2)),
]

Q, V, K = F(2, 3, 4), F(2, 5, 4), F(2, 5, 4)
QM, VM, KM = (F(*x.shape, mask=m) for x, m in ((Q, "110 011"), (V, RIGHT), (K, LEFT)))
CAUSAL, SCORES = dict(use_causal_mask=True), dict(return_attention_scores=True)
SELF = F(2, 4, 3, mask="1110 1001")


def plain_attention(use_scale, **own):
    return [
        Case("query and value", {}, [Q, V]),
        Case("query, value and key", {}, [Q, V, K]),
        Case("scale switched", dict(use_scale=use_scale), [Q, V]),
        Case("scores", {}, [Q, V], SCORES),
        Case("causal", {}, [Q, V], CAUSAL),
        Case("causal, longer query", {}, [V, Q], CAUSAL | SCORES),
        Case("masks given", {}, [Q, V], dict(mask=[B("110 011"), B(RIGHT)])),
        Case("value mask given", {}, [Q, V, K], dict(mask=[None, B(HOLES)]) | SCORES),
        Case("masks attached", {}, [QM, VM]),
        Case("masks attached, three", {}, [QM, VM, KM]),
        Case("value mask attached", {}, [Q, VM]),
        Case("query mask attached", {}, [QM, V]),
        Case("masks and causal", {}, [QM, VM], CAUSAL | SCORES),
        Case("dropout, not training", dict(dropout=0.5), [Q, V], FALSE),
        Case("all values masked", {}, [Q, F(2, 5, 4, mask="00000 11000")]),
    ] + [Case(name, args, [Q, V], kwargs) for name, (args, kwargs) in own.items()]


def heads(args, **own):
    """Cases of the two layers with several heads, called with query, value and maybe key."""
    value, key = dict(value=V), dict(value=V, key=K)
    return [
        Case("query and value", args, Q, value),
        Case("query, value and key", args, Q, key),
        Case("self", args, F(2, 4, 3), dict(value=SAME)),
        Case("scores", args, Q, value | SCORES),
        Case("no bias", args | dict(use_bias=False), Q, value),
        Case("causal", args, Q, value | CAUSAL | SCORES),
        Case("attention mask", args, Q,
             value | dict(attention_mask=B("11001,10101,00111 11111,01000,10001")) | SCORES),
        Case("masks given", args, Q, value | dict(query_mask=B("110 011"), value_mask=B(RIGHT))),
        Case("key mask given", args, Q, key | dict(key_mask=B(HOLES)) | SCORES),
        Case("value and key masks given", args, Q,
             key | dict(value_mask=B(RIGHT), key_mask=B(HOLES)) | SCORES),
        Case("a mask attached and another given", args, QM,
             dict(value=VM, value_mask=B(HOLES)) | SCORES),
        Case("query masks attached and given", args, QM,
             value | dict(query_mask=B("011 101")) | SCORES),
        Case("every mask", args, QM,
             dict(value=VM, key=KM, attention_mask=B("11011,10111,01111 11111,01101,11001"))
             | CAUSAL | SCORES),
        Case("attention mask for all rows", args, Q,
             value | dict(attention_mask=B("11001,10101,00111")) | SCORES),
        Case("masks attached", args, QM, dict(value=VM) | SCORES),
        Case("masks attached, three", args, QM, dict(value=VM, key=KM) | SCORES),
        Case("value mask attached", args, Q, dict(value=VM)),
        Case("self, masked, causal", args, SELF, dict(value=SAME) | CAUSAL | SCORES),
        Case("window", args | dict(sliding_window=2), F(2, 5, 4), value | SCORES),
        Case("window, causal", args | dict(sliding_window=2), F(2, 5, 4), value | CAUSAL | SCORES),
        Case("gate", args | dict(use_gate=True), Q, value),
        Case("dropout, not training", args | dict(dropout=0.5), Q, value | FALSE),
        Case("regularizers", args | dict(kernel_regularizer=regularizers.L2(0.1),
                                         bias_regularizer=regularizers.L1(0.1)), Q, value),
        Case("other features", args, F(2, 3, 4), dict(value=F(2, 5, 6), key=F(2, 5, 3))),
    ] + [Case(name, args | more, x, kwargs) for name, (more, x, kwargs) in own.items()]


IMAGE = F(2, 3, 2, 4)
ATTENTION = {
    "Attention": plain_attention(
        use_scale=True,
        **{
            "concat": (dict(score_mode="concat"), SCORES),
            "concat, scale": (dict(score_mode="concat", use_scale=True), {}),
        },
    ),
    "AdditiveAttention": plain_attention(use_scale=False),
    "MultiHeadAttention": heads(
        dict(num_heads=2, key_dim=3),
        **{
            "value dim": (dict(value_dim=5), Q, dict(value=V)),
            "output shape": (dict(output_shape=6), Q, dict(value=V)),
            "output of two axes": (dict(output_shape=(2, 3)), Q, dict(value=V)),
            "attention axes": (dict(attention_axes=(2,)), IMAGE, dict(value=IMAGE)),
            "two attention axes": (dict(attention_axes=(1, 2)), IMAGE, dict(value=IMAGE) | SCORES),
            "one head": (dict(num_heads=1), Q, dict(value=V)),
        },
    ),
    "GroupQueryAttention": heads(
        dict(head_dim=3, num_query_heads=4, num_key_value_heads=2),
        **{
            "one key head": (dict(num_key_value_heads=1), Q, dict(value=V)),
            "as many key heads": (dict(num_key_value_heads=4), Q, dict(value=V) | SCORES),
        },
    ),
}

CASES = RECURRENT | ATTENTION
