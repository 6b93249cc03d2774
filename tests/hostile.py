"""Files that are broken on purpose: one change, by a seed, to a good .npz, .json or .csv file."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable

import numpy as np

ABSURD = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e30, -1e30, 3e38, 1e300, 1e-40, 2.0**63)
TYPES = ("f2", "f4", "f8", ">f4", ">f8", "g", "c8", "i1", "i8", "u8", "?", "U3", "S3", "M8[s]", "O", "f4,i4", "V4")
WORDS = ("", "[]", "{}", "null", "1", "NaN", '{"dt": NaN}', '{"a": "\\ud800"}', "[" * 5000, "not json", "\0", "é/a",
         "x" * 70000, '{"incoming_forces": 3}', '{"incoming_forces": {"axes": []}}', '{"": ""}',
         '{"a:b": {"c": []}}')  # fmt: skip
HUGE = ((10**12,), (2**31, 2**31), (10**9, 3), (-1,), (2**63,), (0, 10**18))
Arrays = dict[str, np.ndarray]


def packed(arrays: Arrays, compress: bool = False) -> bytes:
    """An archive as NumPy writes it; objects pickled."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(array))
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    """An array as NumPy writes it."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()


def with_member(arrays: Arrays, name: str, content: bytes, times: int = 1) -> bytes:
    """An archive in which one member has other content, and may be there several times."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for other, array in arrays.items():
            for _ in range(times if other == name else 1):
                archive.writestr(f"{other}.npy", content if other == name else npy(array))
    return file.getvalue()


def retyped(array: np.ndarray, kind: str) -> np.ndarray:
    """An array of the same shape and another type."""
    try:
        with np.errstate(all="ignore"):
            return array.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(array.shape, kind)


