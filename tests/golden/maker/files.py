"""Writes small files of the formats that Keras uses, and what their own libraries read in them.

Every HDF5 file has a JSON file beside it: its objects in the order of h5py's walk, the bytes of
values in hexadecimal digits. Everything but the walk is named explicitly, so that the files hold
what the format has, not only what Keras makes of it today.
"""

import io
import json
import zipfile

import h5py
import keras
import numpy as np

FOLDER = "files"
DATE = (1980, 1, 1, 0, 0, 0)
NUMBERS = ["float64", "float32", "float16", "int8", "uint8", "int32", "int64", "bool",
           "int16", "uint16", "uint32", "uint64"]


def values(dtype, count):
    """Small numbers of both signs, which wrap; but uint64 is read only up to int64's end."""
    numbers = np.arange(count) * 7 % 23 - (0 if dtype == "uint64" else 5)
    return numbers.astype(dtype)


class Stream(io.RawIOBase):
    """A file that cannot go back, so that sizes come after the data."""

    def __init__(self):
        self.data = io.BytesIO()

    def writable(self):
        return True

    def write(self, piece):
        return self.data.write(piece)


def python_zip(path):
    stream = Stream()
    with zipfile.ZipFile(stream, "w") as zip:
        zip.writestr(zipfile.ZipInfo("streamed.txt", DATE), "sizes after the data")
    stream.data.seek(0)
    with zipfile.ZipFile(stream.data, "a") as zip:
        zip.writestr(zipfile.ZipInfo("stored.txt", DATE), "stored as it is")
        numbers = "".join(f"{i} " for i in range(1000))
        zip.writestr(zipfile.ZipInfo("dir/deflated.txt", DATE), numbers, zipfile.ZIP_DEFLATED)
        with zip.open(zipfile.ZipInfo("zip64.txt", DATE), "w", force_zip64=True) as entry:
            entry.write(b"sizes in 64 bits")
    path.write_bytes(stream.data.getvalue())


def zeros_zip(path):
    with zipfile.ZipFile(path, "w") as zip:
        zip.writestr(zipfile.ZipInfo("zeros", DATE), bytes(1 << 20), zipfile.ZIP_DEFLATED)


def compressed_npz(path):
    np.savez_compressed(path, kernel=values("float32", 6).reshape(2, 3), step=np.int64(7))


def set_attributes(item):
    for dtype in NUMBERS:
        item.attrs[f"{dtype}_scalar"] = values(dtype, 3)[2]
    item.attrs["array"] = values("float32", 6).reshape(2, 3)
    item.attrs["big_endian"] = values(">i4", 3)
    item.attrs["empty_array"] = np.zeros(0)
    item.attrs["text"] = "größer"
    item.attrs["empty_text"] = ""
    item.attrs["fixed_text"] = np.bytes_("fixed")
    item.attrs["texts"] = ["kernel:0", "", "a longer bias:0"]
    item.attrs["fixed_texts"] = [b"kernel:0", b"bias:0"]


def set_datasets(group):
    for dtype in NUMBERS:
        group[dtype] = values(dtype, 6).reshape(2, 3)
    group["big_endian"] = values(">f4", 4)
    group["big_endian_wide"] = values(">i2", 4)
    group["scalar"] = np.float32(2.5)
    group["empty"] = np.zeros((0, 3), "float32")
    group["two_bytes"] = np.frombuffer(bytes(range(6)), "V2")  # bfloat16, as Keras stores it
    group["texts"] = np.array(["one", "two"], dtype=h5py.string_dtype())
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((3,))
    made = h5py.h5d.create(group.id, b"compact", h5py.h5t.IEEE_F64LE, space, compact)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values("float64", 3))


