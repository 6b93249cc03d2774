"""The meshes of the samples with elastic bodies, in `scenes/assets`. Each stage says what is made of its mesh.

python samples/meshes.py [FOLDER]
"""

import itertools
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main(folder):
    """Write all meshes."""
    for name, (points, elements) in meshes().items():
        (folder / f"{name}_mesh.usda").write_text(layer(name, points, elements), encoding="utf-8")


def meshes():
    """Points and elements by name."""
    return {
        "beam": sheet(40, 4, 0.4, 0.04),
        "finger": block(10, 2, 2, 0.1, 0.02, 0.016),
        "fingertip": block(8, 2, 2, 0.16, 0.03, 0.03),
        "jelly": block(4, 4, 4, 0.12, 0.12, 0.12),
        "starfish": star(arms=6, along=10, across=4, reach=0.3, width=0.06),
    }


def sheet(along, across, length, height):
    """A strip in the plane x, z from the origin, of squares of four triangles around a node in their middle."""
    corners = np.array(list(np.ndindex(across + 1, along + 1)))[:, ::-1]
    middles = np.array(list(np.ndindex(across, along)))[:, ::-1] + 0.5
    places = np.concatenate([corners, middles]) / (along, across)
    triangles = []
    for square, (row, column) in enumerate(np.ndindex(across, along)):
        a = row * (along + 1) + column
        ring = (a, a + 1, a + along + 2, a + along + 1)
        triangles += [(start, end, len(corners) + square) for start, end in zip(ring, ring[1:] + ring[:1])]
    x, z = (places * (length, height)).T
    return np.stack([x, np.zeros(len(x)), z - height / 2], axis=1), np.array(triangles)


def block(along, across, high, length, width, height):
    """A block of cubes of six tetrahedra each, from the origin along x, in the middle of y and z."""
    counts = np.array([along, across, high])
    places = np.array(list(np.ndindex(*(counts + 1))))
    points = places / counts * (length, width, height) - (0, width / 2, height / 2)
    number = {tuple(place): index for index, place in enumerate(places.tolist())}
    tetrahedra = []
    for cube in np.ndindex(*counts):
        for turn in itertools.permutations(range(3)):
            corners = np.cumsum([cube, *np.eye(3, dtype=int)[list(turn)]], axis=0)
            nodes = [number[tuple(corner)] for corner in corners.tolist()]
            is_right = np.linalg.det(points[nodes[1:]] - points[nodes[0]]) > 0
            tetrahedra.append(nodes if is_right else [nodes[0], nodes[2], nodes[1], nodes[3]])
    return points, np.array(tetrahedra)


def star(arms, along, across, reach, width):
    """Arms that taper to half their width around a middle with a side for each, in the plane x, y."""
    radius = width / 2 / np.tan(np.pi / arms)
    triangles = []
    for arm in range(arms):
        angle = 2 * np.pi * arm / arms
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        share = np.linspace(0, 1, along + 1)
        x, half = radius + share * (reach - radius), width / 2 * (1 - share / 2)
        arm_points = np.stack(
            [np.repeat(x[:, None], across + 1, 1), half[:, None] * np.linspace(-1, 1, across + 1)], -1
        )
        grid = arm_points @ turn
        for i, j in itertools.product(range(along), range(across)):
            a, b, c, d = grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]
            triangles += [(a, b, c), (a, c, d)] if j < across / 2 else [(a, b, d), (b, c, d)]
        triangles += sector(grid[0], across)
    corners = np.array(triangles).reshape(-1, 2)
    points, elements = np.unique(np.round(corners, 9), axis=0, return_inverse=True)
    order = np.lexsort((np.round(np.arctan2(points[:, 1], points[:, 0]), 6), np.round(np.hypot(*points.T), 6)))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.pad(points[order], ((0, 0), (0, 1))), place[elements.reshape(-1)].reshape(-1, 3)


def sector(side, count):
    """Triangles between the origin and a side of some segments."""
    first, last = side[0], side[-1]
    point = lambda row, place: row / count * first + place / count * (last - first)  # noqa: E731
    found = []
    for row in range(count):
        for place in range(row + 1):
            found.append((point(row, place), point(row + 1, place), point(row + 1, place + 1)))
            if place < row:
                found.append((point(row, place), point(row + 1, place + 1), point(row, place + 1)))
    return found


def layer(name, points, elements):
    """A layer of one mesh."""
    places = ", ".join(f"({', '.join(f'{value:.6g}' for value in point + 0.0)})" for point in points)
    if elements.shape[1] == 3:
        kind = "Mesh"
        lists = f"int[] faceVertexCounts = [{', '.join('3' * len(elements))}]\n    int[] faceVertexIndices = ["
        lists += ", ".join(map(str, elements.ravel())) + "]"
        lists += '\n    uniform token subdivisionScheme = "none"\n    bool doubleSided = 1'
    else:
        kind = "TetMesh"
        lists = f"int4[] tetVertexIndices = [{', '.join(str(tuple(map(int, one))) for one in elements)}]"
        lists += f"\n    int3[] surfaceFaceVertexIndices = [{', '.join(map(str, surface(elements)))}]"
    low, high = (", ".join(f"{value:.6g}" for value in end(points, axis=0)) for end in (np.min, np.max))
    head = '(\n    """Written by samples/meshes.py."""\n    defaultPrim = "' + name + '"\n)'
    return f"""#usda 1.0
{head}

def {kind} "{name}"
{{
    float3[] extent = [({low}), ({high})]
    point3f[] points = [{places}]
    {lists}
}}
"""


def surface(tetrahedra):
    """The faces that one tetrahedron has, seen from outside the other way round than from inside."""
    faces = {}
    for a, b, c, d in tetrahedra.tolist():
        for face in ((a, c, b), (a, b, d), (a, d, c), (b, c, d)):
            faces.setdefault(tuple(sorted(face)), []).append(face)
    return [found[0] for found in faces.values() if len(found) == 1]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "scenes" / "assets")