def reshaped(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array of another shape."""
    forms = (array.T, array.ravel(), array[None], array[..., None], array[:0] if array.ndim else array[None][:0],
             np.concatenate([np.atleast_1d(array)] * 2), np.atleast_1d(array)[..., :1])  # fmt: skip
    return rng.choice(forms)


def with_absurd(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array with one value, or all, out of this world."""
    array = np.array(array)
    if array.dtype.kind == "U":
        return np.full(array.shape, rng.choice(WORDS))
    if array.size == 0:
        return np.full((1,), rng.choice(ABSURD))
    value = rng.choice(ABSURD)
    with np.errstate(all="ignore"):
        where = ... if rng.random() < 0.3 else np.unravel_index(rng.randrange(array.size), array.shape)
        array[where] = np.asarray(value).astype(array.dtype)
    return array


def flipped(data: bytes, rng: random.Random, count: int | None = None) -> bytes:
    """Some bytes are others."""
    found = bytearray(data)
    for _ in range(count or rng.choice((1, 1, 2, 8, 64))):
        if found:
            found[rng.randrange(len(found))] ^= rng.randrange(1, 256)
    return bytes(found)


def with_flipped(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array with some bytes of its values changed; the archive is whole."""
    data = flipped(np.ascontiguousarray(array).tobytes(), rng)
    return np.frombuffer(data, array.dtype).reshape(array.shape)


def with_header(array: np.ndarray, rng: random.Random) -> bytes:
    """An array whose header says something else than it has."""
    data = npy(array)
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:start])
    header[rng.choice(("shape", "descr", "fortran_order"))] = rng.choice((*HUGE, "<f8", "|O", True, "[", ("<f8",), {}))
    text = rng.choice((repr(header), repr(header), "{" * 200, "", repr({**header, "more": 1}))).encode().ljust(118)
    version = rng.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\7\0"))
    return b"\x93NUMPY" + version + struct.pack("<H" if version == b"\1\0" else "<I", len(text)) + text + data[start:]


def hostile_npz(arrays: Arrays, seed: int) -> bytes:
    """A changed archive of some arrays."""
    rng = random.Random(seed)
    arrays = dict(arrays)
    name = rng.choice(list(arrays))
    whole = packed(arrays)

    def one(change: Callable[[np.ndarray], np.ndarray]) -> bytes:
        arrays[name] = change(arrays[name])
        return packed(arrays, rng.random() < 0.2)

    def swapped() -> bytes:
        other = rng.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return packed(arrays)

    def dropped() -> bytes:
        del arrays[name]
        return packed(arrays)

    def added() -> bytes:
        return packed(arrays | {rng.choice(("more", f"{name}2", f"../{name}", "é\n", "")): arrays[name]})

    def other_kind() -> bytes:
        return rng.choice((b"", b"PK\3\4", b"#usda 1.0\n", b"{}", npy(np.zeros(3)), packed({}), b"PK\5\6" + bytes(18)))

    changes = (
        *[lambda: one(lambda array: with_absurd(array, rng))] * 5,
        *[lambda: one(lambda array: with_flipped(array, rng))] * 4,
        *[lambda: one(lambda array: retyped(array, rng.choice(TYPES)))] * 3,
        *[lambda: one(lambda array: reshaped(array, rng))] * 2,
        *[lambda: with_member(arrays, name, with_header(arrays[name], rng))] * 2,
        lambda: with_member(arrays, name, npy(arrays[name]), times=2),
        lambda: with_member(arrays, name, npy(arrays[name])[: rng.randrange(200)]),
        lambda: whole[: rng.randrange(len(whole))],
        *[lambda: flipped(whole, rng)] * 2,
        lambda: flipped(packed(arrays, compress=True), rng),
        lambda: with_member(arrays, name, bytes(10**6)),
        swapped,
        dropped,
        added,
        other_kind,
    )
    return rng.choice(changes)()


def hostile_json(content: dict, seed: int) -> bytes:
    """A changed object."""
    rng = random.Random(seed)
    text = json.dumps(content)
    spots = [(content, key) for key in content]
    for where, key in spots:
        inner = where[key]
        keys = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        spots += [(inner, other) for other in keys]
    values = (*ABSURD, None, True, [], {}, "1", [[]], [None], 10**400, {"a": {}}, "\ud800")

    def replaced() -> bytes:
        where, key = rng.choice(spots)
        where[key] = rng.choice(values)
        return json.dumps(content).encode("utf-8", "surrogatepass")

    def renamed() -> bytes:
        name = rng.choice(("", "é", "joint_position:", "time", "\ud800", "a:b:c", "forces"))
        content[name] = content.pop(next(iter(content)))
        return json.dumps(content).encode("utf-8", "surrogatepass")

    def longer() -> bytes:
        where, key = rng.choice(spots)
        where[key] = [where[key]] * rng.choice((0, 2, 3, 1000))
        return json.dumps(content).encode()

    changes = (
        *[replaced] * 5, renamed, *[longer] * 2, lambda: text[: rng.randrange(len(text))].encode(),
        *[lambda: flipped(text.encode(), rng)] * 2, lambda: b"[" * 100_000, lambda: rng.choice(WORDS).encode(),
        lambda: b"\xff\xfe" + text.encode("utf-16-le"), lambda: text.replace("}", ', "a": 1}').encode(),
    )  # fmt: skip
    return rng.choice(changes)()


def hostile_csv(text: str, seed: int) -> bytes:
    """Changed lines of cells."""
    rng = random.Random(seed)
    cells = [line.split(",") for line in text.splitlines()]
    line = rng.choice(cells)

    def replaced() -> bytes:
        words = (*map(str, ABSURD), "", "x", '"', "1e999", "-0", "0x1", "١", "\0", "9" * 5000)
        line[rng.randrange(len(line))] = rng.choice(words)
        return "\n".join(",".join(own) for own in cells).encode()

    changes = (*[replaced] * 5, lambda: flipped(text.encode(), rng), lambda: text[: rng.randrange(len(text))].encode(),
               lambda: (text + text.splitlines()[-1]).encode(), lambda: b"\xef\xbb\xbf" + text.encode(),
               lambda: text.replace(",", ";", 3).encode(), lambda: text.encode("utf-16"))  # fmt: skip
    return rng.choice(changes)()
