"""A mechanism on a box that rests moves as one on a box that is fixed, whatever constraints it has beside the contacts.

Where contacts rest, what is sought is known beforehand: the velocities of the box are zero, and the sum of the impulses
is the weight and the load. So this is a closed form for `solver.rows.resting_contacts` alone, and beside other rows.
Impacts are not among these: those of hard limits tip such a box.
"""

from dataclasses import replace

import numpy as np
import pytest

import warp_artic as wa
from tests.contacts.motion import DT

G = 9.81
HALF = (0.5, 0.4, 0.1)
MASS = 40.0
HEIGHT, LENGTH, REACH = 1.0, 0.4, 0.3
"""Of the hinges over the middle of the box, of the pendulums, and from hinge to hinge [m]."""


def solid(mass: float, half) -> tuple[float, ...]:
    """The inertia of a box."""
    x, y, z = mass / 3.0 * (np.sum(np.square(half)) - np.square(half))
    return (float(x), 0.0, 0.0, float(y), 0.0, float(z))


def scene(is_fixed: bool, arms: int = 2, angles=(0.5, -0.3), joint=None, **parts) -> wa.Scene:
    """Pendulums about Y over a box of 40 kg, which is fixed or lies on the ground; `joint` has more of their dofs."""
    base = wa.Link(
        path="/base", mass=MASS, inertia=solid(MASS, HALF), pose=wa.Pose.of(np.array([0.0, 0.0, HALF[2]]), np.eye(3))
    )
    links, joints = [base], []
    for k in range(arms):
        bar = solid(1.0, (0.02, 0.02, 0.5 * LENGTH))
        links.append(wa.Link(path=f"/arm{k}", mass=1.0, inertia=bar, center_of_mass=(0.0, 0.0, -0.5 * LENGTH)))
        dof = wa.Dof(name=f"/hinge{k}", axis=wa.Axis.ROT_Y, position=angles[k], wraps=False)
        place = wa.Pose.of(np.array([REACH * (k - 0.5), 0.0, HEIGHT]), np.eye(3))
        joints.append(
            wa.Joint(
                path=f"/hinge{k}", parent=0, child=k + 1, parent_frame=place, dofs=(replace(dof, **(joint or {})),)
            )
        )
    if is_fixed:
        joints.insert(0, wa.Joint(path="/held", parent=wa.WORLD, child=0, parent_frame=base.pose))
    pair = wa.ContactPair(
        name="/ground:/base",
        link0=wa.WORLD,
        link1=0,
        shape0=wa.Shape(path="/ground", kind=wa.ShapeKind.PLANE),
        shape1=wa.Shape(path="/base", kind=wa.ShapeKind.BOX, half_extents=HALF),
        static_friction=0.6,
        dynamic_friction=0.6,
        contact_distance=0.02,
    )
    constraints = (*parts.pop("constraints", ()), *(() if is_fixed else (pair,)))
    tree = wa.Articulation(path="/World", links=tuple(links), joints=tuple(joints), constraints=constraints, **parts)
    return wa.Scene(articulations=(tree,))


TIP = (0.0, 0.0, -LENGTH)
CASES = {
    "free": {},
    "drive": {"joint": {"drive": wa.Drive(stiffness=3.0, damping=0.05, position_target=0.2)}},
    "weak drive": {"joint": {"drive": wa.Drive(stiffness=50.0, position_target=1.0, max_force=0.5)}},
    "friction": {"joint": {"friction": wa.Friction(static_effort=0.05, dynamic_effort=0.03)}},
    "mimic": {"mimics": (wa.Mimic(name="/hinge0", dofs=(0, 1), gears=(1.0, 0.6)),), "angles": (0.3, -0.5)},
    "tendon": {
        "fixed_tendons": (
            wa.FixedTendon(
                name="/tendon", dofs=(0, 1), coefficients=(1.0, -1.0), force_coefficients=(1.0, -1.0), stiffness=4.0
            ),
        ),
    },
    "rod": {
        "constraints": (
            wa.Distance(name="/rod", link0=1, link1=2, position0=TIP, position1=TIP, lower=REACH, upper=REACH),
        ),
        "angles": (0.5, 0.5),
    },
    "loop joint": {
        "constraints": (
            wa.LoopJoint(
                name="/slot",
                link0=1,
                link1=2,
                frame0=wa.Pose.of(np.array([0.5 * REACH, 0.0, -0.5 * LENGTH]), np.eye(3)),
                frame1=wa.Pose.of(np.array([-0.5 * REACH, 0.0, -0.5 * LENGTH]), np.eye(3)),
                free=(wa.Axis.TRANS_X, wa.Axis.TRANS_Z, wa.Axis.ROT_Y),
            ),
        ),
    },
}


