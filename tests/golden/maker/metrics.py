"""Records metrics over twenty batches: results after each, and the last state."""

import keras
import numpy as np
from keras import losses, metrics

from maker import encode

BATCHES = 20
REPORTED = (0, 4, 9, 19)


def softmax(x):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


def one_hot(labels, classes):
    return np.eye(classes, dtype="uint8")[labels]


def leaning(rng, truth, noise=0.3):
    """Probabilities that know something of the truth; some are 0, 1 or on a threshold."""
    p = np.clip(0.3 + 0.4 * truth + rng.normal(0, noise, truth.shape), 0, 1)
    return np.where(rng.uniform(size=p.shape) < 0.1, 0.5, p)


def chances(*shape):
    def draw(rng):
        truth = rng.integers(0, 2, (BATCHES, *shape)).astype("uint8")
        return truth, leaning(rng, truth)
    return draw


def logits(*shape):
    def draw(rng):
        truth = rng.integers(0, 2, (BATCHES, *shape)).astype("uint8")
        return truth, truth + rng.normal(0, 1, truth.shape)
    return draw


def classes(*shape, sparse=False, scores=False, column=False):
    def draw(rng):
        labels = rng.integers(0, shape[-1], (BATCHES, *shape[:-1]))
        truth = one_hot(labels, shape[-1])
        guess = 2 * truth + rng.normal(0, 1.5, truth.shape)
        labels = (labels[..., None] if column else labels).astype("int32")
        return labels if sparse else truth, guess if scores else softmax(guess)
    return draw


def numbers(*shape, low=-3.0):
    def draw(rng):
        truth = np.maximum(rng.normal(1, 2, (BATCHES, *shape)), low)
        return truth.astype("float32"), np.maximum(truth + rng.normal(0, 1, truth.shape), low)
    return draw


def signs(*shape):
    def draw(rng):
        truth = rng.choice([-1, 1], (BATCHES, *shape)).astype("int8")
        return truth, truth + rng.normal(0, 1.5, truth.shape)
    return draw


def labels(*shape, below):
    """Pairs of classes, some of them out of range."""
    def draw(rng):
        truth = rng.integers(0, below + 1, (BATCHES, *shape)).astype("int32")
        other = rng.integers(-1, below, truth.shape).astype("int32")
        return truth, np.where(rng.uniform(size=truth.shape) < 0.6, truth, other)
    return draw


def ranked(rows, many):
    def draw(rng):
        ids = np.stack([[rng.permutation(many) for _ in range(rows)] for _ in range(BATCHES)])
        return rng.integers(0, many, (BATCHES, rows)).astype("int32"), ids.astype("int32")
    return draw


# The data, and the shape of a sample's weight in it.
DATA = {
    "chance": (chances(6), (6,)),
    "chance column": (chances(6, 1), (6,)),
    "chances": (chances(6, 3), (6,)),
    "chances each": (chances(6, 3), (6, 3)),
    "chances in steps": (chances(3, 4, 2), (3, 4)),
    "logits": (logits(6, 3), (6,)),
    "classes": (classes(6, 4), (6,)),
    "classes in steps": (classes(3, 4, 4), (3, 4)),
    "class scores": (classes(6, 4, scores=True), (6,)),
    "sparse": (classes(6, 4, sparse=True), (6,)),
    "sparse column": (classes(6, 4, sparse=True, column=True), (6, 1)),
    "sparse in steps": (classes(3, 4, 7, sparse=True), (3, 4)),
    "sparse scores": (classes(6, 4, sparse=True, scores=True), (6,)),
    "numbers": (numbers(6, 3), (6,)),
    "numbers in steps": (numbers(3, 4, 4), (3, 4)),
    "numbers each": (numbers(6, 3), (6, 3)),
    "positive": (numbers(6, 3, low=0.1), (6,)),
    "line": (numbers(6), (6,)),
    "signs": (signs(6, 3), (6,)),
    "labels": (labels(8, below=3), (8,)),
    "label maps": (labels(2, 3, 3, below=3), (2, 3, 3)),
    "class maps": (classes(2, 3, 3, 3), (2, 3, 3)),
    "sparse class maps": (classes(2, 3, 3, 3, sparse=True), (2, 3, 3)),
    "ranked": (ranked(6, 5), (6,)),
}

EVEN = [i / 4 for i in range(5)]
COUNTS = [({}, "chance"), (dict(thresholds=0.3), "chance column"),
          (dict(thresholds=[0.2, 0.5, 0.7]), "chances"), (dict(thresholds=EVEN), "chances each"),
          ({}, "chances in steps")]
RATES = COUNTS + [
    (dict(top_k=2), "classes"), (dict(class_id=1), "classes"),
    (dict(top_k=2, class_id=2, thresholds=[0.1, 0.4]), "classes"),
    (dict(thresholds=EVEN, class_id=0), "chances")]
