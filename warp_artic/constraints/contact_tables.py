"""What detection and the law of contacts read of contact pairs: tables and numbers, and the names of their points."""

from collections.abc import Callable

import numpy as np

from warp_artic.collision.collide import contact_points
from warp_artic.collision.kinds import Solid
from warp_artic.constraints.loop_geometry import loops
from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.reach import ball_of
from warp_artic.description.shape import BY_HALF_EXTENTS, Seam, Shape, ShapeKind
from warp_artic.model.allowed_values import Allowed
from warp_artic.model.base import base_rows
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import Parameter
from warp_artic.model.frames import link_to_moving, origin_of
from warp_artic.model.row import Place

ROOM = 1.01
"""By how much balls around shapes are larger than these: for rounding, and for what searches leave."""

UNUSED_DISTANCE = -2.0e9
"""The contact distance of a pair whose point a host gives while there is none [m]: no gap is less."""

KINDS = {
    ShapeKind.PLANE: Solid.PLANE,
    ShapeKind.SPHERE: Solid.SPHERE,
    ShapeKind.CAPSULE: Solid.CAPSULE,
    ShapeKind.CYLINDER: Solid.CYLINDER,
    ShapeKind.BOX: Solid.BOX,
    ShapeKind.CONVEX: Solid.CONVEX,
    ShapeKind.CONE: Solid.CONE,
    ShapeKind.ELLIPSOID: Solid.ELLIPSOID,
}


def pairs(articulation: Articulation) -> tuple[ContactPair, ...]:
    """The pairs that are enabled."""
    return tuple(one for one in articulation.constraints_of(ContactPair) if one.enabled)


def sides(pair: ContactPair) -> tuple[tuple[int, Shape], tuple[int, Shape]]:
    """Link and shape of both sides, in the order of the kinds in which detection takes them."""
    found = (pair.link0, pair.shape0), (pair.link1, pair.shape1)
    return found[::-1] if KINDS[pair.shape0.kind] > KINDS[pair.shape1.kind] else found


def points_of_pairs(articulation: Articulation) -> list[tuple[ContactPair, int]]:
    """The pairs that are enabled, each with the number of its first point."""
    found = pairs(articulation)
    firsts = np.cumsum([0, *(point_count(one) for one in found)])
    return list(zip(found, firsts.tolist()))


def contact_motions(articulation: Articulation) -> list[BaseMotion]:
    """The motions that shapes on the world have, each once."""
    found: list[BaseMotion] = []
    for one in pairs(articulation):
        if one.motion0 is not None and not any(one.motion0 is other or one.motion0 == other for other in found):
            found.append(one.motion0)
    return found


def _motion_number(pair: ContactPair, link: int, motions: list[BaseMotion]) -> int:
    """Of the shape of a pair that is on a link, or on the world."""
    return motions.index(pair.motion0) if link == WORLD and pair.motion0 is not None else -1


def motions_at_start(articulation: Articulation) -> np.ndarray:
    """The rows of all motions, as those of a base (`model.base`), and of their surfaces."""
    return np.ravel([[*base_rows(), *np.zeros(6)] for _ in contact_motions(articulation)])


def point_count(pair: ContactPair) -> int:
    """How many points a pair has."""
    return contact_points(*(int(KINDS[shape.kind]) for _, shape in sides(pair)))


def row_places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    """Three rows for each point, on the dofs from one link to where the paths meet, then on those from the other."""
    found = []
    for one, point in points_of_pairs(articulation):
        inner, outer = (layout.inward(link) for link, _ in sides(one))
        dofs = [dof for dof in outer if dof not in inner] + [dof for dof in inner if dof not in outer]
        count = point_count(one)
        if dofs:
            found += [Place(one.name, tuple(dofs), item) for item in range(3 * point, 3 * (point + count))]
    return found


PAIR_TABLES = (
    *("link0", "link1", "meet", "first", "points", "kind0", "kind1", "hull0", "hull0_count", "hull1", "hull1_count"),
    *("sense", "patch", "seam", "seams", "one_sided", "motion0", "motion1", "is_given", "keeper", "keepers"),
)
"""Names of what `pair_structure` has of each pair, in its order, but for the last."""


def pair_structure(articulation: Articulation) -> tuple[tuple, ...]:
    """Of each pair its links, where their paths meet, its first point and their number, its kinds, its hulls, -1 where
    these are the other way round than it has them, which side is a patch of a surface, with its seams, and of each
    side the number of its motion, -1 where it moves as its link, whether a host gives its point, and the first of the
    loop joints that keep it apart until they break, with their number, and these."""
    motions = contact_motions(articulation)
    loop_numbers = {loop.name: number for number, loop in enumerate(loops(articulation))}
    layout, world = DofLayout(articulation), len(articulation.links)
    found, point, hull, seam, keeper = [], 0, 0, 0, 0
    for one in pairs(articulation):
        (link0, shape0), (link1, shape1) = sides(one)
        ends = (world if link == WORLD else link for link in (link0, link1))
        count, sizes = point_count(one), (len(hull_of(shape0)), len(hull_of(shape1)))
        kinds = (int(KINDS[shape0.kind]), int(KINDS[shape1.kind]))
        hulls = (hull, sizes[0], hull + sizes[0], sizes[1])
        sense = 1 if shape0 is one.shape0 else -1
        patch = _patch_side(one)
        seams = len(pair_seams(one))
        is_one_sided = int(patch >= 0 and (shape0, shape1)[patch].is_one_sided)
        patches = (patch, seam, seams, is_one_sided)
        moved = (_motion_number(one, link, motions) for link in (link0, link1))
        meet, is_given = layout.meet(link0, link1), int(one.is_given)
        keepers = tuple(loop_numbers[name] for name in one.keepers)
        kept = (keeper, len(keepers), keepers)
        found.append((*ends, meet, point, count, *kinds, *hulls, sense, *patches, *moved, is_given, *kept))
        keeper += len(keepers)
        point += count
        seam += seams
        hull += sum(sizes)
    return tuple(found)