def set_chunked(group):
    data = values("float32", 70).reshape(7, 10)
    group.create_dataset("plain", data=data, chunks=(3, 4))
    group.create_dataset("one_chunk", data=data, chunks=(7, 10), compression="gzip")
    group.create_dataset("deflated", data=data, chunks=(3, 4), compression="gzip")
    group.create_dataset("all_filters", data=data, chunks=(3, 4), compression="gzip",
                         shuffle=True, fletcher32=True)
    group.create_dataset("checked", data=values("int8", 7), chunks=(3,), fletcher32=True)
    noise = (np.arange(8 * 179) * 2654435761 % 2**32).astype("uint32")  # its sums carry over
    group.create_dataset("checked_noise", data=noise, chunks=(179,), fletcher32=True)
    group.create_dataset("line", data=values("int64", 300), chunks=(2,))


def all_features(path, libver):
    with h5py.File(path, "w", libver=libver) as file:
        set_attributes(file)
        set_datasets(file.create_group("datasets"))
        set_chunked(file.create_group("chunked"))
        set_attributes(file["datasets/scalar"])
        nested = file.create_group("a/b/c/d")
        nested["name with spaces"] = values("int32", 2)
        ordered = file.create_group("ordered", track_order=True)
        for name in ("zebra", "ape", "mouse"):
            ordered[name] = np.int8(1)


def many_links(path, libver, count):
    with h5py.File(path, "w", libver=libver) as file:
        one = file.create_dataset("one", data=np.int8(1))
        for tracked in (False, True):
            group = file.create_group("tracked" if tracked else "plain", track_order=tracked)
            for i in range(count):
                group[f"layer_{i * 7 % count}"] = one


def small_model(library):
    layers = library.layers
    x = library.Input((4,))
    y = layers.Dense(3, name="first")(x)
    y = layers.BatchNormalization(name="norm")(y)
    y = layers.Dense(2, name="second")(y)
    model = library.Model(x, y)
    for weight in model.weights:
        weight.assign(values("float32", int(np.prod(weight.shape))).reshape(weight.shape) / 8)
    model.compile("adam", "mse")
    model.fit(np.ones((2, 4)), np.ones((2, 2)), verbose=0)
    return model


def keras_files(folder):
    keras.utils.set_random_seed(0)
    model = small_model(keras)
    model.save_weights(folder / "keras3.weights.h5")
    model.save(folder / "keras3.h5")
    half = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, dtype="bfloat16")])
    half.save_weights(folder / "bfloat16.weights.h5")
    import tf_keras

    small_model(tf_keras).save(folder / "keras2.h5")


def hexadecimal(value):
    return np.ascontiguousarray(value).tobytes().hex()


def described(value):
    """An attribute or the contents of a dataset, as JSON."""
    array = np.asarray(value)
    entry = {"shape": list(array.shape)}
    if array.dtype.kind in "OSU":
        texts = [x.decode() if isinstance(x, bytes) else str(x) for x in array.reshape(-1)]
        return entry | {"texts": texts}
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return entry | {"dtype": "bfloat16" if array.dtype.kind == "V" else array.dtype.name,
                    "data": hexadecimal(array)}


def walk(item):
    entry = {"path": item.name, "attributes": {k: described(v) for k, v in item.attrs.items()}}
    if isinstance(item, h5py.Dataset):
        yield entry | {"value": described(item[()])}
        return
    yield entry | {"names": list(item)}
    done = set()
    for child in item.values():
        if child.id.__hash__() not in done:
            done.add(child.id.__hash__())
            yield from walk(child)


def write(folder, only):
    if only is not None and FOLDER not in only:
        return
    folder = folder / FOLDER
    folder.mkdir(exist_ok=True)
    python_zip(folder / "python.zip")
    zeros_zip(folder / "zeros.zip")
    compressed_npz(folder / "compressed.npz")
    for libver in ("earliest", "latest"):
        all_features(folder / f"{libver}.h5", libver)
        many_links(folder / f"many_{libver}.h5", libver, 300)
    keras_files(folder)
    for path in sorted(folder.glob("*.h5")):
        with h5py.File(path) as file:
            lines = ",\n".join(json.dumps(entry) for entry in walk(file))
        path.with_suffix(".json").write_text(f"[\n{lines}\n]\n")
