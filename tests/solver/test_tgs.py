"""Substeps: the law, what they leave as it is, and what they make closer."""

import numpy as np
import pytest

from tests import closed_mechanisms, trees
from tests.oracles import reference_problems, rigid
from tests.oracles.dense_step import DenseStep, Relation, Spring, assert_steps
from tests.oracles.simulated_state import put
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

H = 1.0 / 240.0
integrators = pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])


def simulate(tree, substeps, gravity=rigid.GRAVITY, **settings):
    options = SolverSettings(**{"dt": H, "solver": "tgs", "position_iterations": substeps, **settings})
    return Simulation(trees.scene(tree, gravity=gravity), settings=options)


def coupled_tree(seed, kind):
    """A tree with drives on some dofs and one coupling of two others, and what of it DenseStep needs."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2), kinds=("revolute_x", "revolute_z", "prismatic_y"))
    count, base = len(tree.dofs), rigid.base_count(tree)
    k, d = rng.uniform(20, 300, (2, count)) * (np.arange(count) % 3 == 0)
    tree = trees.with_dofs(tree, drive=[Drive(stiffness=float(a), damping=float(b)) for a, b in zip(k, d)])
    J = np.zeros(base + count)
    J[[base + 1, base + 2]] = 1.0, -0.6
    if kind == "tendon":
        tendon = FixedTendon(
            name="t",
            dofs=(1, 2),
            coefficients=(1.0, -0.6),
            force_coefficients=(1.0, -0.6),
            stiffness=2e3,
            damping=15.0,
            rest_length=0.2,
        )
        return trees.replace(tree, fixed_tendons=(tendon,)), k, d, J
    return trees.replace(tree, mimics=(Mimic(name="m", dofs=(1, 2), gears=(1.0, -0.6), offset=-0.2),)), k, d, J


@integrators
@pytest.mark.parametrize("substeps", [1, 2, 5])
@pytest.mark.parametrize("kind", ["tendon", "mimic"])
@pytest.mark.parametrize("seed", range(3))
def test_substeps_have_the_dense_law(seed, kind, substeps, integrator):
    """Positions, springs and bias are new in each substep; M, velocity forces and responses are those of the step."""
    tree, k, d, J = coupled_tree(seed, kind)
    h = H / substeps

    def elements(state, placed, share):
        C = J[rigid.base_count(tree) :] @ state.joint_position - 0.2
        if kind == "tendon":
            return [Spring(2e3, 15.0, C, J, J, J)]
        C_M = C + (1.0 - share) * h * J @ rigid.velocity(tree, state)
        return [Relation(J, -0.9 * C_M / h)]

    law = DenseStep(tree, H, integrator, stiffness=k, damping=d, elements=elements, substeps=substeps)
    simulation = simulate(tree, substeps, precision="float64", integrator=integrator)
    state = trees.random_state(np.random.default_rng(seed), tree)
    if kind == "mimic":  # one that is open by much more closes with a violent step
        state.joint_position[1] -= J[rigid.base_count(tree) :] @ state.joint_position - 0.21
    put(simulation, state)
    assert_steps(simulation, law, tolerance=1e-8)


@integrators
def test_one_substep_is_one_sweep_of_pgs(integrator):
    """Bitwise, with limits, drives that saturate and mimics."""
    tree = trees.with_dofs(
        trees.random_articulation(5, 9, floating=False),
        drive=Drive(stiffness=100.0, damping=1.0, position_target=1.0, max_force=3.0),
        limit=Limit(lower=-0.4, upper=0.4),
    )
    tree = trees.replace(tree, mimics=(Mimic(name="m", dofs=(0, 1), gears=(1.0, 0.5)),))
    found = []
    for solver in ("pgs", "tgs"):
        simulation = simulate(tree, 1, solver=solver, integrator=integrator)
        simulation.step(60)
        found.append(simulation.state.joint_position.numpy())
    np.testing.assert_array_equal(found[0], found[1])


@integrators
def test_free_motion_does_not_depend_on_substeps(integrator):
    """With a middle, nothing is new in them; without, positions move with the velocities of the substeps."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 6, floating=True, kinds=("revolute_x", "prismatic_y"))
    state = trees.random_state(rng, tree)
    paths = []
    for substeps in (1, 8):
        simulation = simulate(tree, substeps, precision="float64", integrator=integrator)
        put(simulation, state)
        simulation.step()
        paths.append((simulation.state.joint_velocity.numpy(), simulation.state.joint_position.numpy()))
    np.testing.assert_allclose(paths[0][0], paths[1][0], rtol=1e-12)
    same = np.isclose(paths[0][1], paths[1][1], rtol=0.0, atol=1e-12).all()
    assert same == (integrator == "midpoint")