def hull_of(shape: Shape) -> tuple[tuple[float, float, float], ...]:
    """The points of which a shape is the hull."""
    return shape.points if shape.kind is ShapeKind.CONVEX else ()


def _patch_side(pair: ContactPair) -> int:
    """The first side that is a patch of a surface; -1 where there is none."""
    return next((side for side, (_, shape) in enumerate(sides(pair)) if shape.seams or shape.is_one_sided), -1)


def pair_seams(pair: ContactPair) -> tuple[Seam, ...]:
    """The seams of the side that is a patch."""
    side = _patch_side(pair)
    return sides(pair)[side][1].seams if side >= 0 else ()


def seam_ways(articulation: Articulation) -> np.ndarray:
    """Of each seam the way out, and cosine and sine of its bend."""
    seams = [seam for one in pairs(articulation) for seam in pair_seams(one)]
    return np.ravel([(*seam.direction, np.cos(seam.bend), np.sin(seam.bend)) for seam in seams])


def pair_frames(side: int) -> Parameter:
    """The frames on one side, in the moving frames of their links, or in the world about the origin."""

    def values(articulation: Articulation) -> np.ndarray:
        placed = [link_to_moving(joint, link) for link, joint in zip(articulation.links, articulation.inbound)]
        origin, rows = origin_of(articulation), []
        for one in pairs(articulation):
            link, shape = sides(one)[side]
            R_LM, p_LM = (np.eye(3), origin) if link == WORLD else placed[link]
            turned = R_LM.T @ shape.frame.rotation
            rows.append([*turned.ravel(), *(R_LM.T @ (np.asarray(shape.frame.position) - p_LM))])
        return np.ravel(rows)

    return Parameter(name=f"contact_frame{side}", of="contact_pair", values=values, size=12)


def pair_sizes(side: int) -> Parameter:
    """The sizes on one side, as detection takes them."""

    def values(articulation: Articulation) -> np.ndarray:
        return np.ravel([sides(one)[side][1].size for one in pairs(articulation)])

    return Parameter(name=f"contact_size{side}", of="contact_pair", values=values, size=3)


def ball_radius(shape: Shape) -> float:
    """Of a ball about the origin of a shape's frame around it [m]; of a plane zero."""
    if shape.kind is ShapeKind.PLANE:
        return 0.0
    center, radius = ball_of(shape)
    return ROOM * (float(np.linalg.norm(center - shape.frame.position)) + radius)


def half_thickness(shape: Shape) -> float:
    """Half of the least extent of a shape [m]; of what is flat infinite: the other shape says what passes it."""
    if shape.kind is ShapeKind.PLANE:
        return np.inf
    if shape.kind in BY_HALF_EXTENTS:
        return min(shape.half_extents)
    if shape.kind is ShapeKind.CONVEX:
        return 0.5 * float(np.min(np.ptp(np.array(shape.points), axis=0))) or np.inf
    if shape.kind in (ShapeKind.CYLINDER, ShapeKind.CONE):
        return min(shape.radius, shape.half_height)
    return shape.radius


def pair_thickness(pair: ContactPair) -> float:
    """Half of the least extent of what a pair is of [m]."""
    if pair.given_thickness is not None:
        return pair.given_thickness
    return min(half_thickness(pair.shape0), half_thickness(pair.shape1))


def start_distance(pair: ContactPair) -> float:
    """The gap below which a pair is looked at, at the start [m]."""
    return UNUSED_DISTANCE if pair.is_given else pair.contact_distance


def hull_points(articulation: Articulation) -> np.ndarray:
    """The points of all hulls, three numbers each."""
    return np.ravel([point for one in pairs(articulation) for _, shape in sides(one) for point in hull_of(shape)])


def of_each_pair(name: str, value: Callable[[ContactPair], float], allowed: Allowed | None = None) -> Parameter:
    """A number of each pair."""
    return Parameter(
        name=f"contact_{name}",
        of="contact_pair",
        values=lambda articulation: [value(one) for one in pairs(articulation)],
        allowed=allowed,
    )


def point_names(articulation: Articulation) -> tuple[str, ...]:
    """Of each point the paths of both colliders, and a number: pairs of their patches are counted on."""
    counts: dict[str, int] = {}
    found = []
    for one in pairs(articulation):
        name = f"{one.shape0.path}:{one.shape1.path}"
        first = counts.get(name, 0)
        counts[name] = first + point_count(one)
        found += [f"{name}:{number}" for number in range(first, counts[name])]
    return tuple(found)