def simulated(one: wa.Scene, precision: str = "float64", environments: int = 1, dt: float = DT) -> wa.Simulation:
    """Of a scene, with the direct solver."""
    settings = wa.SolverSettings(dt=dt, precision=precision)
    return wa.Simulation(one, environments=environments, settings=settings)


STILL = {"friction": 2e-6}
"""By how much the box may move in three seconds where friction of joints slides, which ends the exact solution [m]."""
SPRINGS = {
    "drive": lambda q: 1.5 * np.square(q - 0.2).sum(axis=-1),
    "tendon": lambda q: 2.0 * np.square(q[:, 0] - q[:, 1]),
}
"""Energy of springs, which recordings do not have [J]."""


@pytest.mark.parametrize("name", CASES)
def test_as_on_a_fixed_box(name):
    """Joints are where they are on a fixed box, but for terms of second order, and the box does not move."""
    off = []
    for finer in (1, 2):
        lying, fixed = (
            simulated(scene(is_fixed, **CASES[name]), dt=DT / finer).record(720 * finer, every=24 * finer)
            for is_fixed in (False, True)
        )
        off.append(np.abs(lying.joint_position - fixed.joint_position).max())
        base = lying.link_names.index("/base")
        moved = np.abs(lying.link_pose[:, 0, base] - lying.link_pose[0, 0, base]).max()
        assert moved < STILL.get(name, 1e-14)
    assert off[0] < 1e-3
    assert off[1] < max(0.6 * off[0], 1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if name != "weak drive"])
def test_energy_over_a_minute(name):
    """With that of springs it never grows by more than 1e-4 of what a pendulum gains from its side downward."""
    recording = simulated(scene(False, **CASES[name])).record(14400, every=60)
    energy = recording.energy[:, 0].sum(axis=-1) + SPRINGS.get(name, lambda q: 0.0)(recording.joint_position[:, 0])
    assert (energy - energy[0]).max() < 1e-4 * 0.5 * LENGTH * G


@pytest.mark.parametrize(
    "precision, environments, speed, share", [("float64", 1, 1e-12, 1e-10), ("float32", 16, 4e-7, 1e-5)]
)
def test_random_loads_within_the_cone(precision, environments, speed, share):
    """Another load in each step, which friction can hold and no point lifts under: no velocity, and its reaction."""
    one = simulated(scene(False, arms=0), precision, environments)
    rng = np.random.default_rng(0)
    one.step(60)
    fastest = missed = 0.0
    for _step in range(200):
        load = rng.uniform(-1.0, 1.0, size=(6, environments))
        load *= np.array([0.2 * MASS * G, 0.2 * MASS * G, 0.3 * MASS * G, 20.0, 20.0, 20.0])[:, None]
        one.control.link_external_force = load[None]
        one.step()
        one.report()
        fastest = max(fastest, np.abs(one.state.link_velocity.numpy()).max())
        found = one.contact_force_on("/base")
        wanted = -load[:3].T + (0.0, 0.0, MASS * G)
        missed = max(missed, np.abs(found - wanted).max() / (MASS * G))
    assert fastest < speed
    assert missed < share