@pytest.mark.parametrize(("integrator", "factor"), [("midpoint", 3.0), ("semi_implicit", 5.0)])
@pytest.mark.parametrize(("stiffness", "damping"), [(1e2, 1.0), (1e3, 5.0), (1e4, 100.0)])
def test_a_drive_in_eight_substeps_is_closer(stiffness, damping, integrator, factor):
    """A slider with a drive against its closed form; in semi-implicit substeps it is that of the shorter step."""
    tree = trees.with_dofs(
        trees.chain(1, "prismatic_x", mass=1.0), drive=Drive(stiffness=stiffness, damping=damping, position_target=0.2)
    )
    paths = []
    for substeps, dt, every in ((1, H, 1), (8, H, 1), (1, H / 8, 8)):
        simulation = simulate(tree, substeps, gravity=(0, 0, 0), dt=dt, precision="float64", integrator=integrator)
        simulation.set_state(joint_velocity=[1.0])
        paths.append(simulation.record(60 * every, every=every).joint_position[:, 0, 0])
    exact, _ = reference_problems.oscillator(H * np.arange(61), -0.2, 1.0, 1.0, stiffness, damping)
    errors = [np.abs(path - 0.2 - exact).max() for path in paths]
    assert errors[1] < errors[0] / factor
    if integrator == "semi_implicit":
        np.testing.assert_allclose(paths[1], paths[2], atol=1e-12)


@integrators
def test_more_substeps_follow_a_mimic_closer(integrator):
    """A cascade of five mimics in a falling chain under load: the worst error falls as fast as substeps grow."""
    tree = trees.with_dofs(trees.chain(6), drive=[Drive(stiffness=50.0, damping=2.0), *[None] * 5])
    mimics = tuple(Mimic(name=f"m{k}", dofs=(k, k - 1), gears=(1.0, -1.0)) for k in range(1, 6))
    errors = []
    for substeps in (4, 8, 16):
        simulation = simulate(trees.replace(tree, mimics=mimics), substeps, precision="float64", integrator=integrator)
        effort = np.zeros((6, 1))
        effort[-1] = 0.65
        simulation.control.joint_effort.assign(effort)
        errors.append(np.abs(simulation.record(240).mimic_error).max())
    assert errors[0] < 3e-4
    assert errors[0] / errors[1] > 2.0 and errors[1] / errors[2] > 2.0


def star(followers):
    """Equal sliders on a welded base, all but the first coupled to it."""
    chain = trees.chain(1, "prismatic_x", mass=1.0)
    links = tuple(trees.replace(chain.links[0], path=f"/World/t/link_{k}") for k in range(followers + 2))
    joints = [trees.plain_joint("/World/t/base", -1, 0, "fixed")]
    joints += [trees.plain_joint(f"/World/t/joint_{k}", 0, k, "prismatic_x") for k in range(1, followers + 2)]
    mimics = tuple(Mimic(name=f"m{k}", dofs=(k, 0), gears=(1.0, -1.0)) for k in range(1, followers + 1))
    return trees.replace(chain, path="/World/t", links=links, joints=tuple(joints), mimics=mimics)


@pytest.mark.parametrize("solver", ["pgs", "tgs"])
@pytest.mark.parametrize("followers", [3, 7, 12, 24])
@pytest.mark.parametrize(("position", "velocity"), [(1, 0), (4, 0), (4, 1), (4, 8), (4, 32), (16, 0)])
def test_many_followers_of_one_leader_stay_together(followers, position, velocity, solver):
    """However few or many the sweeps: the errors of one step do not grow in the next ones."""
    settings = {"solver": solver, "velocity_iterations": velocity, "precision": "float64"}
    simulation = simulate(star(followers), position, gravity=(0, 0, 0), **settings)
    effort = np.zeros((followers + 1, 1))
    effort[0] = 4.0
    simulation.control.joint_effort.assign(effort)
    errors = np.abs(simulation.record(480).mimic_error[:, 0]).max(axis=1)
    assert errors[240:].max() <= 1.1 * errors[:240].max() + 1e-14 < 1e-2


