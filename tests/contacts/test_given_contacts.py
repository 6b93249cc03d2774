"""Contacts that a host gives obey the law of contacts of shapes, whatever their order, their form and their batch."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.given import UP, on_ground, poses, read, simulated
from tests.contacts.motion import DT
from tests.usd.authoring import open_text

G = 9.81
THROWN = box("block", (0.05, 0.06, 0.03), (0, 0, 0.03), velocity=(0.5, 0.1, 0.0))
LANDING = box("block", (0.05, 0.06, 0.07), (0, 0, 0.0705), velocity=(0.5, 0.1, 0.0), turning=(0.0, 0.0, 1.0))
BLOCK = wa.ContactSlots(bodies=(None, "/World/block"), points=8)
BALL = wa.ContactSlots(bodies=(None, "/World/ball"), points=1)


def shuffled(contacts: dict[str, np.ndarray], order: np.ndarray) -> dict[str, np.ndarray]:
    """The contacts in another order."""
    return {name: values[:, order] for name, values in contacts.items()}


@pytest.mark.parametrize(
    "precision, environments, place, speed", [("float64", 1, 1e-6, 3e-4), ("float32", 5, 2e-6, 5e-4)]
)
def test_box_moves_as_one_with_shapes(precision, environments, place, speed):
    """Thrown, it slides and stops where its collider would; the order of contacts changes all the time.

    Velocities differ while it turns: those of given contacts are of first order.
    """
    scene = ContactScene(solids=[THROWN])
    shapes = simulated(wa.read_stage(open_text(scene.usd)), environments=environments, precision=precision)
    given = simulated(read(scene, BLOCK), environments=environments, precision=precision)
    rng = np.random.default_rng(0)
    for _step in range(120):
        given.set_contacts(**shuffled(on_ground(given, THROWN), rng.permutation(8)))
        given.step()
        shapes.step()
        np.testing.assert_allclose(poses(given)[0], poses(shapes)[0], atol=place)
        np.testing.assert_allclose(given.state.link_velocity.numpy(), shapes.state.link_velocity.numpy(), atol=speed)
    total = given.given_contacts.impulse().numpy().sum(axis=1)
    np.testing.assert_allclose(total, shapes.state.contact_impulse.numpy().sum(axis=0).T, atol=1e-6)
    np.testing.assert_allclose(total[:, 2], G * DT, rtol=1e-4)
    worst = [simulation.state.contact_residual.numpy().max(axis=0) for simulation in (given, shapes)]
    np.testing.assert_allclose(*worst, rtol=0.1)
    assert not given.given_contacts.left_out.numpy().any()


def test_box_that_tips_is_of_first_order():
    """Points turn with their bodies at the start of steps only: where a box lands converges with shorter steps."""
    scene = ContactScene(solids=[LANDING])
    off = []
    for steps in (60, 240):
        shapes = simulated(wa.read_stage(open_text(scene.usd)), dt=0.25 / steps)
        given = simulated(read(scene, BLOCK), dt=0.25 / steps)
        for _step in range(steps):
            given.set_contacts(**on_ground(given, LANDING))
            given.step()
        shapes.step(steps)
        off.append(np.abs(poses(given)[0] - poses(shapes)[0]).max())
    assert off[0] < 2e-4
    assert off[1] < 0.4 * off[0]


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_all_solvers(solver):
    """A block slides, stops and stays as its collider does with the same solver."""
    scene = ContactScene(solids=[THROWN])
    shapes = simulated(wa.read_stage(open_text(scene.usd)), solver=solver)
    given = simulated(read(scene, BLOCK), solver=solver)
    for _step in range(60):
        given.set_contacts(**on_ground(given, THROWN))
        given.step()
    shapes.step(60)
    np.testing.assert_allclose(poses(given)[0], poses(shapes)[0], atol=1e-4)
    assert np.abs(poses(given)[0][0, :2]).max() > 0.01


def test_both_forms_are_the_same():
    """Points midway with gaps, and points of both bodies, in either order of the bodies."""
    scene = read(ContactScene(solids=[THROWN]), BLOCK)
    one, other, swapped = (simulated(scene) for _ in range(3))
    for _step in range(60):
        contacts = on_ground(one, THROWN)
        one.set_contacts(**contacts)
        half = 0.5 * contacts["gap"][..., None] * UP
        place, (turn,) = poses(other)
        first, second = contacts["position"] - half, contacts["position"] + half
        second = turn.inv().apply(second[0] - place[0])
        bodies, normal = contacts["bodies"], contacts["normal"]
        other.set_contacts(bodies, normal, point0=first[0], point1=second)
        swapped.set_contacts(bodies[..., ::-1], -normal, point0=second, point1=first[0])
        for simulation in (one, other, swapped):
            simulation.step()
    np.testing.assert_allclose(poses(other)[0], poses(one)[0], atol=1e-9)
    np.testing.assert_allclose(poses(swapped)[0], poses(other)[0], atol=1e-12)
    impulse = other.given_contacts.impulse().numpy()
    assert impulse[..., 2].sum() > 0.0
    np.testing.assert_allclose(swapped.given_contacts.impulse().numpy(), -impulse, atol=1e-12)


@pytest.mark.parametrize("friction, speed, place", [(0.3, 10.0 / 7.0, 2.912619)])
def test_sliding_ball_comes_to_roll(friction, speed, place):
    """At 5/7 of its speed, as far as Coulomb's law says."""
    ball = sphere("ball", 0.1, (0, 0, 0.1), velocity=(2.0, 0.0, 0.0))
    simulation = simulated(read(ContactScene(solids=[ball]), BALL))
    until = round(2.0 / DT)
    for _step in range(until):
        simulation.set_contacts(**on_ground(simulation, ball), friction=[friction])
        simulation.step()
    slides = (2.0 - speed) / (friction * G)
    wanted = 2.0 * slides - 0.5 * friction * G * slides**2 + speed * (until * DT - slides)
    assert simulation.state.link_velocity.numpy()[0, 0, 0] == pytest.approx(speed, abs=1e-5)
    assert poses(simulation)[0][0, 0] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_restitution_of_a_contact(restitution):
    """A ball that is dropped comes up again to e^2 of its height."""
    ball = sphere("ball", 0.1, (0, 0, 0.5))
    simulation = simulated(read(ContactScene(solids=[ball]), BALL))
    heights = []
    for _step in range(round(0.8 / DT)):
        simulation.set_contacts(**on_ground(simulation, ball), restitution=[restitution])
        simulation.step()
        heights.append(poses(simulation)[0][0, 2] - 0.1)
    assert min(heights) > -2e-4
    rises = int(np.argmax(np.diff(heights) > 0.0)) if restitution else int(np.argmin(heights))
    assert max(heights[rises:]) == pytest.approx(0.4 * restitution**2, abs=2e-3)


