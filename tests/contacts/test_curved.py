"""Bodies that roll, tip and spin on a point of contact: of second order in the time step, without loss of energy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import warp_artic as wa
from tests.contact_stages import ContactScene, box, cone, sphere, turn
from tests.contacts.motion import PRECISIONS, Motion, simulated, simulation
from tests.oracles.rolling_ellipsoid import STONE, G
from tests.usd.authoring import open_text

SOLVERS = ("direct", "pgs", "tgs")


def stone(tilt: float, spin: float) -> str:
    """The stage of a rattleback on a ground that is rough."""
    moments, axes = np.linalg.eigh(np.array(STONE.inertia))
    axes[:, 2] *= np.linalg.det(axes)
    place, velocity, turned = STONE.start(tilt, spin)

    def text(values) -> str:
        return "(" + ", ".join(repr(float(value)) for value in values) + ")"

    def quaternion(rotation: Rotation) -> str:
        return text(rotation.as_quat(scalar_first=True))

    body = f"""
def Xform "stone" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
float physics:mass = {STONE.mass!r}
point3f physics:centerOfMass = {text(STONE.offset)}
float3 physics:diagonalInertia = {text(moments)}
quatf physics:principalAxes = {quaternion(Rotation.from_matrix(axes))}
vector3f physics:velocity = {text(velocity)}
vector3f physics:angularVelocity = {text((0.0, 0.0, np.degrees(spin)))}
double3 xformOp:translate = {text(place)}
quatd xformOp:orient = {quaternion(turned)}
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
def Sphere "shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"]) {{
double radius = 1
float3 xformOp:scale = {text(STONE.semi_axes)}
uniform token[] xformOpOrder = ["xformOp:scale"]
rel material:binding:physics = </World/material>
}}
}}
"""
    return ContactScene(solids=[], joints=body, friction=2.0).usd


def rolled(tilt: float, spin: float, seconds: float, dt: float, **settings) -> tuple[Motion, np.ndarray]:
    """What a rattleback does, and its angular velocities as they should be."""
    scene = wa.read_stage(open_text(stone(tilt, spin)))
    one = wa.Simulation(scene, settings=wa.SolverSettings(dt=dt, **settings))
    motion = Motion(one.record(round(seconds / dt), quantities=("link_pose", "link_velocity", "energy")))
    assert one.failures() == []
    return motion, STONE.rolled(tilt, spin, motion.time)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_ellipsoid_rolls_without_slip(solver, precision):
    """As the equations of rolling say, while it rocks by 2 degrees; energy stays."""
    motion, expected = rolled(0.03, 5.0, 2.0, 1.0 / 240.0, solver=solver, precision=precision)
    assert np.abs(motion.turning("stone") - expected).max() < 0.04
    assert np.ptp(motion.energy) < 2e-5


def test_rolling_is_of_second_order():
    """Half the step leaves a quarter of the error."""
    errors = []
    for rate in (240, 480, 960):
        motion, expected = rolled(0.03, 5.0, 2.0, 1.0 / rate, precision="float64")
        errors.append(np.abs(motion.turning("stone") - expected).max())
    assert errors[1] < 0.3 * errors[0] and errors[2] < 0.3 * errors[1]


@pytest.mark.parametrize("solver", ("direct", "pgs"))
def test_rolling_from_a_violent_start(solver):
    """What a point changes by at once, at 10 rad/s and a tilt of 11 degrees, is no slip.

    Substeps of tgs, which keep the factors of their step, are off by more.
    """
    motion, expected = rolled(0.2, 10.0, 0.5, 1.0 / 240.0, precision="float64", solver=solver)
    assert np.abs(motion.turning("stone") - expected).max() < 0.3
    assert np.ptp(motion.energy) < 4e-4


def test_rattleback_turns_back():
    """Spun the wrong way it begins to rattle, and turns the other way then."""
    motion, expected = rolled(0.009, -5.0, 7.0, 1.0 / 2000.0, precision="float64")
    spin = motion.turning("stone")[:, 2]
    assert spin[0] < -4.99 and spin[-1] > 1.5
    assert np.abs(spin - expected[:, 2]).max() < 0.3
    assert motion.energy[0] - motion.energy[-1] < 2e-3 * motion.energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_top_spins_on_its_apex(solver):
    """A fast top on a smooth ground keeps its energy, its spin, and its angular momentum about the vertical."""
    radius, half, spin = 0.06, 0.05, 100.0
    quaternion = turn((1, 0, 0), np.pi + 0.3)
    R = Rotation.from_quat(quaternion).as_matrix()
    top = cone("top", radius, half, tuple(-R @ [0, 0, half]), quaternion=quaternion, turning=tuple(R @ [0, 0, spin]))
    motion = simulated(
        ContactScene(solids=[top], friction=0.0), 2.0, precision="float64", dt=1.0 / 960.0, solver=solver
    )
    axis, w = motion.axis("top", 2), motion.turning("top")
    along = np.einsum("ni,ni->n", axis, w)
    across, around = top.inertia[0], top.inertia[2]
    vertical = across * (w[:, 2] - along * axis[:, 2]) + around * along * axis[:, 2]
    np.testing.assert_allclose(along, spin, rtol=1e-6)
    # Substeps keep the factors of their step.
    share = 1e-2 if solver == "tgs" else 1e-4
    np.testing.assert_allclose(vertical, vertical[0], rtol=share)
    assert np.ptp(motion.energy) < share * motion.energy[0]
    assert motion.place("top")[:, 2].min() > 0.04


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_box_tips_over_its_edge(solver, precision):
    """A box on two rough corners is a pendulum that falls; its corners stay where they are."""
    half, height, lean = 0.1, 0.3, 0.05
    alpha = np.arctan2(half, height)  # from its side to its diagonal
    tilt = alpha + lean
    length = np.hypot(half, height)
    middle = (length * np.sin(lean), 0.0, length * np.cos(lean))
    plank = box("plank", (half, half, height), middle, quaternion=turn((0, 1, 0), tilt))
    motion = simulated(ContactScene(solids=[plank], friction=2.0), 0.8, precision=precision, solver=solver)
    inertia = plank.inertia[1] + length**2

    def rates(_time, state):
        return [state[1], G * length * np.sin(state[0]) / inertia]

    found = solve_ivp(rates, (0.0, motion.time[-1]), [lean, 0.0], t_eval=motion.time, rtol=1e-10, atol=1e-12)
    before = found.y[0] < 0.8  # later it is pressed down so little that it slips
    np.testing.assert_allclose(motion.turning("plank")[before, 1], found.y[1][before], atol=2e-3)
    corner = motion.place("plank") + half * motion.axis("plank", 0) - height * motion.axis("plank", 2)
    assert np.linalg.norm(corner[before] - corner[0], axis=1).max() < 2e-4
    assert np.ptp(motion.energy[before]) < 1e-3 * motion.energy[0]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_rubs_without_friction(solver, precision):
    """A box rocks and slides on a ball: impulses are along the normal, which turns, and no energy is made."""
    solids = [sphere("big", 0.5, (0, 0, 0.5), mass=0.0), box("block", 0.03, (0.05, 0, 1.0301))]
    scene = ContactScene(solids=solids, friction=0.0, has_ground=False)
    one = simulation(scene, solver=solver, precision=precision)
    energies = []
    for _step in range(120):
        one.step()
        energies.append(float(one.state.energy.numpy().sum()))
        n, z = (getattr(one.state, name).numpy().ravel() for name in ("contact_normal", "contact_impulse"))
        # The normal is that at the end of the step here, and an impulse has that of its middle.
        assert np.linalg.norm(np.cross(n, z)) <= 0.03 * np.linalg.norm(z)
    assert max(energies) < energies[0] + 1e-5
    assert one.failures() == []


@pytest.mark.parametrize("solver", SOLVERS)
def test_ball_slides_off_a_ball(solver):
    """Without friction it does not turn, has the speed of its fall, and leaves where the cosine is two thirds."""
    angle, big, small = 0.1, 0.5, 0.1
    reach = big + small
    start = (reach * np.sin(angle), 0.0, big + reach * np.cos(angle))
    solids = [sphere("big", big, (0, 0, big), mass=0.0), sphere("ball", small, start)]
    scene = ContactScene(solids=solids, friction=0.0, has_ground=False)
    motion = Motion(simulation(scene, precision="float64", solver=solver).record(192, forces=True))
    place = motion.place("ball") - [0.0, 0.0, big]
    pushed = np.linalg.norm(motion.recording.contact_force[:, 0, 0], axis=1) > 0.0
    leaves = np.flatnonzero(pushed)[-1] + 1
    cosine = place[:leaves, 2] / np.linalg.norm(place[:leaves], axis=1)
    fallen = 2.0 * G * reach * (np.cos(angle) - cosine)
    np.testing.assert_allclose(np.linalg.norm(motion.velocity("ball")[:leaves], axis=1), np.sqrt(fallen), atol=5e-3)
    assert cosine[-1] == pytest.approx(2.0 / 3.0 * np.cos(angle), abs=0.04)
    assert np.abs(motion.turning("ball")).max() < 1e-9


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_jointed_bodies_that_roll_keep_their_energy(solver, precision):
    """A ball that a heavy weight on a hinge in its middle rolls to and fro."""
    hinge = """
def PhysicsRevoluteJoint "hinge" {
uniform token physics:axis = "Y"
rel physics:body0 = </World/ball>
rel physics:body1 = </World/weight>
point3f physics:localPos0 = (0.1, 0, 0)
}
"""
    ball = sphere("ball", 0.2, (0, 0, 0.2))
    weight = box("weight", 0.02, (0.1, 0, 0.2), mass=2.0)
    scene = ContactScene(solids=[ball, weight], friction=1.0, joints=hinge)
    motion = simulated(scene, 2.0, precision=precision, solver=solver)
    assert motion.kinetic.max() > 1.5
    assert np.ptp(motion.energy) < 6e-4
    rolled = motion.place("ball")[:, 0] - 0.2 * np.cumsum(motion.turning("ball")[:, 1]) / 240.0
    assert np.ptp(rolled) < 0.02
