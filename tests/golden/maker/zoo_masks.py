"""Models that show where masks go, and whole networks."""

from maker import custom
from maker.spec import F, Given
from maker.zoo import OTHER_WORDS, PADDED, WORDS, embedding, model, named, words


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
    """Embedding, a bidirectional LSTM, then a mean weighted by a masked softmax over time."""
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


@model(F(2, 6, 6, 2), train=True)
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


@model(F(3, 4), train=True)
def frozen_and_regularized(k):
    x = k.Input((4,), name="x")
    y = k.layers.Dense(3, trainable=False, name="frozen")(x)
    y = k.layers.BatchNormalization(name="norm")(y)
    y = k.layers.Dense(3, kernel_regularizer=k.regularizers.L2(0.1), name="penalized")(y)
    y = k.layers.ActivityRegularization(l1=0.2, name="activity")(y)
    return x, y


@model(F(3, 4), train=True)
def training_flag(k):
    """Normalisation with training=False: Keras 2 obeys, Keras 3 uses the flag of the model."""
    x = k.Input((4,), name="x")
    y = k.layers.BatchNormalization(name="norm")(x, training=False)
    return x, k.layers.Dense(2, name="out")(y)


@model(F(3, 4), train=True)
def training_flag_nested(k):
    x = k.Input((4,), name="inner_x")
    inner = k.Model(x, k.layers.BatchNormalization(name="norm")(x), name="inner")
    x = k.Input((4,), name="x")
    return x, k.layers.Dense(2, name="out")(inner(x, training=False))


@model(F(3, 4), keras2=False)
def mixed_precision(k):
    x = k.Input((4,), name="x")
    y = k.layers.Dense(3, activation="relu", dtype="mixed_bfloat16", name="hidden")(x)
    return x, k.layers.Dense(2, dtype="float32", name="out")(y)
