"""Records losses: values and gradients for weights, masks and reductions."""

import itertools

import jax
import keras
import numpy as np
from keras import losses
from keras.src.losses.loss import squeeze_or_expand_to_same_rank

from maker import encode

REDUCTIONS = ["sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", None]
EPSILON = 1e-7


def numbers(rng, shape):
    return rng.normal(0, 2, shape), rng.normal(0, 2, shape)


def positive(rng, shape):
    return rng.uniform(0.5, 4, shape), rng.uniform(-0.2, 4, shape)


def signs(rng, shape):
    return rng.choice([-1, 1], shape), rng.normal(0, 1, shape)


def bits(rng, shape):
    return rng.integers(0, 2, shape), rng.normal(0, 1, shape)


def chances(rng, shape):
    """Binary labels, probabilities: some of them 0 and 1."""
    p = rng.uniform(0, 1, shape)
    p.flat[0], p.flat[-1] = 0, 1
    return rng.integers(0, 2, shape), p


def softmax(x):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


def one_hot(rng, shape):
    labels = rng.integers(0, shape[-1], shape[:-1])
    return np.eye(shape[-1])[labels], softmax(rng.normal(0, 1, shape))


def one_hot_logits(rng, shape):
    return one_hot(rng, shape)[0], rng.normal(0, 3, shape)


def distributions(rng, shape):
    return softmax(rng.normal(0, 1, shape)), softmax(rng.normal(0, 1, shape))


def labels(rng, shape):
    return rng.integers(0, shape[-1], shape[:-1]), 2 * softmax(rng.normal(0, 1, shape))


def labels_logits(rng, shape):
    return rng.integers(0, shape[-1], shape[:-1])[..., None], rng.normal(0, 3, shape)


def strange_labels(rng, shape):
    """Some are no class."""
    return rng.integers(-1, shape[-1] + 2, shape[:-1]), rng.normal(0, 3, shape)


def counts(rng, shape):
    return rng.poisson(2, shape), rng.uniform(0.1, 4, shape)


def embeddings(rng, shape):
    x = rng.normal(0, 1, shape)
    return rng.integers(0, 3, shape[:1]), x / np.linalg.norm(x, axis=-1, keepdims=True)


def edges(rng, shape):
    """Where formulas change over."""
    truth = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]])
    return truth, np.array([[0, 1, 0], [-1, 1, 2], [0.5, 0.5, 0.5], [1, -1, 0]])


def spoken(rng, shape):
    """Labels of unequal lengths with repetitions, scores over time."""
    batch, time, classes = shape
    rows = [[1, 1, 2, 0, 0], [3, 2, 2, 2, 1], [2, 0, 0, 0, 0], [1, 2, 3, 1, 2]]
    return np.array(rows)[:batch], rng.normal(0, 1, shape)


