"""Cases of the layers that change the colours of images or mix them. Random numbers differ from
Keras's, so these are settings whose results do not depend on them."""

import numpy as np

from maker.spec import B, Case, F, Given, layer

FIRST = dict(data_format="channels_first")
BOXED = dict(bounding_box_format="xyxy")
TRAIN, NOT = dict(training=True), dict(training=False)


def pixels(*shape, high=255, dtype="float32", step=71):
    """Distinct values below `high`, not whole if they are floats."""
    count = int(np.prod(shape))
    values = (np.arange(count) * step + 13) % 251 * (high / 252)
    if dtype.startswith("float"):
        values = np.floor(values * 16) / 16 + 0.03125 if high > 1 else values + 0.001
    return Given(values.reshape(shape).astype(dtype).tolist(), dtype)


def same_images(*shape):
    """A batch of one image, again and again."""
    one = np.array(pixels(1, *shape[1:]).values)
    return Given(np.repeat(one, shape[0], 0).tolist())


X = pixels(2, 3, 2, 3)
SMALL = pixels(2, 3, 2, 3, high=1)
ALONE = pixels(3, 2, 3)
CHANNELS_FIRST = pixels(2, 3, 3, 2)
WHOLE = pixels(2, 3, 2, 3, dtype="int32")
BYTES = pixels(2, 3, 2, 3, dtype="uint8")
POLICIES = ("mixed_float16", "float64")


def in_dict(images):
    return {"images": images, "labels": Given([[0, 1, 0], [0, 0, 1]]),
            "segmentation_masks": pixels(2, 3, 2, 1, step=3)}


def dict_alone(images):
    return {"images": images, "labels": Given([0, 1, 0]),
            "segmentation_masks": pixels(3, 2, 1, step=3)}


# Boxes are float32 in any policy, so they are tested apart from what has gradients in float64.
BOXES = {"boxes": Given([[[0, 1, 2, 3]], [[0, 1, 2, 3]]], "int32"),
         "labels": Given([[4], [4]], "int32")}


def each_way(args, first=True, whole=True, policies=POLICIES, dicts=True, x=X, seed=True):
    """The same arguments on all kinds of inputs."""
    args = args | (dict(seed=1) if seed else {})
    return [
        Case("training", args, x, TRAIN),
        Case("not training", args, x, NOT),
        Case("one image", args, ALONE, TRAIN),
    ] + ([
        Case("channels_first", args | FIRST, CHANNELS_FIRST, TRAIN),
    ] if first else []) + ([
        Case("integers", args, WHOLE, TRAIN),
    ] if whole else []) + ([
        Case("dict", args | BOXED, in_dict(x), TRAIN),
        Case("dict of one image", args | BOXED, dict_alone(ALONE), TRAIN),
    ] if dicts else []) + [
        Case(policy, args | dict(dtype=policy), x, TRAIN) for policy in policies
    ]


def steps(*values, dtype="float32"):
    return Given(np.array(values).reshape(1, 1, -1, 1).tolist(), dtype)


