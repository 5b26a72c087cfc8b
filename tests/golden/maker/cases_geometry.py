"""Cases of the layers that resize, crop, move and distort images, where nothing is random."""

import numpy as np

from maker.spec import Case, F, Given, I

FIRST = dict(data_format="channels_first")
TRAIN = dict(training=True)
INFER = dict(training=False)
BATCH = (2, 3, 4, 2)
MODES = ("constant", "nearest", "wrap", "reflect")


def u8(*shape):
    return Given((np.arange(np.prod(shape)) * 37 % 256).reshape(shape), "uint8")


def all_of(*shape, **more):
    """A dict with everything that belongs to images."""
    return {"images": F(*shape, 2), "labels": I(shape[0], below=4),
            "segmentation_masks": I(*shape, 1, below=5)} | more


def same_when_flipped(*shape):
    x = np.arange(np.prod(shape)).reshape(shape) % 7
    return Given(x + x[:, ::-1] + x[:, :, ::-1] + x[:, ::-1, ::-1], "float32")


FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx",
           "rel_xywh", "rel_center_xywh")


def boxed(name, args, kwargs, formats=("xyxy", "rel_center_xywh")):
    """Boxes in several formats: one inside, one across the edge, one outside, and none. Integers
    have no gradient."""
    boxes = [[[1, 0, 3, 2], [-1, 1, 2, 5], [5, 0, 7, 2], [0, 0, 0, 0]]]
    data = {"images": F(1, 3, 4, 1),
            "bounding_boxes": {"boxes": Given(boxes, "int32"), "labels": I(1, 4, below=5)}}
    return [Case(f"boxes, {name}{form}", args | dict(bounding_box_format=form), data, kwargs)
            for form in formats]


def random(args):
    """Cases that every random layer has; its arguments make training deterministic."""
    return [
        Case("inference", args, F(*BATCH), INFER),
        Case("inference, integers", args, u8(1, 3, 4, 1), INFER),
        Case("inference, dict", args, all_of(2, 3, 4), INFER),
        Case("mask is kept or lost", args, F(2, 3, 4, 1, mask="110 100"), INFER),
        Case("training", args, F(*BATCH), TRAIN),
        Case("training, one image", args, F(*BATCH[1:]), TRAIN),
        Case("training, channels_first", args | FIRST, F(1, 2, 3, 4), TRAIN),
        Case("training, one image, channels_first", args | FIRST, F(2, 3, 4), TRAIN),
        Case("training, mixed_bfloat16", args | dict(dtype="mixed_bfloat16"), F(1, 3, 4, 1), TRAIN),
        Case("training, float16", args | dict(dtype="float16"), u8(1, 3, 4, 1), TRAIN),
        Case("training, float64", args | dict(dtype="float64"), F(1, 3, 4, 1, dtype="float64"),
             TRAIN),
    ]


def filled(args):
    return [
        *(Case(f"{mode}, {how}", args | dict(fill_mode=mode, interpolation=how, fill_value=0.5),
               F(1, 4, 5, 1), TRAIN) for mode in MODES for how in ("bilinear", "nearest")),
        Case("integers", args, u8(1, 4, 5, 1), TRAIN),
        Case("dict", args | dict(seed=3), all_of(2, 3, 4), TRAIN),
        Case("dict, channels_first", args | FIRST,
             {"images": F(1, 2, 3, 4), "segmentation_masks": u8(1, 1, 3, 4)}, TRAIN),
        Case("one pixel", args, F(1, 1, 1, 2), TRAIN),
    ]


def sized(name, args, inputs, **kwargs):
    height, width, *_ = args
    more = args[2] if len(args) > 2 else {}
    return Case(name, dict(height=height, width=width) | more, inputs, kwargs or INFER)