def test_stiffness_of_a_contact():
    """A ball on a spring with a damper sinks in by m g / k."""
    ball = sphere("ball", 0.1, (0, 0, 0.1))
    simulation = simulated(read(ContactScene(solids=[ball]), BALL))
    for _step in range(480):
        simulation.set_contacts(**on_ground(simulation, ball), stiffness=[1000.0], damping=[50.0])
        simulation.step()
    assert poses(simulation)[0][0, 2] - 0.1 == pytest.approx(-G / 1000.0, rel=1e-3)


@pytest.mark.parametrize("tangent, holds", [(0.499, True), (0.501, False)])
def test_friction_of_a_contact(tangent, holds):
    """A block on a slope holds below the friction that its contacts have, and slides above."""
    angle = np.arctan(tangent)
    gravity = (float(G * np.sin(angle)), 0.0, float(-G * np.cos(angle)))
    block = box("block", 0.05, (0, 0, 0.05))
    simulation = simulated(read(ContactScene(solids=[block], friction=0.0, gravity=gravity), BLOCK))
    speeds = []
    for _step in range(480):
        simulation.set_contacts(**on_ground(simulation, block), friction=np.full(8, 0.5))
        simulation.step()
        simulation.report()
        speeds.append(simulation.state.link_velocity.numpy()[0, 0, 0])
    if holds:
        assert abs(poses(simulation)[0][0, 0]) < 1e-6
    else:
        found = np.polyfit(DT * np.arange(240, 480), speeds[240:], 1)[0]
        assert found == pytest.approx(gravity[0] + 0.5 * gravity[2], rel=1e-2)


def stack() -> ContactScene:
    """A box on a box."""
    return ContactScene(solids=[box("lower", 0.1, (0, 0, 0.1)), box("upper", 0.05, (0.02, 0, 0.25))])