CASES = {
    "RandomBrightness": each_way(dict(factor=(0.3, 0.3))) + [
        Case("mixed_bfloat16", dict(factor=(0.3, 0.3), dtype="mixed_bfloat16"), X, TRAIN),
        Case("boxes", dict(factor=(0.3, 0.3)) | BOXED, {"images": WHOLE, "bounding_boxes": BOXES},
             TRAIN),
        Case("box of one image", dict(factor=(0.3, 0.3)) | BOXED,
             {"images": pixels(3, 2, 3, dtype="int32"), "bounding_boxes": {
                 "boxes": Given([[0, 1, 2, 3]], "int32"), "labels": Given([4], "int32")}}, TRAIN),
        Case("darker", dict(factor=(-0.4, -0.4), seed=1), X, TRAIN),
        Case("none", dict(factor=0), X, TRAIN),
        Case("range in reverse", dict(factor=(0.2, 0.2), value_range=(1, 0)), SMALL, TRAIN),
    ],
    # A factor of (-f, f) makes both ends of what is drawn 1 + f.
    "RandomContrast": each_way(dict(factor=(-0.3, 0.3)), whole=False) + [
        Case("integers, not training", dict(factor=0.2), WHOLE, NOT),
        Case("small range", dict(factor=(-0.5, 0.5), value_range=(0.25, 0.75)), SMALL, TRAIN),
        Case("none", dict(factor=(0, 0)), X, TRAIN),
    ],
    "RandomColorDegeneration": each_way(dict(factor=(0.4, 0.4)), dicts=False) + [
        Case("none", dict(factor=0.0), X, TRAIN),
        Case("grey", dict(factor=(1.0, 1.0), value_range=(0, 1)), SMALL, TRAIN),
        Case("clipped", dict(factor=(0.5, 0.5), value_range=(60, 200)), X, TRAIN),
        Case("dict", dict(factor=(0.5, 0.5)) | BOXED, in_dict(X), TRAIN),
    ],
    # Half a turn is the same in both directions.
    "RandomHue": each_way(dict(factor=(1.0, 1.0))) + [
        Case("none", dict(factor=0), X, TRAIN),
        Case("small range", dict(factor=(1, 1), value_range=(0, 1), seed=1), SMALL, TRAIN),
    ],
    "RandomInvert": each_way(dict(factor=(1, 1))) + [
        Case("none", dict(factor=0), X, TRAIN),
        Case("defaults", dict(), X, NOT),
        Case("range", dict(factor=(1, 1), value_range=[0, 1]), SMALL, TRAIN),
    ],
    "RandomPosterization": each_way(dict(factor=(3, 3))) + [
        Case("one bit", dict(factor=1), X, TRAIN),
        Case("all bits", dict(factor=(8, 8)), X, TRAIN),
        Case("two ends", dict(factor=5), X, NOT),
        Case("small range", dict(factor=(2, 2), value_range=(0.0, 1.0)), SMALL, TRAIN),
        Case("bytes", dict(factor=(2, 2)), BYTES, TRAIN),
    ],
    "RandomSaturation": each_way(dict(factor=(0.3, 0.3), value_range=(0, 1)), whole=False,
                                 x=SMALL) + [
        Case("integers, not training", dict(factor=0.2), WHOLE, NOT),
        Case("grey", dict(factor=(0.0, 0.0)), SMALL, TRAIN),
        Case("full", dict(factor=(1.0, 1.0), value_range=(0, 1)), SMALL, TRAIN),
        Case("same", dict(factor=(0.5, 0.5)), SMALL, TRAIN),
    ],
    "RandomSharpness": each_way(dict(factor=(0.2, 0.2))) + [
        Case("same", dict(factor=(0.5, 0.5)), X, TRAIN),
        Case("sharper", dict(factor=(1.0, 1.0)), X, TRAIN),
        Case("blurred", dict(factor=0.0, value_range=(0, 1)), SMALL, TRAIN),
        Case("five channels", dict(factor=(0.1, 0.1)), pixels(2, 3, 3, 5), TRAIN),
    ],
    "AutoContrast": each_way(dict(), seed=False) + [
        Case("small range", dict(value_range=(0, 1)), SMALL),
        Case("range in reverse", dict(value_range=(200, 20)), X),
        Case("bytes", dict(), BYTES),
    ],
    "Equalization": each_way(dict(), seed=False) + [
        Case("small range", dict(value_range=(0, 1)), SMALL, TRAIN),
        Case("few bins", dict(bins=16), pixels(2, 7, 6, 2), TRAIN),
        Case("few levels", dict(), steps(5.5, 5.5, 5.5, 80.5, 80.5, 81.5, 81.5, 82.5, 200.5), TRAIN),
        Case("whole numbers", dict(), steps(*range(0, 256, 3), dtype="int32"), TRAIN),
        Case("outside of the range", dict(), steps(-20.5, 4.5, 260.5, 300.5, 12.5), TRAIN),
        Case("bytes", dict(), BYTES, TRAIN),
    ],
    "ContrastLimitedAdaptiveHistogramEqualization": [
        Case(case.name, dict(tile_grid_size=(2, 2)) | case.args, case.inputs, case.kwargs)
        for case in each_way(dict(), seed=False, dicts=False)] + [
        Case("images in a dict", dict(tile_grid_size=(2, 2)), {"images": X}, TRAIN),
        Case("defaults", dict(), pixels(1, 16, 16, 1, step=7, dtype="uint8")),
        Case("padded", dict(tile_grid_size=(3, 4)), pixels(2, 7, 10, 2)),
        Case("no limit", dict(tile_grid_size=(2, 2), clip_limit=0), pixels(1, 6, 6, 2)),
        Case("low limit", dict(tile_grid_size=(1, 3), clip_limit=0.5), pixels(1, 6, 6, 1, step=5)),
        Case("small range", dict(tile_grid_size=(2, 2), value_range=(0, 1)), SMALL),
        Case("one tile", dict(tile_grid_size=(1, 1)), pixels(1, 5, 4, 2)),
        Case("channels_first, one image", dict(tile_grid_size=(2, 3)) | FIRST, pixels(3, 6, 6)),
    ],
    "Solarization": each_way(dict()) + [
        Case("ends", dict(addition_factor=0.75, threshold_factor=(0, 1)), X, NOT),
        Case("threshold", dict(threshold_factor=(0.5, 0.5)),
             Given([[[[0.125], [0.25]], [[191.0], [254.0]]]]), TRAIN),
        Case("small range", dict(value_range=(0, 1)), SMALL, TRAIN),
        Case("bytes", dict(), BYTES, TRAIN),
    ],
    "RandomGrayscale": each_way(dict(factor=1.0), dicts=False, whole=False) + [
        Case("none", dict(factor=0.0), X, TRAIN),
        Case("defaults", dict(), WHOLE, NOT),
    ],
    "RandomGaussianBlur": each_way(dict(factor=(1, 1), sigma=(0.7, 0.7))) + [
        Case("none", dict(factor=0), X, TRAIN),
        Case("wide", dict(factor=(1, 1), kernel_size=(5, 3), sigma=(1, 1), value_range=(10, 200)),
             X, TRAIN),
        Case("no sigma", dict(factor=(1, 1), sigma=0), X, TRAIN),
    ],
    "RandomErasing": each_way(dict(factor=(1, 1), scale=(1, 1), fill_value=7)) + [
        Case("none", dict(factor=0), X, TRAIN),
        Case("nowhere", dict(scale=0, seed=1), X, TRAIN),
        Case("three values", dict(factor=(1, 1), scale=(1, 1), fill_value=[300, 2, -5]), X, TRAIN),
        Case("defaults", dict(), X, NOT),
    ],
    "CutMix": each_way(dict(factor=0.5), x=same_images(2, 3, 2, 3), first=False, whole=False,
                       dicts=False) + [
        Case("channels_first", dict(seed=1) | FIRST, same_images(2, 3, 3, 2), TRAIN),
        Case("one of a batch", dict(seed=1),
             {"images": pixels(1, 3, 2, 3), "labels": Given([[0.25, 1, 0]]),
              "segmentation_masks": pixels(1, 3, 2, 1)}, TRAIN),
        Case("dict of one image", dict(seed=1),
             {"images": ALONE, "labels": Given([0, 1, 1], "int32")}, TRAIN),
        Case("dict, not training", dict(), {"images": X, "labels": Given([[1, 0], [0, 1]])}, NOT),
    ],
    "MixUp": each_way(dict(alpha=0.4), x=same_images(2, 3, 2, 3), first=False, whole=False,
                      dicts=False) + [
        Case("one of a batch", dict(seed=1),
             {"images": pixels(1, 3, 2, 3), "labels": Given([[0.25, 1, 0]])}, TRAIN),
        Case("dict, not training", dict() | BOXED, in_dict(X), NOT),
        Case("dict of one image", dict(seed=1), {"images": ALONE, "labels": Given([0.0, 1.0])},
             TRAIN),
    ],
    "RandomColorJitter": each_way(
        dict(value_range=(0, 1), brightness_factor=(0.1, 0.1), contrast_factor=(-0.2, 0.2),
             saturation_factor=(0.6, 0.6), hue_factor=(1, 1)), x=SMALL, first=False, whole=False) + [
        Case("nothing", dict(), X, TRAIN),
        Case("brightness", dict(brightness_factor=(-0.25, -0.25)), X, TRAIN),
        Case("integers", dict(brightness_factor=(0.25, 0.25)), WHOLE, TRAIN),
        Case("single factors", dict(brightness_factor=0.2, contrast_factor=0.2,
                                    saturation_factor=0.2, hue_factor=0.2), X, NOT),
        Case("channels_first", dict(brightness_factor=(0.2, 0.2), contrast_factor=(-0.2, 0.2))
             | FIRST, CHANNELS_FIRST, TRAIN),
    ],
    # In training, what is not random: no change, however the chains are weighed.
    "RandAugment": each_way(dict(num_ops=0)) + [
        Case("defaults", dict(), X, NOT),
        Case("integers, not training", dict(factor=0.2), WHOLE, NOT),
        Case("one factor, not training", dict(factor=1, num_ops=3, interpolation="nearest"),
             SMALL, NOT),
        Case("two factors, not training", dict(factor=(0.4, 0.1), value_range=(0.0, 1.0)) | FIRST,
             pixels(2, 3, 3, 2, high=1), NOT),
        Case("boxes", dict(num_ops=0) | BOXED, {"images": WHOLE, "bounding_boxes": BOXES}, TRAIN),
        Case("boxes, not training", dict() | BOXED, {"images": WHOLE, "bounding_boxes": BOXES}, NOT),
        Case("five channels", dict(), pixels(2, 3, 3, 5), NOT),
    ],
    "AugMix": each_way(dict(chain_depth=0)) + [
        Case("defaults", dict(), X, NOT),
        Case("integers, not training", dict(factor=0.2), WHOLE, NOT),
        Case("clipped", dict(chain_depth=0, num_chains=5, alpha=0.5, value_range=(60, 200),
                             seed=1), X, TRAIN),
        Case("without colours, not training",
             dict(all_ops=False, factor=(0.4, 0.1), interpolation="nearest"), SMALL, NOT),
        Case("boxes", dict() | BOXED, {"images": WHOLE, "bounding_boxes": BOXES}, NOT),
        Case("boxes in training", dict(chain_depth=0, seed=1) | BOXED,
             {"images": WHOLE, "bounding_boxes": BOXES}, TRAIN),
    ],
    "Pipeline": [
        Case("weights", dict(layers=[layer("Dense", units=3, activation="tanh"),
                                     layer("Dense", units=2)]), F(2, 4)),
        Case("mask made inside", dict(layers=[layer("Masking", mask_value=0.25),
                                              layer("GRU", units=2)]),
             Given([[[1, 2], [0.25, 0.25]], [[0.25, 0.25], [3, 1]]])),
        Case("mask given", dict(layers=[layer("GRU", units=2, return_sequences=True),
                                        layer("Dense", units=2)]),
             F(2, 3, 2), dict(mask=B("110 011"))),
    ],
}
