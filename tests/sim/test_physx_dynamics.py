"""Beside what PhysX says of the same states: mass matrix, gravity, Coriolis forces, Jacobian, forces by joints."""

import numpy as np
import pytest

from tests.oracle_stages import DATA
from warp_artic import IncomingForces, Simulation, SolverSettings, read_stage
from warp_artic.description.pose import matrix_from_quaternion


def recordings():
    """For each stage what PhysX says of some states, and how it names dofs and links."""
    found = {}
    with np.load(DATA / "physx_dynamics.npz") as content:
        for key, values in content.items():
            stage, _, name = key.partition("/")
            found.setdefault(stage, {})[name] = values
    return found


PHYSX = recordings()
STEPPED = {stage: recording for stage, recording in PHYSX.items() if "link_incoming_force" in recording}


def last(path):
    return path.rpartition("/")[2]


def our_name(name):
    """The number of a dof of a joint with several is its axis."""
    joint, _, axis = name.partition(":")
    return f"{joint}:rot{'XYZ'[int(axis)]}" if axis else joint


def simulate(stage, suffix="", **settings):
    """An environment for each recorded state; and where the velocities and the links of ours are in the recording."""
    recording = PHYSX[stage]
    scene = read_stage(DATA / "stages" / f"{stage}.usda")
    options = SolverSettings(precision="float64", **settings)
    simulation = Simulation(scene, environments=len(recording[f"q{suffix}"]), settings=options)
    theirs = [our_name(str(name)) for name in recording["dof_names"]]
    dofs = np.array([theirs.index(last(name)) for name in simulation.joint_names])
    roots, count = {}, 0
    if scene.articulations[0].is_floating:
        roots = {name: recording[f"{name}{suffix}"] for name in ("root_pose", "root_velocity")}
        count = 6
    simulation.set_state(recording[f"q{suffix}"][:, dofs], recording[f"qd{suffix}"][:, dofs], **roots)
    theirs = [str(name) for name in recording["link_names"]]
    links = np.array([theirs.index(last(name)) for name in simulation.link_names])
    return simulation, np.concatenate([np.arange(count), count + dofs]), links


def close(found, wanted):
    """To 2e-6 of the largest entry of each state; where PhysX has only rounding, of one."""
    for ours, theirs in zip(found, wanted):
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=2e-6 * (scale if scale > 1e-4 else 1.0))


@pytest.mark.parametrize("stage", PHYSX)
def test_we_say_what_physx_says(stage):
    """At five states of a run; the mass matrix of PhysX is without armature, and fixed bases have no rows."""
    recording = PHYSX[stage]
    simulation, columns, links = simulate(stage)
    close(simulation.mass_matrix(armature=False).numpy(), recording["mass_matrix"][:, columns][:, :, columns])
    close(simulation.gravity_force().numpy(), recording["gravity_comp"][:, columns])
    close(simulation.coriolis_force().numpy(), recording["coriolis"][:, columns])
    J = recording["jacobian"].reshape(len(recording["q"]), -1, 6, len(columns))
    held = len(links) - J.shape[1]
    rows = links[links >= held] - held
    close(simulation.jacobian().numpy(), J[:, rows][..., columns].reshape(len(J), -1, len(columns)))


@pytest.mark.parametrize("stage", STEPPED)
def test_forces_by_joints(stage):
    """One step from a state of PhysX. It puts them in axes of the end of the step, and its drives settle slowly.

    Forces without drives agree to 1e-4 once ours are turned as far. Arms of its torques are those of the end too,
    which is a share of h times the velocity. Its velocity forces are those of the start; ours of a ball that moves
    freely are those of the middle, so there they are taken from a step of next to no time.
    """
    recording = STEPPED[stage]
    simulation, _, links = simulate(stage, "_before", dt=1 / 960, integrator="semi_implicit")
    run = simulation.record(1, forces=True)
    forces = run.link_incoming_joint_force[1]
    if stage == "spherical3_pendulum":
        brief, _, _ = simulate(stage, "_before", dt=1e-6, integrator="semi_implicit")
        forces = brief.record(1, forces=True).link_incoming_joint_force[1]
    joints = {simulation.link_names[joint.child]: joint for joint in simulation.scene.articulations[0].joints}
    has_drives = stage in ("arm6_drives", "tree_humanoid")
    for environment, wanted in enumerate(recording["link_incoming_force"][:, links]):
        force, torque = np.abs(wanted[:, :3]).max(), np.abs(wanted[:, 3:]).max()
        for k, name in enumerate(simulation.link_names):
            if name not in joints or not joints[name].dofs:
                continue
            frame = matrix_from_quaternion(joints[name].child_frame.quaternion)
            begin, end = (matrix_from_quaternion(pose) @ frame for pose in run.link_pose[:, environment, k, 3:])
            ours = forces[environment, k].reshape(2, 3) @ begin.T @ end
            np.testing.assert_allclose(ours[0], wanted[k, :3], rtol=0, atol=(4e-3 if has_drives else 1e-4) * force)
            atol = (2e-2 if has_drives else 1e-2) * max(torque, force * 0.5)
            np.testing.assert_allclose(ours[1], wanted[k, 3:], rtol=0, atol=atol)


def test_forces_by_a_joint_without_those_of_a_tendon():
    """A pendulum that swings slowly on a spatial tendon, which PhysX leaves out. Its solver was PGS, in one step."""
    stage, frames = "spatial_tendon_single", []
    for forces in (IncomingForces(tendons=False), True):
        simulation, _, links = simulate(stage, "_pulled", dt=1 / 240, integrator="semi_implicit", variant="scalar")
        run = simulation.record(1, forces=forces)
        (joint,) = (joint for joint in simulation.scene.articulations[0].joints if joint.dofs)
        link = simulation.link_names.index(simulation.scene.articulations[0].links[joint.child].path)
        frame = matrix_from_quaternion(joint.child_frame.quaternion)
        begin, end = ([matrix_from_quaternion(pose) @ frame for pose in poses[:, link, 3:]] for poses in run.link_pose)
        ours = run.link_incoming_joint_force[1, :, link].reshape(-1, 2, 3)
        frames.append(np.array([own @ before.T @ after for own, before, after in zip(ours, begin, end)]))
    wanted = PHYSX[stage]["link_incoming_force_pulled"][:, links[link]].reshape(-1, 2, 3)
    for found, with_tendon, theirs in zip(*frames, wanted):
        force = np.abs(theirs[0]).max()
        np.testing.assert_allclose(found[0], theirs[0], rtol=0, atol=5e-4 * force)
        np.testing.assert_allclose(found[1], theirs[1], rtol=0, atol=1e-3 * force)
        assert np.abs(with_tendon[0] - theirs[0]).max() > 0.5 * force