def stacked(simulation: wa.Simulation) -> dict[str, np.ndarray]:
    """The contacts of the four lower corners of both boxes, where they stand upright."""
    links = [simulation.link_names.index(f"/World/{name}") for name in ("lower", "upper")]
    sides = np.array([(x, y, -1.0) for x in (-1, 1) for y in (-1, 1)])
    places = [poses(simulation, link)[0] for link in links]
    found = [place[:, None] + half * sides for place, half in zip(places, (0.1, 0.05))]
    floors = np.zeros_like(places[0][:, 2]), places[0][:, 2] + 0.1
    gaps = [points[..., 2] - floor[:, None] for points, floor in zip(found, floors)]
    middle = np.concatenate([points - 0.5 * gap[..., None] * UP for points, gap in zip(found, gaps)], axis=1)
    bodies = np.array([(-1, links[0])] * 4 + [(links[1], links[0])] * 4)
    normal = np.array([UP] * 4 + [(0.0, 0.0, -1.0)] * 4)
    return {"bodies": bodies, "normal": normal, "position": middle, "gap": np.concatenate(gaps, axis=1)}


STACK = (
    wa.ContactSlots(bodies=("/World/lower", None)),
    wa.ContactSlots(bodies=("/World/lower", "/World/upper")),
)


def test_contacts_between_two_bodies():
    """A box stands on a box, each a mechanism by itself before, with weights as impulses; bodies in either order."""
    simulation = simulated(read(stack(), *STACK))
    for _step in range(480):
        simulation.set_contacts(**stacked(simulation))
        simulation.step()
    impulse = simulation.given_contacts.impulse().numpy()[0]
    np.testing.assert_allclose(impulse[:4].sum(axis=0), (0.0, 0.0, 2.0 * G * DT), atol=1e-8)
    np.testing.assert_allclose(impulse[4:].sum(axis=0), (0.0, 0.0, -G * DT), atol=1e-8)
    np.testing.assert_allclose(simulation.contact_force_on("/World/upper"), [(0.0, 0.0, G)], atol=1e-6)
    np.testing.assert_allclose(simulation.contact_force_on("/World/lower", by="world"), [(0.0, 0.0, 2 * G)], atol=1e-6)
    assert np.abs(simulation.state.link_velocity.numpy()).max() < 1e-9
    names = {(one.colliders, one.points) for one in simulation.contacts()}
    assert names == {(("world", "/World/lower"), 4), (("/World/lower", "/World/upper"), 4)}


def test_bitwise_for_any_order_and_batch():
    """Results do not depend on the order of contacts, on what is listed beside them, or on the other environments."""
    scene = read(ContactScene(solids=[THROWN]), BLOCK)
    alone, batch = (simulated(scene, environments=count, precision="float32", variant="lanes") for count in (1, 19))
    rng = np.random.default_rng(1)
    speeds = rng.normal(size=(19, 6))
    speeds[7] = 0.3, 0.1, 0.0, 0.2, 0.0, 1.0
    batch.set_state(root_velocity=speeds)
    alone.set_state(root_velocity=speeds[7])
    for _step in range(60):
        alone.set_contacts(**on_ground(alone, THROWN))
        contacts = shuffled(on_ground(batch, THROWN), rng.permutation(8))
        more = {name: np.concatenate([values, values[:, :2]], axis=1) for name, values in contacts.items()}
        batch.set_contacts(**more, count=8)
        alone.step()
        batch.step()
    one, other = (simulation.state.link_pose.numpy()[0] for simulation in (alone, batch))
    np.testing.assert_array_equal(one[:, 0], other[:, 7])
    assert np.isfinite(other).all()


def test_snapshots_checkpoints_and_resets(tmp_path):
    """A run goes on bitwise with the contacts that it had, and starts without any."""
    scene = read(ContactScene(solids=[THROWN]), BLOCK)
    one, other = simulated(scene), simulated(scene)

    def advance(simulation):
        for _step in range(20):
            simulation.set_contacts(**on_ground(simulation, THROWN))
            simulation.step()
        simulation.step(2)

    advance(one)
    kept = one.snapshot()
    one.save(tmp_path / "run.npz")
    advance(one)
    wanted = one.state.link_pose.numpy().copy()
    one.apply(kept)
    advance(one)
    np.testing.assert_array_equal(one.state.link_pose.numpy(), wanted)
    other.load(tmp_path / "run.npz")
    advance(other)
    np.testing.assert_array_equal(other.state.link_pose.numpy(), wanted)
    one.reset()
    one.step(48)
    assert poses(one)[0][0, 2] < -0.1  # it falls: nothing has given it contacts