CASES = {
    "Resizing": [
        *(sized(f"{method}{', antialias' if antialias else ''}, {height}x{width}",
                (height, width, dict(interpolation=method, antialias=antialias)), F(1, 4, 5, 1))
          for method in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", "area")
          # TensorFlow looks bicubic weights up in a table, which has those of powers of two.
          for antialias in (False, True) for height, width in ((2, 4), (8, 4))
          if not antialias or height == 2 and method not in ("nearest", "area")),
        *(sized(f"{key}, {height}x{width}", (height, width, {key: True}), F(1, 4, 5, 1))
          for key in ("crop_to_aspect_ratio", "pad_to_aspect_ratio")
          for height, width in ((2, 6), (6, 2), (3, 3))),
        sized("fill_value", (5, 2, dict(pad_to_aspect_ratio=True, fill_value=-1.5)), F(2, 3, 4, 1)),
        sized("pads one image, channels_first",
              (5, 2, dict(pad_to_aspect_ratio=True, **FIRST)), F(1, 3, 4)),
        sized("crops one image", (2, 5, dict(crop_to_aspect_ratio=True)), F(3, 4, 1)),
        sized("channels_first", (3, 2, FIRST), F(1, 2, 4, 5)),
        sized("the same size", (3, 4), F(*BATCH), **TRAIN),
        sized("integers", (3, 4), I(2, 4, 5, 1, below=9), **TRAIN),
        sized("bytes", (3, 4, dict(interpolation="bicubic")), u8(1, 4, 5, 1)),
        sized("bytes, nearest", (3, 4, dict(interpolation="nearest")), u8(1, 4, 5, 1)),
        sized("bytes, area", (3, 2, dict(interpolation="area")), u8(1, 4, 5, 1)),
        sized("mixed_bfloat16", (3, 4, dict(dtype="mixed_bfloat16")), F(1, 4, 5, 1)),
        sized("mixed_float16", (3, 4, dict(dtype="mixed_float16", antialias=True)), F(1, 4, 5, 1)),
        sized("dict", (2, 3), all_of(2, 3, 4)),
        sized("dict of one image", (2, 3), all_of(2, 3)),
        sized("box format", (2, 3, dict(bounding_box_format="xyxy")), F(1, 4, 5, 1)),
        sized("mask is lost", (2, 3), F(2, 3, 4, 1, mask="110 100")),
        *boxed("", dict(height=2, width=3), INFER, FORMATS),
        Case("boxes of one image, labels of a batch",
             dict(height=2, width=3, bounding_box_format="xyxy"),
             {"images": F(4, 5, 2),
              "bounding_boxes": {"boxes": Given([[2, 1, 4, 3], [0, 0, 1, 2]], "int32"),
                                 "labels": I(1, 2, below=5)}}, INFER),
        *boxed("padded, ", dict(height=2, width=4, pad_to_aspect_ratio=True), TRAIN),
        *boxed("cropped, ", dict(height=3, width=2, crop_to_aspect_ratio=True), INFER),
    ],
    "CenterCrop": [
        sized("even", (1, 2), F(*BATCH)),
        sized("odd", (2, 3), F(*BATCH), **TRAIN),
        sized("the same size", (3, 4), F(*BATCH)),
        sized("larger", (6, 7), F(1, 4, 5, 2)),
        sized("higher", (6, 2), F(1, 4, 5, 2)),
        sized("wider", (2, 9), F(1, 4, 5, 2)),
        sized("one image", (2, 3), F(4, 5, 2)),
        sized("one larger image", (6, 9), F(4, 5, 2)),
        sized("channels_first", (2, 3, FIRST), F(2, 2, 4, 5)),
        sized("larger, channels_first", (6, 3, FIRST), F(1, 2, 4, 5)),
        sized("one image, channels_first", (2, 3, FIRST), F(2, 4, 5)),
        sized("bytes", (2, 3), u8(1, 4, 5, 1)),
        sized("larger bytes", (6, 3), u8(1, 4, 5, 1)),
        sized("mixed_float16", (2, 3, dict(dtype="mixed_float16")), F(1, 4, 5, 1)),
        sized("dict", (2, 3), all_of(2, 3, 4)),
        sized("mask is lost", (2, 3), F(2, 3, 4, 1, mask="110 100")),
        *boxed("", dict(height=2, width=3), INFER),
        *boxed("larger, ", dict(height=5, width=2), TRAIN),
    ],
    "RandomCrop": [
        sized("inference", (3, 4, dict(seed=1)), F(*BATCH)),
        sized("inference, bytes", (4, 5, dict(seed=1)), u8(1, 4, 5, 1)),
        sized("inference, float64", (3, 4, dict(seed=1)), F(*BATCH, dtype="float64"), **INFER),
        sized("inference, mixed_float16", (3, 4, dict(seed=1, dtype="mixed_float16")), F(*BATCH),
              **INFER),
        sized("smaller", (6, 7, dict(seed=1)), F(1, 4, 5, 2), **TRAIN),
        sized("lower", (6, 3, dict(seed=1)), F(1, 4, 5, 2), **TRAIN),
        sized("equally high", (4, 2, dict(seed=1)), F(1, 4, 6, 2), **TRAIN),
        sized("equally wide", (2, 5, dict(seed=1)), F(1, 4, 5, 2), **TRAIN),
        sized("the same size", (3, 4, dict(seed=1)), F(*BATCH), **TRAIN),
        sized("smaller, channels_first", (6, 7, FIRST | dict(seed=1)), F(1, 2, 4, 5), **TRAIN),
        sized("one image", (6, 3, dict(seed=1)), F(4, 5, 2), **TRAIN),
        sized("bytes", (6, 7, dict(seed=1)), u8(1, 4, 5, 1), **TRAIN),
        sized("mixed_bfloat16", (6, 7, dict(seed=1, dtype="mixed_bfloat16")), F(1, 4, 5, 1),
              **TRAIN),
        sized("dict", (3, 4, dict(seed=1)), all_of(2, 3, 4), **TRAIN),
        sized("mask is lost", (6, 3, dict(seed=1)), F(2, 3, 4, 1, mask="110 100"), **TRAIN),
        *boxed("smaller, ", dict(height=5, width=2, seed=2), TRAIN),
        *boxed("inference, ", dict(height=3, width=4, seed=2), INFER)[:1],
    ],
    "RandomFlip": [
        *random(dict(mode="horizontal_and_vertical", seed=5))[:4],
        *(Case(mode, dict(mode=mode), same_when_flipped(2, 4, 5, 2), TRAIN)
          for mode in ("horizontal", "vertical", "horizontal_and_vertical")),
        Case("one image", {}, Given(np.ones((3, 4, 2)), "float32"), TRAIN),
        Case("bytes of one colour", {}, Given(np.full((2, 3, 4, 1), 7), "uint8"), TRAIN),
        Case("mixed_bfloat16", dict(dtype="mixed_bfloat16"), same_when_flipped(2, 3, 4, 1), TRAIN),
        Case("dict", {}, {"images": same_when_flipped(2, 3, 4, 1), "labels": I(2, below=3)}, TRAIN),
        Case("boxes", dict(bounding_box_format="xywh", seed=4),
             {"images": same_when_flipped(1, 6, 8, 1), "bounding_boxes":
              {"boxes": Given([[[1, 2, 6, 2], [0, 0, 8, 6]]], "int32"),
               "labels": Given([[1, 2]], "int32")}}, TRAIN),
        *boxed("inference, ", {}, INFER)[:1],
    ],
    "RandomTranslation": [
        *random(dict(height_factor=(0.3, 0.3), width_factor=(-0.15, -0.15))),
        *filled(dict(height_factor=[-0.7, -0.7], width_factor=[0.35, 0.35])),
        Case("far", dict(height_factor=(1, 1), width_factor=(-0.9, -0.9), fill_mode="wrap"),
             F(1, 4, 5, 1), TRAIN),
        Case("numbers", dict(height_factor=0.2, width_factor=0), F(1, 4, 5, 1), INFER),
        *boxed("", dict(height_factor=(0.3, 0.3), width_factor=(-0.4, -0.4)), TRAIN),
    ],
    "RandomRotation": [
        *random(dict(factor=(0.1, 0.1))),
        *filled(dict(factor=[-0.07, -0.07])),
        Case("half a turn", dict(factor=(0.5, 0.5), fill_mode="constant"), F(1, 4, 5, 1), TRAIN),
        Case("a number", dict(factor=0.3, seed=4), F(1, 4, 5, 1), INFER),
        *boxed("", dict(factor=(0.1, 0.1)), TRAIN),
    ],
    "RandomZoom": [
        *random(dict(height_factor=(0.3, 0.3), width_factor=(-0.4, -0.4))),
        *filled(dict(height_factor=[0.6, 0.6])),
        Case("in, ratio is kept", dict(height_factor=(-0.45, -0.45)), F(1, 4, 5, 1), TRAIN),
        Case("numbers", dict(height_factor=0.2, width_factor=0.1), F(1, 4, 5, 1), INFER),
        *boxed("", dict(height_factor=(0.3, 0.3), width_factor=(-0.4, -0.4)), TRAIN),
    ],
    "RandomShear": [
        *random(dict(x_factor=(0, 0), y_factor=(0.0, 0.0))),
        Case("of one row", dict(x_factor=(0.4, 0.4), fill_mode="nearest"), F(2, 1, 5, 2), TRAIN),
        Case("numbers", dict(x_factor=0.2, y_factor=0.1, seed=7), F(1, 4, 5, 1), INFER),
        Case("ranges", dict(x_factor=(0.3, 0.2), interpolation="nearest"), F(1, 4, 5, 1), INFER),
        *boxed("", dict(x_factor=(0, 0)), TRAIN),
    ],
    "RandomPerspective": [
        *random(dict(scale=0.0, factor=(1.0, 1.0))),
        Case("never", dict(factor=(0.0, 0.0), interpolation="nearest"), F(*BATCH), TRAIN),
        Case("never, dict", dict(factor=0.0, fill_value=3.0), all_of(2, 3, 4), TRAIN),
        *boxed("", dict(scale=0.0, factor=(1.0, 1.0)), TRAIN),
    ],
    "RandomElasticTransform": [
        *random(dict(scale=0.0)),
        Case("never", dict(factor=(0.0, 0.0), fill_mode="constant"), F(*BATCH), TRAIN),
        Case("never, dict", dict(factor=0.0, value_range=(0, 1)), all_of(2, 3, 4), TRAIN),
        Case("of one colour", dict(factor=(1.0, 1.0), scale=(0.3, 0.9), value_range=(0, 5), seed=6),
             Given(np.full((2, 6, 7, 1), 3.25), "float32"), TRAIN),
        Case("clipped", dict(factor=(1.0, 1.0), value_range=(0, 2), seed=6),
             Given(np.full((1, 6, 7, 1), 3.25), "float32"), TRAIN),
    ],
    "MaxNumBoundingBoxes": [
        Case("images", dict(max_number=3), F(2, 3, 4, 1), INFER),
        Case("bytes", dict(max_number=3), u8(1, 3, 4, 1), TRAIN),
        *(Case(f"{have} boxes", dict(max_number=3, bounding_box_format="xyxy"),
               {"images": F(2, 3, 4, 1), "bounding_boxes":
                {"boxes": I(2, have, 4, below=9), "labels": I(2, have, below=5)}}, TRAIN)
          for have in (2, 3, 5)),
        Case("another format", dict(max_number=2, bounding_box_format="rel_xywh"),
             all_of(2, 3, 4, bounding_boxes={"boxes": I(2, 1, 4, below=9), "labels": I(2, 1, below=5)}),
             INFER),
        Case("of one image", dict(max_number=2, bounding_box_format="xyxy"),
             {"images": F(3, 4, 1), "bounding_boxes":
              {"boxes": I(1, 4, below=9), "labels": I(1, below=5)}}, TRAIN),
    ],
}