def test_velocity_iterations_bring_mimics_closer():
    """Five mimics in a row: a step of 4 substeps with 8 velocity iterations leaves half the error."""
    mimics = tuple(Mimic(name=f"m{k}", dofs=(k, k - 1), gears=(1.0, -1.0)) for k in range(1, 6))
    errors = []
    for sweeps in (0, 8):
        tree = trees.replace(trees.chain(6), mimics=mimics)
        simulation = simulate(tree, 4, precision="float64", velocity_iterations=sweeps)
        simulation.control.joint_effort.fill_(0.65)
        errors.append(np.abs(simulation.record(240).mimic_error).max())
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_cone_limits_in_substeps(substeps):
    """Four rods that tumble in cones, which turn from substep to substep: held, and no energy is gained."""
    tree = trees.chain(4, "spherical", length=0.3)
    rod = tree.links[0].inertia[0]
    links = tuple(trees.replace(link, inertia=(rod, 0, 0, rod, 0, 0.3 * rod)) for link in tree.links)
    cone = ConeLimit(angle_1=0.5, angle_2=0.3)
    joints = tuple(trees.replace(joint, cone_limit=cone) for joint in tree.joints)
    simulation = simulate(trees.replace(tree, links=links, joints=joints), substeps, precision="float64")
    simulation.set_state(joint_velocity=6.0 * np.random.default_rng(0).normal(size=12))
    recording = simulation.record(480)
    energy = recording.energy[:, 0].sum(axis=1)
    assert energy.max() - energy[0] < 0.05 * recording.energy[:, 0, 0].max()
    assert not simulation.failures()


@integrators
def test_a_stop_holds_in_every_substep(integrator):
    """At 6 rad/s: penetration below 1e-5 and no rebound, with 1, 4 and 16 substeps."""
    tree = trees.with_dofs(trees.chain(1), limit=Limit(lower=-0.5, upper=0.5))
    for substeps in (1, 4, 16):
        simulation = simulate(tree, substeps, gravity=(0, 0, 0), integrator=integrator)
        simulation.set_state(joint_velocity=[6.0])
        recording = simulation.record(240)
        q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
        assert q.max() <= 0.5 + 1e-5
        assert v.min() >= -1e-4
        np.testing.assert_array_equal(q[60:], q[60])


def test_a_start_that_a_loop_does_not_allow_makes_no_energy():
    """What brings the velocities onto the loop is an impact, which does not go on in the rest of the first step."""
    paths = []
    for solver, dt, substeps, every in (("direct", H / 16, 1, 16), ("tgs", H, 16, 1)):
        simulation = simulate(
            closed_mechanisms.spatial_four_bar(),
            substeps,
            dt=dt,
            solver=solver,
            velocity_iterations=20,
            precision="float64",
        )
        paths.append(simulation.record(12 * every).joint_velocity[::every])
    np.testing.assert_allclose(paths[1], paths[0], atol=5e-3)


def test_substeps_find_what_acts_on_the_axes_of_a_loop():
    """Rows of loops are solved together in each: what one sweep left of an armature was up to 0.02 rad."""
    tree = closed_mechanisms.slider_crank(speed=4.0)
    pin = trees.replace(
        tree.constraints[0],
        armatures=((Axis.ROT_Z, 0.01),),
        drives=((Axis.ROT_Z, Drive(stiffness=2.0, damping=0.1, position_target=0.5)),),
    )
    tree = trees.replace(tree, constraints=(pin,))
    exact = simulate(tree, 1, dt=H / 16, solver="direct", precision="float64").record(24 * 16).joint_position[::16]
    missed = []
    for substeps in (1, 4, 16, 64):
        path = simulate(tree, substeps, precision="float64").record(24).joint_position
        missed.append(np.abs(path - exact).max())
    assert missed[0] < 2e-4
    np.testing.assert_array_less(missed[1:], 4e-5)


def test_substeps_close_a_loop():
    tree = closed_mechanisms.parallelogram(speed=2.0)
    simulation = simulate(tree, 16, precision="float64")
    velocity = simulation.record(240).joint_velocity[:, 0]
    np.testing.assert_allclose(velocity @ [[1.0], [1.0], [0.0]], 0.0, atol=1e-11)
    np.testing.assert_allclose(velocity[:, 0], velocity[:, 2], atol=1e-11)
