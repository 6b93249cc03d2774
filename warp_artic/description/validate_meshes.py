"""The rules of elastic bodies and of the tendons on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.elastic_body import ElasticBody, ElasticLaw, ElasticMaterial, PlaneState
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track

FLAT = 1e-9
"""Smallest area or volume of an element, relative to the square or cube of its longest edge."""
APART = 1e-9
"""Smallest length of a tendon, and of its segments, relative to the size of its body."""
APART_OUTSIDE = 1e-6
"""The same of a segment that does not lie on the body: nodes are authored as floats, other points as doubles."""
SUM = 1e-6
"""By how much the sum of weights may differ from one."""
AUXETIC = -0.5
"""Poisson's ratio of neo-Hookean materials in plane stress: lambda + 2 mu / 3 of `meshes.materials` vanishes there."""
SHOWN = 6
"""How many nodes of a part are named."""
MEASURES = {2: ("area", "m^2"), 3: ("volume", "m^3")}
"""What an element has, by the dimension of its body."""


def mesh_findings(scene: Scene) -> Iterator[Diagnostic]:
    """Every broken rule of the elastic bodies of a scene and of the tendons on them."""
    links = {path: tree.links[link].pose for tree in scene.articulations for path, link in tree.bodies.items()}
    bodies: dict[str, ElasticBody] = {}
    for body in scene.elastic_bodies:
        if body.name in bodies:
            yield _error("names", body.name, "2 elastic bodies have this name; names must differ")
        bodies[body.name] = body
        yield from body_findings(body)
        yield from _attachments(body, links)
    names = set()
    for tendon in scene.mesh_tendons:
        if tendon.name in names:
            yield _error("names", tendon.name, "2 tendons have this name; names must differ")
        names.add(tendon.name)
        yield from _tendon(tendon, bodies.get(tendon.body), links)
        through = any(isinstance(point, LinkPoint) for point in tendon.waypoints)
        if through and tendon.body in bodies and bodies[tendon.body].obstacles:
            text = f"{tendon.name} has waypoints on links; a body with obstacles has nothing to do with links"
            yield _error("elastic-obstacle", tendon.body, text)


def body_findings(body: ElasticBody) -> Iterator[Diagnostic]:
    """The rules of one elastic body, but for what it has to do with links."""
    yield from _material(body.name, body.material)
    if body.dim == 2 and body.plane_state is PlaneState.STRESS and body.material.law is ElasticLaw.NEO_HOOKEAN:
        if not body.material.poisson_ratio > AUXETIC:
            text = (
                f"Poisson's ratio {body.material.poisson_ratio:g} must be above {AUXETIC:g} in plane stress with the "
                "law neoHookean, whose energy would have no bound below"
            )
            yield _error("elastic-material", body.name, text)
    if body.dim == 2 and not (0.0 < body.thickness < math.inf):
        text = f"thickness {body.thickness:g} m must be positive and finite"
        yield _error("elastic-thickness", body.name, text)
    yield from _obstacles(body)
    shapes = list(_shapes(body))
    yield from shapes
    if shapes:
        return
    elements = list(_elements(body))
    yield from elements
    yield from _nodes(body.name, "pinned", body.pinned, len(body.points))
    if not elements:
        yield from _parts(body)


