"""Pairs of solids at random, and their places as the lane functions find them."""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import warp as wp
from scipy.spatial.transform import Rotation

from warp_artic.collision.bodies import body
from warp_artic.collision.collide import collide, contact_points
from warp_artic.collision.kinds import Solid
from warp_artic.collision.places import PLACE_ROWS, UNUSED
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import SCALAR32, SCALAR64, WIDE32, WIDE64, Numbers
from warp_artic.model.arrays import load_mat3, load_vec3

TYPES = {"wide32": WIDE32, "wide64": WIDE64, "scalar32": SCALAR32, "scalar64": SCALAR64}
ROWS = 30
"""Rows of a pair that is given: x, R and size of both shapes."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of the same two kinds."""

    kind0: Solid
    kind1: Solid
    x0: np.ndarray
    """[m], shape (count, 3)."""
    R0: np.ndarray
    """Shape (count, 3, 3)."""
    size0: np.ndarray
    """[m], shape (count, 3)."""
    x1: np.ndarray
    R1: np.ndarray
    size1: np.ndarray
    hull0: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))
    """Vertices of a hull [m], shape (vertices, 3), of all shapes 0."""
    hull1: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))

    def rows(self) -> np.ndarray:
        """What the kernel is given, shape (ROWS, count)."""
        parts = self.x0, self.R0.reshape(-1, 9), self.size0, self.x1, self.R1.reshape(-1, 9), self.size1
        return np.ascontiguousarray(np.concatenate(parts, axis=1).T)

    def taken(self, which: np.ndarray) -> "Pairs":
        """Some of the pairs."""
        names = "x0", "R0", "size0", "x1", "R1", "size1"
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def rounded(self, scalar: type) -> "Pairs":
        """The same pairs, as a number type can say them."""
        dtype = wp.dtype_to_numpy(scalar)
        names = "x0", "R0", "size0", "x1", "R1", "size1", "hull0", "hull1"
        values = {name: getattr(self, name).astype(dtype).astype(float) for name in names}
        return replace(self, **values)


@dataclass(frozen=True)
class Places:
    """What is found: x and n of shape (places, count, 3), gap of shape (places, count), infinite where not used."""

    x: np.ndarray
    n: np.ndarray
    gap: np.ndarray


@cache
def kernel(numbers: Numbers) -> wp.Kernel:
    """Finds the places of pairs."""
    T = numbers.real

    @wp.kernel(**OPTIONS)
    def find(
        given: wp.array2d(dtype=T),
        hulls: wp.array2d(dtype=T),
        kind0: int,
        kind1: int,
        hull0: int,
        hull1: int,
        first: int,
        times: int,
        places: wp.array2d(dtype=T),
    ):
        i = wp.tid()
        for _k in range(times):
            body0 = body(kind0, 0, hull0, 0, load_mat3(given, 3, i), load_vec3(given, 12, i))
            body1 = body(kind1, hull0, hull1, 0, load_mat3(given, 18, i), load_vec3(given, 27, i))
            collide(hulls, places, first, i, load_vec3(given, 0, i), body0, load_vec3(given, 15, i), body1)

    return find


def device_array(values: np.ndarray, numbers: Numbers) -> wp.array:
    """Rows of numbers, a column a lane vector."""
    values = np.ascontiguousarray(values, wp.dtype_to_numpy(numbers.scalar))
    if numbers.lanes > 1:
        values = values.reshape(values.shape[0], -1, numbers.lanes)
    return wp.array(values, dtype=numbers.real, device="cpu")


def find_places(pairs: Pairs, number: str = "wide32", first: int = 0) -> Places:
    """The places of pairs, as a number type finds them; those before `first` are left as they are."""
    numbers = TYPES[number]
    count = len(pairs.x0)
    padding = -count % numbers.lanes
    rows = np.pad(pairs.rows(), ((0, 0), (0, padding)), mode="edge")
    hulls = np.concatenate([pairs.hull0, pairs.hull1]).reshape(-1, 1)
    points = contact_points(pairs.kind0, pairs.kind1)
    found = device_array(np.full((PLACE_ROWS * (first + points), count + padding), np.nan), numbers)
    arguments = [
        device_array(rows, numbers),
        device_array(np.repeat(hulls, numbers.lanes, axis=1), numbers),
        int(pairs.kind0),
        int(pairs.kind1),
        len(pairs.hull0),
        len(pairs.hull1),
        first,
        1,
        found,
    ]
    wp.launch(kernel(numbers), dim=found.shape[1], inputs=arguments, device="cpu")
    values = found.numpy().reshape(first + points, PLACE_ROWS, -1)[first:, :, :count].astype(float)
    gap = np.where(values[:, 6] > 0.5 * UNUSED, np.inf, values[:, 6])
    return Places(values[:, :3].transpose(0, 2, 1), values[:, 3:6].transpose(0, 2, 1), gap)


def random_pairs(kind0: Solid, kind1: Solid, count: int, seed: int) -> Pairs:
    """Pairs of solids of sizes about 1, most of them near each other: some far inside, some apart."""
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.2, 1.2, size=(2, count, 3))
    return Pairs(
        kind0,
        kind1,
        x0=rng.normal(size=(count, 3)) * 0.3,
        R0=Rotation.random(count, random_state=rng).as_matrix(),
        size0=sizes[0],
        x1=rng.normal(size=(count, 3)) * rng.uniform(0.1, 2.5, size=(count, 1)),
        R1=Rotation.random(count, random_state=rng).as_matrix(),
        size1=sizes[1],
        hull0=rng.normal(size=(24, 3)) * 0.6,
        hull1=rng.normal(size=(24, 3)) * 0.6,
    )