def test_arrays_of_the_device():
    """Arrays of Warp in another precision, and of others by DLPack; contacts without room are counted and left out."""
    scene = read(ContactScene(solids=[THROWN]), replace(BLOCK, points=4))
    one, other = simulated(scene), simulated(scene)
    for _step in range(10):
        contacts = on_ground(one, THROWN)
        lowest = np.argsort(contacts["gap"][0])[:4]
        one.set_contacts(**shuffled(contacts, lowest))
        single = {name: wp.array(values.astype(np.float32)) for name, values in contacts.items() if name != "bodies"}
        bodies = wp.array(np.ascontiguousarray(contacts["bodies"], np.int32))
        other.set_contacts(bodies=bodies, **single, count=wp.array([8], dtype=int))
        assert other.given_contacts.left_out.numpy()[0] == 4
        one.step()
        other.step()
    np.testing.assert_allclose(poses(other)[0], poses(one)[0], atol=1e-6)
    torch = pytest.importorskip("torch")
    other.set_contacts(
        bodies=torch.tensor(np.array(contacts["bodies"])).int(),
        normal=torch.tensor(np.array(contacts["normal"])),
        position=torch.tensor(contacts["position"]),
        gap=torch.tensor(contacts["gap"]),
    )
    other.step()
    assert other.given_contacts.impulse().numpy()[..., 2].sum() > 0.0


def test_articulation_with_contacts():
    """A pendulum that is held by a contact at its tip has what its weight asks there, and beside colliders too."""
    link = wa.Link(path="/rod", mass=2.0, inertia=(0.01, 0, 0, 0.2, 0, 0.2), center_of_mass=(0.5, 0.0, 0.0))
    joint = wa.Joint(path="/hinge", parent=wa.WORLD, child=0, dofs=(wa.Dof(name="/hinge", axis=wa.Axis.ROT_Y),))
    tree = wa.Articulation(path="/robot", links=(link,), joints=(joint,))
    scene = wa.with_contact_slots(wa.Scene(articulations=(tree,)), [wa.ContactSlots(bodies=(None, "/rod"), points=1)])
    simulation = simulated(scene)
    for _step in range(20):
        tip = [(1.0, 0.0, 0.0)]
        simulation.set_contacts([(-1, 0)], [UP], point0=tip, point1=tip, friction=[0.0])
        simulation.step()
    found = simulation.given_contacts.impulse().numpy()[0, 0] / DT
    np.testing.assert_allclose(found, (0.0, 0.0, 0.5 * 2.0 * G), atol=1e-6)
    assert abs(simulation.state.joint_velocity.numpy()[0, 0]) < 1e-9


def test_what_is_refused():
    """Each with the bodies, what was found, and what is allowed."""
    solids = wa.without_contacts(wa.read_stage(open_text(stack().usd)))
    cases = {
        "there is no link": wa.ContactSlots(bodies=(None, "/World/low")),
        "two different bodies": wa.ContactSlots(bodies=("/World/lower", "/World/lower")),
        "from 1 to 256": wa.ContactSlots(bodies=("/World/lower", None), points=0),
    }
    for text, slots in cases.items():
        with pytest.raises(wa.DescriptionError, match=text):
            wa.with_contact_slots(solids, [slots])
    with pytest.raises(wa.DescriptionError, match="given room twice"):
        wa.with_contact_slots(solids, [STACK[0], STACK[0]])
    many = ContactScene(solids=[box(f"b{k}", 0.1, (0.3 * k, 0, 0.1)) for k in range(22)])
    row = [wa.ContactSlots(bodies=(f"/World/b{k}", f"/World/b{k + 1}")) for k in range(21)]
    with pytest.raises(wa.DescriptionError, match="132 degrees of freedom"):
        wa.with_contact_slots(wa.without_contacts(wa.read_stage(open_text(many.usd))), row)
    with pytest.raises(wa.SettingsError, match="no room for contacts of a host"):
        simulated(solids).set_contacts([(-1, 0)], [UP], position=[UP], gap=[0.0])
    simulation = simulated(wa.with_contact_slots(solids, STACK[:1]))
    refused = {
        "/World/lower and /World/upper, which have no room": {"bodies": [(0, 1)]},
        "indices of the 2 links": {"bodies": [(0, 7)]},
        "position and gap, or point0 and point1": {"point0": [UP]},
        "count: 2 is not from 0 to the 1": {"count": 2},
        "normal: shape": {"normal": UP},
        "gap: shape": {"gap": [0.0, 0.0]},
    }
    for text, changed in refused.items():
        given = {"bodies": [(-1, 0)], "normal": [UP], "position": [UP], "gap": [0.0]} | changed
        with pytest.raises(wa.SettingsError, match=text):
            simulation.set_contacts(**given)
