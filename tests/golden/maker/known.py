"""Where another backend is known to differ from TensorFlow, which made the files, and why."""

ONE_CELL = "JAX cannot run an RNN over one cell in a list"
NO_64_BITS = "JAX has no 64-bit types unless they are enabled"
HALVES = "16-bit products are rounded elsewhere"
FIRST_STATE = ("for masked steps before any other, JAX gives the first state, TensorFlow and "
               "Keras 2 zeros; a cell's output need not be its state")

# By backend: patterns of what --check prints, and the cause.
DIFFERENCES = {
    "jax": [
        (r"initializers\.json\[.*\.facts", "every backend draws random numbers of its own"),
        (r"layers/RNN\.json\[one cell in a list\]", ONE_CELL),
        (r"models/recurrent_cells\.json", ONE_CELL),
        (r"layers/MultiHeadAttention\.json\[value dim\]",
         "JAX cannot run attention whose value_dim is not key_dim"),
        (r"operations\.json\[ops\.norm\(.*axis=", "Keras hands JAX the axis of ops.norm in a list"),
        (r"layers/(Dense|Conv[123]D)\.json\[(lora, )?float64\]", NO_64_BITS),
        (r"layers/Normalization\.json\[adapted.*\.weights\[count\]", NO_64_BITS),
        (r"layers/(SimpleRNN|GRU|LSTM)\.json\[mask given, initial state\]", FIRST_STATE),
        (r"layers/(SimpleRNN|GRU|LSTM)\.json\[stateful, sequences, masked\]", FIRST_STATE),
        (r"models/mixed_precision\.json\.outputs", HALVES),
        (r"training\.json\[(mixed_b?float16|overflowing_float16)\]", HALVES),
        (r"training\.json\[double_precision\]", NO_64_BITS),
        (r"training\.json\[\w+\]\.optimizer_after\[0\]: int64", NO_64_BITS),
        (r"training\.json\[masked_sequence_outputs\]\..*(accuracy|crossentropy)",
         "in fit on JAX the mask of an output reaches its loss but not its metrics"),
        (r"training\.json\[stateful\]",
         "fit on JAX gives a stateful layer other losses; called by hand the layer agrees"),
        (r"errors\.json\[.*\]\.message: .*(tf\.Tensor|variable\.assign)",
         "the message quotes a tensor of the backend"),
        (r"errors\.json\[.*\]\.kind: 'InvalidArgumentError'",
         "the error is TensorFlow's own"),
    ],
}