PLAIN, STEPS, IMAGE = (4, 3), (2, 3, 4), (2, 3, 3, 2)
# Class: configurations, each with data and its shape. The first is tried with every reduction and
# kind of weight, the others with each of these once.
CASES = {
    "MeanSquaredError": [({}, numbers, PLAIN), ({}, numbers, STEPS), ({}, edges, PLAIN)],
    "MeanAbsoluteError": [({}, numbers, PLAIN), ({}, numbers, STEPS), ({}, bits, PLAIN)],
    "MeanAbsolutePercentageError": [
        ({}, positive, PLAIN), ({}, positive, STEPS), ({}, numbers, PLAIN)],
    "MeanSquaredLogarithmicError": [
        ({}, positive, PLAIN), ({}, positive, STEPS), ({}, edges, PLAIN)],
    "CosineSimilarity": [
        ({}, numbers, PLAIN), ({}, numbers, STEPS), (dict(axis=1), numbers, STEPS)],
    "Huber": [
        ({}, numbers, PLAIN), (dict(delta=0.5), numbers, STEPS), (dict(delta=3.0), numbers, PLAIN),
        ({}, edges, PLAIN)],
    "LogCosh": [({}, numbers, PLAIN), ({}, numbers, STEPS), ({}, edges, PLAIN)],
    "Hinge": [({}, signs, PLAIN), ({}, bits, STEPS), ({}, edges, PLAIN), ({}, numbers, PLAIN)],
    "SquaredHinge": [
        ({}, signs, PLAIN), ({}, bits, STEPS), ({}, edges, PLAIN), ({}, numbers, PLAIN)],
    "CategoricalHinge": [
        ({}, one_hot, PLAIN), ({}, one_hot, STEPS), ({}, one_hot_logits, PLAIN),
        ({}, edges, PLAIN)],
    "KLDivergence": [
        ({}, distributions, PLAIN), ({}, distributions, STEPS), ({}, chances, PLAIN)],
    "Poisson": [({}, counts, PLAIN), ({}, counts, STEPS), ({}, distributions, PLAIN)],
    "BinaryCrossentropy": [
        ({}, chances, PLAIN), (dict(label_smoothing=0.2), chances, STEPS),
        (dict(from_logits=True), bits, STEPS),
        (dict(from_logits=True, label_smoothing=0.1, axis=1), bits, STEPS)],
    "BinaryFocalCrossentropy": [
        ({}, chances, PLAIN), (dict(from_logits=True, gamma=1.5), bits, STEPS),
        (dict(apply_class_balancing=True, alpha=0.6, gamma=3.0), chances, STEPS),
        (dict(label_smoothing=0.2, apply_class_balancing=True), chances, PLAIN)],
    "CategoricalCrossentropy": [
        ({}, one_hot, PLAIN), (dict(from_logits=True), one_hot_logits, STEPS),
        (dict(label_smoothing=0.3), one_hot, STEPS),
        (dict(from_logits=True, label_smoothing=0.1), one_hot_logits, PLAIN),
        (dict(axis=1), one_hot, STEPS), (dict(axis=1, from_logits=True), one_hot_logits, STEPS)],
    "CategoricalFocalCrossentropy": [
        ({}, one_hot, PLAIN), (dict(from_logits=True, gamma=1.0), one_hot_logits, STEPS),
        (dict(alpha=[0.1, 0.5, 0.4], label_smoothing=0.1), one_hot, PLAIN)],
    "SparseCategoricalCrossentropy": [
        ({}, labels, PLAIN), (dict(from_logits=True), labels_logits, STEPS),
        (dict(ignore_class=1), labels, STEPS),
        (dict(from_logits=True, ignore_class=-1), strange_labels, (6, 4)),
        (dict(from_logits=True), strange_labels, (6, 4)), ({}, strange_labels, (6, 4))],
    "CategoricalGeneralizedCrossEntropy": [
        ({}, labels, PLAIN), (dict(q=0.7), labels, STEPS), (dict(q=0.1), labels, PLAIN)],
    "Dice": [
        ({}, chances, IMAGE), (dict(axis=(1, 2, 3)), chances, IMAGE),
        (dict(axis=-1), chances, PLAIN),
        ({}, chances, PLAIN)],
    "Tversky": [
        ({}, chances, IMAGE), (dict(alpha=0.2, beta=0.8, axis=(1, 2)), chances, IMAGE),
        (dict(alpha=0.7, beta=0.3), chances, PLAIN), (dict(axis=-1), chances, PLAIN)],
    "Circle": [
        (dict(gamma=2.0), embeddings, (6, 4)), ({}, embeddings, (7, 5)),
        (dict(gamma=4.0, margin=0.2, remove_diagonal=False), embeddings, (8, 3))],
    "CTC": [({}, spoken, (4, 7, 5)), ({}, spoken, (2, 12, 4)), ({}, spoken, (3, 9, 6))],
}
KERAS_2 = ("MeanSquaredError", "SparseCategoricalCrossentropy", "CategoricalCrossentropy")


