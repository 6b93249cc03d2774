"""Arms that fall asleep, and what tells whether they do."""

import numpy as np

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive

H = 1 / 240
AFTER = 0.4
STEPS = 96
"""Those of the time at rest."""
MOTION = ("joint_position", "joint_velocity")


def arm(stiffness=400.0, damping=60.0, target=0.3, **changes):
    """Three rods that drives hold up."""
    drive = Drive(stiffness=stiffness, damping=damping, position_target=target)
    return trees.replace(trees.with_dofs(trees.chain(3), drive=drive), **changes)


def elsewhere(tree, name):
    """The same tree under other paths."""

    def moved(part):
        return trees.replace(part, path=part.path.replace("/World/chain", name))

    links, joints = (tuple(map(moved, parts)) for parts in (tree.links, tree.joints))
    joints = (trees.replace(j, dofs=tuple(trees.replace(dof, name=j.path) for dof in j.dofs)) for j in joints)
    return trees.replace(moved(tree), links=links, joints=tuple(joints))


def simulate(*articulations, environments=1, gravity=rigid.GRAVITY, **settings):
    options = SolverSettings(**{"dt": H, "sleep_after": AFTER, **settings})
    return Simulation(trees.scene(*articulations, gravity=gravity), environments=environments, settings=options)


def asleep(environments=1, **settings):
    """An arm that has settled and sleeps."""
    simulation = simulate(arm(), environments=environments, **settings)
    simulation.step(960)
    assert simulation.asleep().all()
    return simulation


def memory(simulation):
    """All state and control, as bytes, but the count of steps."""
    fields = {}
    for place, group in enumerate(simulation.run.groups):
        for name, field in (*group.state.items(), *group.control.items()):
            if name != "clock":
                fields[f"{place} {name}"] = field.view(0, group.columns.count).numpy().tobytes()
    return fields


def clocks(simulation):
    """How many steps each environment has counted."""
    history = simulation.snapshot("history")
    return np.concatenate([piece.values.numpy().ravel() for piece in history.pieces if piece.name == "clock"])


def motion(simulation, environment=0):
    return np.concatenate([getattr(simulation.state, name).numpy()[:, environment] for name in MOTION])


def write(array, place, value):
    """Write one number of a view: on a CPU its memory is that of NumPy."""
    values = array.numpy()
    values[place] = value
    array.assign(values)


def target(simulation):
    targets = simulation.control.drive_position_target
    write(targets, 1, targets.numpy()[1] + 1e-6)


def effort(simulation):
    write(simulation.control.joint_effort, 2, 1e-3)


def place(simulation):
    write(simulation.state.joint_position, 0, simulation.state.joint_position.numpy()[0] + 1e-3)
