"""Makes small images in every format, and records the tensors that Keras reads from them."""

import os
import pathlib
import struct
import zlib

import keras
import numpy as np
from PIL import Image, ImageFile

from maker import encode

SIZE = (11, 14)
METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic")
MODES = {"grayscale": 1, "rgb": 3, "rgba": 4}
# What TensorFlow's decoders refuse; Keratin converts.
REFUSED = {("jpg", "rgba"), ("gif", "grayscale"), ("gif", "rgba"), ("bmp", "grayscale")}


def picture(name, *shape):
    """Smooth shapes with a little noise, so that JPEG keeps most of it."""
    random = encode.generator("images", name)
    y, x = np.mgrid[0:1:shape[0] * 1j, 0:1:shape[1] * 1j]
    channels = [128 + 100 * np.sin(3 * (c + 1) * x + 4 * y + c) for c in range(shape[2])]
    noisy = np.stack(channels, -1) + random.normal(0, 6, shape)
    return np.clip(noisy, 0, 255).astype("uint8")


def write_images(folder):
    rgb = Image.fromarray(picture("rgb", 13, 10, 3))
    rgba = Image.fromarray(picture("rgba", 9, 17, 4))
    gray = Image.fromarray(picture("gray", 12, 12, 1)[..., 0])
    palette = rgb.quantize(256)
    deep = Image.fromarray(picture("deep", 8, 9, 1)[..., 0].astype("uint16") * 251)
    files = {
        "cats/rgb.jpg": (rgb, dict(quality=92)),
        "cats/fine.jpg": (rgb, dict(quality=95, subsampling=0)),
        "cats/progressive.jpeg": (rgba.convert("RGB"), dict(progressive=True)),
        "cats/gray.jpg": (gray, dict()),
        "cats/inks.jpg": (rgb.convert("CMYK"), dict()),
        "cats/young/rgb.png": (rgb, dict()),
        "cats/young/interlaced.png": (interlaced(rgb), None),
        "dogs/rgba.png": (rgba, dict()),
        "dogs/gray.png": (gray, dict()),
        "dogs/deep.png": (deep, dict()),
        "dogs/palette.png": (palette, dict()),
        "dogs/see_through.png": (palette, dict(transparency=7)),
        "dogs/UPPER.PNG": (gray, dict(format="PNG")),
        "emus/rgb.bmp": (rgb, dict()),
        "emus/rgba.bmp": (rgba, dict()),
        "emus/gray.bmp": (gray, dict()),
        "emus/palette.gif": (palette, dict(interlace=0)),
        "emus/interlaced.gif": (palette, dict(interlace=1)),
        "emus/see_through.gif": (palette, dict(transparency=9)),
        "emus/moving.gif": (palette, dict(save_all=True, append_images=[palette.rotate(90)])),
    }
    for name, (image, options) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image) if options is None else image.save(path, **options)
    # TensorFlow takes the numbers of colours for shades of gray; the name keeps it out of folders.
    palette.save(folder / "emus/palette.bmp_", format="BMP")
    return sorted(files)


def interlaced(image):
    """Pillow writes no interlaced PNG, so the seven passes are put together here."""
    pixels = np.asarray(image)
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
              (1, 0, 2, 1))
    rows = b"".join(b"\0" + row.tobytes() for y, x, dy, dx in passes
                    for row in pixels[y::dy, x::dx] if row.size)
    chunk = lambda kind, data: (struct.pack(">I", len(data)) + kind + data
                                + struct.pack(">I", zlib.crc32(kind + data)))
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def decoded(folder, names):
    import tensorflow as tf

    entries = []
    for name in names:
        kind = pathlib.Path(name).suffix[1:].lower().replace("jpeg", "jpg")
        for mode, channels in MODES.items():
            if (kind, mode) in REFUSED or (name, mode) == ("cats/inks.jpg", "grayscale"):
                continue
            image = tf.image.decode_image((folder / name).read_bytes(), channels=channels,
                                          expand_animations=False)
            entries.append({"what": "decode", "file": name, "color_mode": mode,
                            "value": encode.tensor(image.numpy())})
    return entries


def resized(folder):
    """One image by every method, larger, smaller, cropped and padded."""
    import tensorflow as tf
    from keras.src.utils.image_dataset_utils import _load_image_tf

    entries = []
    for method in METHODS:
        for size in ((20, 25), (5, 4), (13, 10), (6, 21)):
            for fit in ("", "crop_to_aspect_ratio", "pad_to_aspect_ratio"):
                if fit == "crop_to_aspect_ratio" and method in ("area", "gaussian",
                                                                "mitchellcubic"):
                    continue  # Keras resizes with fewer methods there
                options = {fit: True} if fit else {}
                value = _load_image_tf(str(folder / "cats/young/rgb.png"), size, 3, method,
                                       "channels_last", **options)
                entries.append({"what": "resize", "interpolation": method, "size": list(size),
                                "fit": fit, "value": encode.tensor(value.numpy())})
    return entries


DATASETS = {
    "plain": dict(shuffle=False),
    "categorical": dict(label_mode="categorical", shuffle=False, batch_size=7),
    "some": dict(class_names=["dogs", "cats"], label_mode="binary", shuffle=False),
    "unlabelled": dict(labels=None, shuffle=False),
    "given": dict(labels=[i % 4 for i in range(20)], shuffle=False),
    "shuffled": dict(seed=7),
    "training": dict(seed=3, validation_split=0.3, subset="training"),
    "validation": dict(seed=3, validation_split=0.3, subset="validation"),
    "first": dict(shuffle=False, data_format="channels_first", batch_size=None),
}


def dataset(name, folder):
    """The files and labels; of datasets that do not shuffle, the sum of each image."""
    options = DATASETS[name]
    made = keras.utils.image_dataset_from_directory(
        str(folder), image_size=SIZE, verbose=False, **options)
    entry = {"what": "dataset", "name": name, "options": options,
             "class_names": made.class_names,
             "file_paths": [os.path.relpath(path, folder) for path in made.file_paths]}
    if options.get("shuffle", True):
        return entry
    batches = [b if isinstance(b, tuple) else (b, None) for b in made]
    entry["shapes"] = [list(x.shape) for x, _ in batches]
    entry["sums"] = [float(np.sum(np.asarray(x, "float64"))) for x, _ in batches]
    entry["labels"] = [None if y is None else encode.tensor(y.numpy()) for _, y in batches]
    return entry


def write(folder, only):
    if only is not None and "images" not in only:
        return
    ImageFile.MAXBLOCK = 2**20
    images = folder / "images"
    names = write_images(images)
    encode.write(folder / "images.json", decoded(images, names) + resized(images)
                 + [dataset(name, images) for name in DATASETS])