def measures(points: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Signed areas or volumes of elements, shape (M) [m^2 or m^3]."""
    edges = points[elements[:, 1:]] - points[elements[:, :1]]
    return np.linalg.det(edges) / math.factorial(points.shape[1])


def valid(points: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Of which elements all nodes exist, shape (M)."""
    return ((elements >= 0) & (elements < len(points))).all(axis=1)


def parts_of(count: int, elements: np.ndarray) -> np.ndarray:
    """For each of some nodes the first node of the part of the mesh that it is in, shape (N)."""
    part = np.arange(count)
    while True:
        least = part[elements].min(axis=1, keepdims=True)
        joined = part.copy()
        np.minimum.at(joined, part[elements], np.broadcast_to(least, elements.shape))
        joined = joined[joined]
        if np.array_equal(joined, part):
            return part
        part = joined


def _all_positive(values: np.ndarray) -> bool:
    return bool(((np.asarray(values, float) > 0.0) & np.isfinite(values)).all())


def _material(path: str, material: ElasticMaterial) -> Iterator[Diagnostic]:
    for name, value, unit in (
        ("Young's modulus", material.young_modulus, "Pa"),
        ("density", material.density, "kg/m^3"),
    ):
        if not (0.0 < value < math.inf):
            yield _error("elastic-material", path, f"{name} {value:g} {unit} must be positive and finite")
    if not (-1.0 < material.poisson_ratio < 0.5):
        text = f"Poisson's ratio {material.poisson_ratio:g} must be above -1 and below 0.5"
        yield _error("elastic-material", path, text)
    for name, value, unit in (
        ("mass damping", material.mass_damping, "1/s"),
        ("stiffness damping", material.stiffness_damping, "s"),
    ):
        if not (0.0 <= value < math.inf):
            yield _error("elastic-material", path, f"{name} {value:g} {unit} must be finite and not negative")


def _obstacles(body: ElasticBody) -> Iterator[Diagnostic]:
    if body.obstacles and body.attachments:
        count = len(body.attachments)
        text = f"{count} nodes are attached to links; a body with obstacles has nothing to do with links"
        yield _error("elastic-obstacle", body.name, text)
    for one in body.obstacles:
        for problem in one.problems():
            yield _error("elastic-obstacle", body.name, f"the obstacle {one.shape.path} {problem}")


def _shapes(body: ElasticBody) -> Iterator[Diagnostic]:
    """Whether there are elements, with nodes that exist, at places that are finite."""
    points, elements = body.points, body.elements
    if points.ndim != 2 or points.shape[1] not in MEASURES:
        yield _error("elastic-points", body.name, f"points have the shape {points.shape}; (N, 2) or (N, 3) is needed")
        return
    for name, values in (
        ("points", points),
        ("start points", body.start_points),
        ("start velocities", body.start_velocities),
    ):
        if values is None:
            continue
        if values.shape != points.shape:
            text = f"{name} have the shape {values.shape}; that of the points, {points.shape}, is needed"
            yield _error("elastic-points", body.name, text)
        elif not np.isfinite(values).all():
            node = int(np.argmin(np.isfinite(values).all(axis=1)))
            text = f"node {node} has {name} {_show(values[node])}, must be finite"
            yield _error("not-finite", body.name, text)
    if elements.ndim != 2 or elements.shape[1] != body.dim + 1:
        text = f"elements have the shape {elements.shape}; (M, {body.dim + 1}) is needed"
        yield _error("elastic-element", body.name, text)
        return
    if not len(elements):
        yield _error("elastic-element", body.name, "has no element, must have at least one")
        return
    for name, values in (("Young's moduli", body.element_moduli), ("densities", body.element_densities)):
        if values is not None and (np.shape(values) != (len(elements),) or not _all_positive(values)):
            text = f"{name} of elements must be {len(elements)} positive and finite numbers, one for each"
            yield _error("elastic-material", body.name, text)
    dangling = (elements < 0) | (elements >= len(points))
    if dangling.any():
        element, corner = np.argwhere(dangling)[0]
        text = f"element {element} has node {elements[element, corner]}; nodes are 0 to {len(points) - 1}"
        yield _error("elastic-element", body.name, text + _more(dangling.any(axis=1)))


def _elements(body: ElasticBody) -> Iterator[Diagnostic]:
    """Whether elements are spanned by different nodes, each by others, and all the same way round."""
    corners = np.sort(body.elements, axis=1)
    repeated = (corners[:, 1:] == corners[:, :-1]).any(axis=1)
    if repeated.any():
        element = int(np.argmax(repeated))
        text = f"element {element} has a node twice: {_listed(body.elements[element])}"
        yield _error("elastic-element", body.name, text + _more(repeated))
        return
    _, first, which = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    first = first[which.ravel()]
    again = first != np.arange(len(corners))
    if again.any():
        element = int(np.argmax(again))
        text = f"element {element} has the nodes of element {first[element]}, {_listed(body.elements[element])}"
        yield _error("elastic-element", body.name, f"{text}: both would count{_more(again)}")
    measure = measures(body.points, body.elements)
    corners = body.points[body.elements]
    edges = corners[:, :, None] - corners[:, None]
    longest = np.linalg.norm(edges, axis=-1).max(axis=(1, 2))
    word, unit = MEASURES[body.dim]
    flat = ~(np.abs(measure) > FLAT * longest**body.dim)
    flipped = ~flat & (measure < 0.0)
    for wrong, what in ((flat, "is flat"), (flipped, "is flipped")):
        if wrong.any():
            element = int(np.argmax(wrong))
            text = (
                f"element {element} of nodes {_listed(body.elements[element])} {what}: its {word} at rest is "
                f"{measure[element]:.3g} {unit}, must be positive"
            )
            yield _error("elastic-element", body.name, text + _more(wrong))


def _parts(body: ElasticBody) -> Iterator[Diagnostic]:
    """Whether each part of a mesh that has several is held somewhere."""
    part = parts_of(len(body.points), body.elements)
    starts = np.unique(part)
    nodes = [*body.pinned, *(one.node for one in body.attachments)]
    held = set(part[[node for node in nodes if 0 <= node < len(part)]].tolist())
    if len(starts) == 1:
        if not held:
            text = "no node is pinned or attached to a link: it moves freely, and has no equilibrium under loads"
            yield Diagnostic(Severity.NOTE, "elastic-free", body.name, text)
        return
    for number, start in enumerate(starts.tolist()):
        if start not in held:
            own = np.flatnonzero(part == start)
            what = f"nodes {_listed(own)}" if len(own) > 1 else f"node {start}, which is in no element"
            text = (
                f"part {number} of {len(starts)} of the mesh ({what}) is joined to no other, and none of its nodes is "
                "pinned or attached to a link; at least one must be"
            )
            yield _error("elastic-parts", body.name, text)


def _attachments(body: ElasticBody, links: Mapping[str, Pose]) -> Iterator[Diagnostic]:
    nodes = tuple(one.node for one in body.attachments)
    yield from _nodes(body.name, "attached", nodes, len(body.points))
    for node in sorted({*nodes} & {*body.pinned}):
        text = f"node {node} is pinned and attached to a link; it can be one of the two"
        yield _error("elastic-held", body.name, text)
    for one in body.attachments:
        if one.link not in links:
            text = f"node {one.node} is attached to {one.link}, which is no link of an articulation, must be one"
            yield _error("elastic-link", body.name, text)
        if not all(map(math.isfinite, one.position)):
            text = f"node {one.node} is attached at {_show(one.position)}, must be finite"
            yield _error("not-finite", body.name, text)


def _nodes(path: str, what: str, nodes: tuple[int, ...], count: int) -> Iterator[Diagnostic]:
    """Whether held nodes exist, each once."""
    for node in sorted(set(nodes)):
        if not 0 <= node < count:
            yield _error("elastic-held", path, f"node {node} is {what}; nodes are 0 to {count - 1}")
        elif nodes.count(node) > 1:
            yield _error("elastic-held", path, f"node {node} is {what} {nodes.count(node)} times, may be once")


def _tendon(tendon: MeshTendon, body: ElasticBody | None, links: Mapping[str, Pose]) -> Iterator[Diagnostic]:
    yield from _numbers(tendon)
    if body is None:
        text = f"is on {tendon.body}, which is no elastic body of the scene, must be one"
        yield _error("mesh-tendon-body", tendon.name, text)
        return
    if len(tendon.waypoints) < 2:
        count = len(tendon.waypoints)
        text = f"has {count} waypoint{'s' * (count != 1)}, must have at least two"
        yield _error("mesh-tendon-waypoints", tendon.name, text)
        return
    wrong = [text for number, point in enumerate(tendon.waypoints) for text in _waypoint(number, point, body, links)]
    for text in wrong:
        yield _error("mesh-tendon-waypoints", tendon.name, text)
    seen: dict[object, int] = {}
    for number, point in enumerate(tendon.waypoints):
        first = seen.setdefault(_key(point), number)
        if first != number:
            text = f"waypoint {number} is the same as waypoint {first}: {_what(point)}; no two may be the same"
            yield _error("mesh-tendon-waypoints", tendon.name, text)
            wrong.append(text)
    if not wrong and np.isfinite(body.points).all():
        yield from _lengths(tendon, body, links)


def _waypoint(number: int, point, body: ElasticBody, links: Mapping[str, Pose]) -> Iterator[str]:
    """What is wrong with a waypoint."""
    if not isinstance(point, BodyPoint):
        if not all(map(math.isfinite, point.position)):
            yield f"waypoint {number} is at {_show(point.position)}, must be finite"
        if isinstance(point, LinkPoint) and point.link not in links:
            yield f"waypoint {number} is on {point.link}, which is no link of an articulation, must be one"
        return
    if not point.nodes or len(point.nodes) > body.dim + 1:
        yield f"waypoint {number} is a mean of {len(point.nodes)} nodes, must be of 1 to {body.dim + 1}"
    if len(point.weights) != len(point.nodes):
        yield f"waypoint {number} has {len(point.weights)} weights for {len(point.nodes)} nodes, must have one for each"
    for node in point.nodes:
        if not 0 <= node < len(body.points):
            yield f"waypoint {number} has node {node}; nodes of {body.name} are 0 to {len(body.points) - 1}"
    if len(set(point.nodes)) < len(point.nodes):
        yield f"waypoint {number} has a node twice: {_listed(point.nodes)}"
    if not abs(sum(point.weights) - 1.0) <= SUM:
        yield f"waypoint {number} has weights that sum to {sum(point.weights):.6g}, must sum to 1"


def _key(point) -> object:
    """What two waypoints that are the same share."""
    if isinstance(point, BodyPoint):
        return frozenset((node, weight) for node, weight in zip(point.nodes, point.weights) if weight)
    return point


def _what(point) -> str:
    if isinstance(point, BodyPoint):
        return f"node {point.nodes[0]}" if len(point.nodes) == 1 else f"a mean of nodes {_listed(point.nodes)}"
    place = point.link if isinstance(point, LinkPoint) else "the world"
    return f"{_show(point.position)} on {place}"


def _lengths(tendon: MeshTendon, body: ElasticBody, links: Mapping[str, Pose]) -> Iterator[Diagnostic]:
    """Whether waypoints that follow each other are apart: those on the body at rest, others where the run starts."""
    size = float(np.ptp(body.points, axis=0).max())
    has_start = body.start_points is not None and body.start_points.shape == body.points.shape
    start_points = body.start_points if has_start else body.points
    for number, pair in enumerate(zip(tendon.waypoints, tendon.waypoints[1:])):
        if all(isinstance(point, BodyPoint) for point in pair):
            points, when, apart = body.points, "at rest", APART
        else:
            points, when, apart = start_points, "at the start", APART_OUTSIDE
        start, end = (_place(point, points, body.pose, links) for point in pair)
        if np.linalg.norm(end - start) <= apart * size:
            text = (
                f"waypoints {number} and {number + 1} are at one place {when}, {_show(start)} of the body: the "
                "segment between them has length zero, and no direction"
            )
            if len(tendon.waypoints) == 2:
                text = f"has a rest length of zero: {text}"
            yield _error("mesh-tendon-length", tendon.name, text)


def _place(point, points: np.ndarray, pose: Pose, links: Mapping[str, Pose]) -> np.ndarray:
    """Where a waypoint is in the frame of the body, shape (dim) [m], with some positions of nodes."""
    if isinstance(point, BodyPoint):
        return np.asarray(point.weights) @ points[list(point.nodes)]
    world = links[point.link].apply(point.position) if isinstance(point, LinkPoint) else point.position
    return np.asarray(pose.inverse().apply(world))[: points.shape[1]]


def _numbers(tendon: MeshTendon) -> Iterator[Diagnostic]:
    for name, unit, value, track in (
        ("stiffness", "N/m", tendon.stiffness, tendon.stiffness_track),
        ("smoothing", "m", tendon.smoothing, None),
        ("target length", "m", tendon.target_length, tendon.target_length_track),
        ("tension", "N", tendon.tension, tendon.tension_track),
        ("smallest tension", "N", tendon.min_tension, tendon.min_tension_track),
    ):
        for one in _values(value, track):
            if not (0.0 <= one < math.inf):
                text = f"{name} {one:g} {unit} must be finite and not negative"
                yield _error("negative", tendon.name, text)
                break
    low, high = (
        track or Track(times=(0.0,), values=(value,))
        for track, value in (
            (tendon.min_tension_track, tendon.min_tension),
            (tendon.max_tension_track, tendon.max_tension),
        )
    )
    for time in sorted({*low.times, *high.times}):
        if not high.at(time) >= low.at(time):
            text = f"largest tension {high.at(time):g} N is below the smallest one, {low.at(time):g} N, at {time:g} s"
            yield _error("mesh-tendon-tension", tendon.name, text)
            break
    is_given = any(_values(tendon.tension, tendon.tension_track))
    if tendon.law is not TensionLaw.TENSION and is_given:
        text = f"has a given tension, which does not act: its law is {tendon.law.value}"
        yield Diagnostic(Severity.WARNING, "mesh-tendon-idle", tendon.name, text)
    pulls = is_given if tendon.law is TensionLaw.TENSION else any(_values(tendon.stiffness, tendon.stiffness_track))
    if not pulls:
        missing = "tension" if tendon.law is TensionLaw.TENSION else "stiffness"
        text = f"has the law {tendon.law.value} and no {missing}, so it never pulls"
        yield Diagnostic(Severity.WARNING, "mesh-tendon-idle", tendon.name, text)


def _values(value: float | None, track: Track | None) -> tuple[float, ...]:
    return (*(() if value is None else (value,)), *(() if track is None else track.values))


def _error(rule: str, path: str, message: str) -> Diagnostic:
    return Diagnostic(Severity.ERROR, rule, path, message)


def _more(wrong: np.ndarray) -> str:
    """How many further ones there are."""
    count = int(np.count_nonzero(wrong)) - 1
    return f"; {count} more {'is' if count == 1 else 'are'} like it" if count else ""


def _listed(nodes) -> str:
    nodes = [int(node) for node in nodes]
    return " ".join(map(str, nodes[:SHOWN])) + (f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else "")


def _show(values) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"