PLAIN, REGRESSION = [({}, "classes"), ({}, "classes in steps")], ["numbers", "numbers in steps"]


def at(name):
    return [({name: 0.5}, "chance"), ({name: 0.8, "num_thresholds": 1}, "chances"),
            ({name: 0.4, "num_thresholds": 11}, "chances each"),
            ({name: 0.7, "class_id": 1, "num_thresholds": 20}, "chances")]


def scores(**more):
    return [(dict(more), "classes"), (dict(average="micro", **more), "chances"),
            (dict(average="macro", threshold=0.5, **more), "chances"),
            (dict(average="weighted", threshold=0.25, **more), "classes")]


def curves():
    plain = dict(num_thresholds=21)
    yield {}, "chance"
    for curve in ("ROC", "PR", "PRGAIN"):
        for method in ("interpolation", "minoring", "majoring"):
            yield plain | dict(curve=curve, summation_method=method), "chances"
    yield dict(thresholds=[0.7, 0.1, 0.4]), "chances"
    yield dict(thresholds=[0.25, 0.75, 0.5], curve="PR"), "chances each"
    yield plain | dict(from_logits=True), "logits"
    yield plain | dict(label_weights=[0.5, 0.25, 2.0]), "chances"
    yield dict(thresholds=[0.2, 0.3], label_weights=[0.5, 0.25, 2.0]), "chances"
    yield plain | dict(multi_label=True), "chances"
    yield plain | dict(multi_label=True, num_labels=3, curve="PR"), "chances each"
    yield plain | dict(multi_label=True, label_weights=[0.5, 0.25, 2.0]), "chances"
    yield plain | dict(multi_label=True, label_weights=[0.5, 0.25, 2.0], curve="PR"), "chances"
    yield dict(thresholds=[0.2, 0.6], multi_label=True, from_logits=True), "logits"


CASES = {
    "Mean": [({}, "numbers"), ({}, "numbers in steps"), ({}, "line"), ({}, "numbers each")],
    "Sum": [({}, "numbers"), ({}, "numbers in steps"), ({}, "line"), ({}, "numbers each")],
    "MeanMetricWrapper": [
        (dict(fn=losses.huber, delta=2.0, name="h"), "numbers"),
        (dict(fn=metrics.binary_accuracy, threshold=0.4, name="b"), "chances"),
        (dict(fn=losses.sparse_categorical_crossentropy, ignore_class=1, name="s"), "sparse")],
    "Accuracy": [({}, "labels"), ({}, "label maps")],
    "BinaryAccuracy": [({}, "chances"), (dict(threshold=0.3), "chance column"), ({}, "chance")],
    "CategoricalAccuracy": PLAIN,
    "SparseCategoricalAccuracy": [
        ({}, "sparse"), ({}, "sparse column"), ({}, "sparse in steps")],
    "TopKCategoricalAccuracy": [
        (dict(k=2), "classes"), (dict(k=1), "classes in steps"), ({}, "class scores")],
    "SparseTopKCategoricalAccuracy": [
        (dict(k=2), "sparse"), ({}, "sparse in steps"), (dict(k=3), "sparse column"),
        (dict(k=2, from_sorted_ids=True), "ranked")],
    "BinaryCrossentropy": [
        ({}, "chances"), (dict(from_logits=True, label_smoothing=0.1), "logits")],
    "CategoricalCrossentropy": [
        ({}, "classes"), (dict(from_logits=True, label_smoothing=0.2), "class scores"),
        (dict(axis=1), "classes in steps")],
    "SparseCategoricalCrossentropy": [
        ({}, "sparse in steps"), (dict(from_logits=True, ignore_class=2), "sparse scores"),
        ({}, "sparse column")],
    "KLDivergence": PLAIN,
    "Poisson": [({}, "positive"), ({}, "chances")],
    "Hinge": [({}, "signs"), ({}, "logits")],
    "SquaredHinge": [({}, "signs"), ({}, "logits")],
    "CategoricalHinge": PLAIN,
    "MeanSquaredError": [({}, data) for data in REGRESSION],
    "MeanAbsoluteError": [({}, data) for data in REGRESSION],
    "MeanAbsolutePercentageError": [({}, "positive"), ({}, "numbers in steps")],
    "MeanSquaredLogarithmicError": [({}, "positive"), ({}, "numbers in steps")],
    "RootMeanSquaredError": [({}, data) for data in REGRESSION],
    "LogCoshError": [({}, data) for data in REGRESSION],
    "CosineSimilarity": [({}, "numbers"), (dict(axis=1), "numbers in steps")],
    "PearsonCorrelation": [({}, "numbers"), (dict(axis=1), "numbers in steps")],
    "ConcordanceCorrelation": [({}, "numbers"), (dict(axis=1), "numbers in steps")],
    "R2Score": [
        ({}, "numbers"), (dict(class_aggregation=None), "numbers"),
        (dict(class_aggregation="variance_weighted_average", num_regressors=3), "numbers"),
        (dict(num_regressors=40), "numbers"), ({}, "numbers each")],
    "TruePositives": COUNTS,
    "TrueNegatives": COUNTS,
    "FalsePositives": COUNTS,
    "FalseNegatives": COUNTS,
    "Precision": RATES,
    "Recall": RATES,
    "SensitivityAtSpecificity": at("specificity"),
    "SpecificityAtSensitivity": at("sensitivity"),
    "PrecisionAtRecall": at("recall"),
    "RecallAtPrecision": at("precision"),
    "AUC": list(curves()),
    "F1Score": scores(),
    "FBetaScore": scores(beta=0.5),
    "IoU": [
        (dict(num_classes=3, target_class_ids=[0, 2]), "labels"),
        (dict(num_classes=4, target_class_ids=[1], ignore_class=2, dtype="float32"), "label maps"),
        (dict(num_classes=3, target_class_ids=[0, 1], sparse_y_pred=False), "sparse class maps")],
    "BinaryIoU": [({}, "chances each"), (dict(target_class_ids=[1], threshold=0.3), "chance")],
    "MeanIoU": [
        (dict(num_classes=3), "labels"), (dict(num_classes=4, ignore_class=0), "label maps"),
        (dict(num_classes=3, sparse_y_true=False, sparse_y_pred=False), "class maps")],
    "OneHotIoU": [
        (dict(num_classes=3, target_class_ids=[0, 2]), "class maps"),
        (dict(num_classes=4, target_class_ids=[1, 3], ignore_class=0), "classes")],
    "OneHotMeanIoU": [
        (dict(num_classes=3), "class maps"), (dict(num_classes=4, ignore_class=1), "classes")],
}
OF_VALUES = ("Mean", "Sum")  # updated with one tensor


