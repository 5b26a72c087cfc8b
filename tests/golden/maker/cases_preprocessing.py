"""Cases of the layers for categories and text."""

from maker.spec import Case, F, Given, I, S

MODES = ("one_hot", "multi_hot", "count")
SHAPES = {"row": I(2, 3, below=5), "column": I(3, 1, below=5), "vector": I(4, below=5),
          "three axes": I(2, 2, 3, below=5)}
HALF = dict(dtype="mixed_float16")


def Long(values):
    return Given(values, "int64")


NUMBERS = Long([[12, -7, 36], [1138, 0, 36]])
WORDS = S([["earth", "wind", "moon"], ["fire", "", "earth"]])
TEXTS = S([["Earth, wind & FIRE!"], ["  the wind\tof  earth "], [""]])
VOCABULARY = ["earth", "wind", "and", "fire"]
LOOKUP = dict(vocabulary=[12, 36, 1138, 42])
STRINGS = dict(vocabulary=VOCABULARY)
WEIGHTS = dict(output_mode="tf_idf", idf_weights=[0.25, 0.75, 0.6, 0.4])
COUNTED = Long([[3, 5, 5, 9], [5, 3, 0, -1], [7, 7, 5, 3]])
READ = S([["b", "a", "c", "b"], ["a", "b", "", "[UNK]"], ["é", "d", "d", "b"]])
BOOKS = S(["the cat sat", "The cat; the hat", "a hat, a cat, A mat", ""])


def lookups(base, inputs):
    """The cases of both lookups."""
    return (
        [Case("int", base, inputs)]
        + [Case(mode, dict(output_mode=mode, **base), inputs) for mode in MODES]
        + [Case("three unknown", dict(num_oov_indices=3, **base), inputs),
           Case("three unknown, count", dict(num_oov_indices=3, output_mode="count", **base),
                inputs),
           Case("tf_idf", base | WEIGHTS, inputs),
           Case("sparse", dict(output_mode="count", sparse=True, **base), inputs),
           Case("tf_idf, padded", base | WEIGHTS | dict(max_tokens=9, pad_to_max_tokens=True),
                inputs),
           Case("padded", dict(output_mode="multi_hot", max_tokens=8, pad_to_max_tokens=True,
                               **base), inputs)]
    )