def weightings(rng, each):
    """Sample weights and masks that suit losses of this shape; a weight may be 0."""
    weight = rng.uniform(0, 2, each).astype("float32")
    mask = rng.uniform(0, 1, each) > 0.4
    if each:
        weight.flat[0], mask.flat[0], mask.flat[-1] = 0, False, True
    column = rng.uniform(0, 2, (each[0], *[1] * max(len(each) - 1, 1)) if each else ())
    return [
        (None, None),
        (weight, None),
        (None, mask),
        (weight, mask),
        (column.astype("float32"), None),
        (np.float32(0.3), None),
        (weight[..., None], mask) if each else (weight, None),
        (None, np.zeros_like(mask)),
    ]


def keras_2(loss, y_true, y_pred, weight, mask):
    """What Keras 2.2 makes of the losses of samples: a mean over those that count."""
    y_true, y_pred = squeeze_or_expand_to_same_rank(y_true, y_pred)
    score = loss.call(y_true, y_pred)
    own = encode.get_keras_mask(score)
    if own is not None:
        mask = own if mask is None else mask & own
    if mask is not None:
        valid = mask.astype("float32")
        score = score * valid / (valid.mean() + EPSILON)
    if weight is not None:
        score = score.mean(tuple(range(weight.ndim, score.ndim)))
        score = score * weight / (weight != 0).astype("float32").mean()
    return score.mean()


def call(loss, y_true, y_pred, weight, mask, dialect=None):
    def total(p):
        if dialect:
            value = keras_2(loss, keras.ops.convert_to_tensor(y_true), p, weight, mask)
        else:
            value = loss(y_true, encode.with_mask(p, mask), sample_weight=weight)
        return keras.ops.sum(value), value

    differentiated = jax.value_and_grad(total, has_aux=True)
    (_, value), gradient = differentiated(keras.ops.convert_to_tensor(y_pred))
    facts = dict(reduction=loss.reduction, value=value, gradient=gradient)
    options = dict(dialect=dialect, sample_weight=weight, mask=mask)
    facts |= {key: x for key, x in options.items() if x is not None}
    return encode.structure(facts)


def case(name, number, config, data, shape):
    rng = encode.generator("losses", name, str(number))
    y_true, y_pred = data(rng, shape)
    y_true, y_pred = y_true.astype("float32"), y_pred.astype("float32")
    make = lambda reduction: getattr(losses, name)(**config, reduction=reduction)
    each = np.asarray(make(None)(y_true, y_pred)).shape
    weights = weightings(rng, each)
    tries = [(REDUCTIONS[i % len(REDUCTIONS)], w) for i, w in enumerate(weights)]
    if number == 0:
        tries = list(itertools.product(REDUCTIONS, weights[:4])) + tries[4:]
    calls = [call(make(reduction), y_true, y_pred, *w) for reduction, w in tries]
    if name in KERAS_2:
        calls += [call(make("mean"), y_true, y_pred, *w, "keras2") for w in weights[:4]]
    lost = {key: value for key, value in config.items()
            if key not in make("sum").get_config()}
    return {
        "name": name,
        "config": encode.config(losses.serialize(make("sum_over_batch_size"))),
        "lost": lost,
        "y_true": encode.tensor(y_true),
        "y_pred": encode.tensor(y_pred),
        "calls": calls,
    }


def names():
    """How users may ask for a loss, and the class or function they get."""
    from keras.src.losses import ALL_OBJECTS_DICT

    return {name: found.__name__ for name, found in sorted(ALL_OBJECTS_DICT.items())
            if name not in ("Loss", "LossFunctionWrapper")}


def write(folder, only):
    if only is not None and "losses" not in only:
        return
    cases = [case(name, i, *c) for name, configs in CASES.items() for i, c in enumerate(configs)]
    encode.write(folder / "losses.json", {"names": names()} | {
        f"{c['name']} {i}": c for i, c in enumerate(cases)})