def all_data():
    data = {}
    for name, (draw, weight) in DATA.items():
        rng = encode.generator("metrics", name)
        y_true, y_pred = draw(rng)
        y_pred = y_pred if y_pred.dtype == "int32" else y_pred.astype("float32")
        weights = rng.integers(0, 8, (BATCHES, *weight)) / 4
        mask = rng.uniform(size=weights.shape) < 0.7
        data[name] = dict(y_true=y_true, y_pred=y_pred,
                          sample_weight=weights.astype("float32"), mask=mask)
    return data


def batch(data, i):
    """Every third batch has weights, every fourth a mask; the last one is short."""
    rows = slice(0, 2) if i == BATCHES - 1 else slice(None)
    batch = {key: value[i][rows] for key, value in data.items()}
    weight = batch["sample_weight"] if i % 3 == 1 else None
    mask = batch["mask"] if i % 4 == 2 else None
    return batch["y_true"], encode.with_mask(batch["y_pred"], mask), weight


def record(name, config, data, of):
    metric = getattr(metrics, name)(**config)
    results = {}
    for i in range(BATCHES):
        y_true, y_pred, weight = batch(data, i)
        if name in OF_VALUES:
            metric.update_state(y_pred, sample_weight=weight)
        else:
            metric.update_state(y_true, y_pred, sample_weight=weight)
        if i in REPORTED:
            results[str(i)] = encode.tensor(np.asarray(metric.result()))
    written = encode.config(metrics.serialize(metric))
    return {
        "name": name,
        "data": of,
        "config": written,
        "lost": {key: value for key, value in config.items()
                 if key not in written["config"]},
        "direction": getattr(metric, "_direction", None),
        "results": results,
        "variables": [{"name": v.name, **encode.tensor(v)} for v in metric.variables],
    }


def default_config(cls):
    """What a metric without arguments writes, where it takes none."""
    try:
        keras.backend.clear_session()
        return encode.config(metrics.serialize(cls()))
    except TypeError:
        return None


def names():
    from keras.src.metrics import ALL_OBJECTS_DICT

    return {name: cls.__name__ for name, cls in sorted(ALL_OBJECTS_DICT.items())
            if cls.__name__ not in ("Metric", "MeanMetricWrapper")}


def write(folder, only):
    if only is not None and "metrics" not in only:
        return
    data = all_data()
    entries = {"names": names(), "defaults": {
        name: default_config(getattr(metrics, name)) for name in CASES}}
    entries |= {f"data {name}": encode.structure(value) for name, value in data.items()}
    for name, configs in CASES.items():
        for config, of in configs:
            keras.backend.clear_session()  # names count from the start
            entries[f"{name} {len(entries)}"] = record(name, config, data[of], of)
    encode.write(folder / "metrics.json", entries)