CASES = {
    "CategoryEncoding": [
        Case(f"{mode}, {name}", dict(num_tokens=5, output_mode=mode), x)
        for mode in MODES for name, x in SHAPES.items()
    ] + [
        Case("weights", dict(num_tokens=5, output_mode="count"), I(2, 3, below=5),
             dict(count_weights=F(2, 3))),
        Case("weights of a vector", dict(num_tokens=5, output_mode="count"), I(4, below=5),
             dict(count_weights=F(4))),
        Case("too large", dict(num_tokens=3), I(2, 4, below=6)),
        Case("half", dict(num_tokens=5, **HALF), I(2, 3, below=5)),
        Case("floats", dict(num_tokens=5), Given([[1.2, 3.7]])),
        Case("int64", dict(num_tokens=5, output_mode="one_hot"), Long([[1, 4]])),
    ],
    "Discretization": [
        Case("int", dict(bin_boundaries=[-0.5, 0.0, 1.0]), F(3, 4)),
        Case("on a boundary", dict(bin_boundaries=[0.0, 1.0]), Given([[0.0, 1.0, 0.999, -0.001]])),
        Case("integers", dict(bin_boundaries=[1.0, 3.0]), I(2, 3, below=5)),
        Case("adapted", dict(num_bins=4), F(2, 3), adapt=F(50, 2)),
        Case("adapted, coarse", dict(num_bins=3, epsilon=0.2), F(2, 3), adapt=F(40)),
        Case("adapted to few", dict(num_bins=5), F(2, 3), adapt=F(3)),
        Case("sparse", dict(bin_boundaries=[0.0, 1.0], output_mode="count", sparse=True), F(3, 4)),
    ] + [Case(f"{mode}, {name}", dict(bin_boundaries=[1.0, 2.0, 3.5], output_mode=mode), x)
         for mode in MODES for name, x in SHAPES.items()],
    "Hashing": [
        Case("int", dict(num_bins=7), Long([[1, -2, 30], [44, 5, 1]])),
        Case("int32", dict(num_bins=100, dtype="int32"), I(3, 2, below=1000)),
        Case("floats", dict(num_bins=50), Given([[1.7, -2.5, 300.0]])),
        Case("salt", dict(num_bins=40, salt=133), Long([[1, 2, 3], [4, 5, 6]])),
        Case("two salts", dict(num_bins=40, salt=[133, -7]), Long([[1, 2, 3], [4, 5, 6]])),
        Case("mask", dict(num_bins=6, mask_value=3), Long([[1, 2, 3], [3, 4, 5]])),
        Case("strings", dict(num_bins=1000), S([["a", "B", ""], ["é漢", "a" * 20, "b" * 100]])),
        Case("strings, salt", dict(num_bins=1000, salt=[1, 2]),
             S([["a", "B", ""], ["é漢", "a" * 20, "b" * 100]])),
        Case("strings, mask", dict(num_bins=5, mask_value=""), S([["a", "", "c"], ["", "d", "e"]])),
        Case("sparse", dict(num_bins=4, output_mode="multi_hot", sparse=True),
             Long([[1, 2, 3], [4, 5, 6]])),
    ] + [Case(f"{mode}, {name}", dict(num_bins=4, output_mode=mode), x)
         for mode in MODES for name, x in SHAPES.items()],
    "HashedCrossing": [
        Case("vectors", dict(num_bins=10), [Long([1, 2, -3]), Long([3, 4, 5])]),
        Case("columns", dict(num_bins=10), [Long([[1], [2]]), Long([[3], [4]])]),
        Case("three", dict(num_bins=100), [Long([1, 2]), Long([3, 4]), Long([5, 6])]),
        Case("int32", dict(num_bins=10), [I(4, below=9), I(4, below=9)]),
        Case("strings", dict(num_bins=1000), [S(["a", "b", "a"]), Long([101, 101, 102])]),
        Case("one_hot", dict(num_bins=6, output_mode="one_hot"), [Long([1, 2]), Long([3, 4])]),
        Case("sparse", dict(num_bins=6, output_mode="one_hot", sparse=True),
             [Long([1, 2]), Long([3, 4])]),
        Case("one_hot of columns", dict(num_bins=6, output_mode="one_hot"),
             [S([["a"], ["b"]]), S([["c"], ["d"]])]),
    ],
    "IntegerLookup": lookups(LOOKUP, NUMBERS) + [
        Case("mask", dict(mask_token=0, **LOOKUP), NUMBERS),
        Case("mask, count", dict(mask_token=0, output_mode="count", **LOOKUP), NUMBERS),
        Case("none unknown", dict(num_oov_indices=0, **LOOKUP), Long([[12, 42], [36, 1138]])),
        Case("hashed", dict(num_oov_indices=3, oov_method="farmhash", **LOOKUP), NUMBERS),
        Case("hashed with salt", dict(num_oov_indices=3, oov_method="farmhash", salt=5, **LOOKUP),
             NUMBERS),
        Case("inverted", dict(invert=True, **LOOKUP), Long([[0, 1, 2], [4, 5, -1]])),
        Case("inverted, mask", dict(invert=True, mask_token=0, **LOOKUP), Long([[0, 1, 2, 5, 9]])),
        Case("all tokens given", dict(vocabulary=[0, -1, 5, 7], mask_token=0),
             Long([[5, 7, 0, 9]])),
        Case("int32", LOOKUP, I(2, 3, below=60)),
        Case("floats", LOOKUP, Given([[12.9, 36.0]])),
        Case("vector, count", dict(output_mode="count", **LOOKUP), Long([12, 12, 36])),
        Case("column, one_hot", dict(output_mode="one_hot", **LOOKUP), Long([[12], [42]])),
        Case("adapted", {}, COUNTED, adapt=COUNTED),
        Case("adapted, at most 4", dict(max_tokens=4), COUNTED, adapt=COUNTED),
        Case("adapted, tf_idf", dict(output_mode="tf_idf"), COUNTED, adapt=COUNTED),
    ],
    "StringLookup": lookups(STRINGS, WORDS) + [
        Case("mask", dict(mask_token="", **STRINGS), WORDS),
        Case("mask, multi_hot", dict(mask_token="", output_mode="multi_hot", **STRINGS), WORDS),
        Case("none unknown", dict(num_oov_indices=0, **STRINGS), S([["earth", "fire"]])),
        Case("salt", dict(num_oov_indices=3, salt=[5, 6], **STRINGS), WORDS),
        Case("inverted", dict(invert=True, **STRINGS), Long([[0, 1, 2], [4, 5, -1]])),
        Case("inverted, mask", dict(invert=True, mask_token="", **STRINGS),
             Long([[0, 1, 2, 5, 9]])),
        Case("all tokens given", dict(vocabulary=["", "[UNK]", "a", "b"], mask_token=""),
             S([["a", "b", "", "c"]])),
        Case("adapted", {}, READ, adapt=READ),
        Case("adapted, mask", dict(mask_token=""), READ, adapt=READ),
        Case("adapted, at most 4", dict(max_tokens=4), READ, adapt=READ),
        Case("adapted, tf_idf", dict(output_mode="tf_idf"), READ, adapt=READ),
        Case("adapted, multi_hot", dict(output_mode="multi_hot"), READ, adapt=READ),
    ],
    "TextVectorization": [
        Case("length 3", dict(output_sequence_length=3, **STRINGS), TEXTS),
        Case("length 6", dict(output_sequence_length=6, **STRINGS), TEXTS),
        Case("vector", dict(output_sequence_length=4, **STRINGS), S(["wind", "earth fire"])),
        Case("lower", dict(standardize="lower", output_sequence_length=5, **STRINGS), TEXTS),
        Case("strip", dict(standardize="strip_punctuation", output_sequence_length=5, **STRINGS),
             TEXTS),
        Case("as they are", dict(standardize=None, output_sequence_length=5, **STRINGS), TEXTS),
        Case("characters", dict(split="character", output_sequence_length=9,
                                vocabulary=["é", "漢", "a", " "]),
             S([["É é漢 a"], ["\U0001F600a!"]])),
        Case("no split", dict(split=None, **STRINGS), S([["Earth", "wind!", "x", ""]])),
        Case("no split, one_hot", dict(split=None, output_mode="one_hot", **STRINGS),
             S([["earth", "x", ""]])),
        Case("no split, ngrams", dict(split=None, ngrams=2, vocabulary=["a b", "b"]),
             S([["a", "b", "c"]])),
        Case("ngrams", dict(ngrams=2, output_sequence_length=8, vocabulary=["wind fire", "earth"]),
             TEXTS),
        Case("some ngrams", dict(ngrams=(3, 1), output_sequence_length=8,
                                 vocabulary=["earth wind fire", "wind"]), TEXTS),
        Case("multi_hot", dict(output_mode="multi_hot", **STRINGS), TEXTS),
        Case("count", dict(output_mode="count", **STRINGS), TEXTS),
        Case("sparse", dict(output_mode="count", sparse=True, **STRINGS), TEXTS),
        Case("count of ngrams", dict(output_mode="count", ngrams=2, **STRINGS), TEXTS),
        Case("padded", dict(output_mode="count", max_tokens=9, pad_to_max_tokens=True, **STRINGS),
             TEXTS),
        Case("tf_idf", STRINGS | WEIGHTS, TEXTS),
        Case("adapted", dict(output_sequence_length=5), BOOKS, adapt=BOOKS),
        Case("adapted, at most 5", dict(max_tokens=5, output_sequence_length=5), BOOKS,
             adapt=BOOKS),
        Case("adapted, multi_hot", dict(output_mode="multi_hot"), BOOKS, adapt=BOOKS),
        Case("adapted, tf_idf", dict(output_mode="tf_idf"), BOOKS, adapt=BOOKS),
        Case("adapted, ngrams", dict(ngrams=2, output_sequence_length=5), BOOKS, adapt=BOOKS),
    ],
}
