"""What a step of a simulation has left behind, seen from outside."""

from tests import trees
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep
from tests.oracles.simulated_state import put, state_of


def disturb(rng, simulation):
    """Put a tree into a random state, with random efforts (D) and wrenches on its links (L, 6), which it returns."""
    tree = simulation.scene.articulations[0]
    state = trees.random_state(rng, tree)
    put(simulation, trees.replace(state, joint_position=0.15 * state.joint_position))
    efforts, wrench = rng.normal(size=len(tree.dofs)), rng.normal(size=(len(tree.links), 6))
    simulation.control.joint_effort.assign(efforts[:, None])
    simulation.control.link_external_force.assign(wrench[:, :, None])
    return efforts, wrench


class StepTaken:
    """One step of a simulation of one environment with forces, seen from outside: the motion and what moved it."""

    def __init__(self, simulation):
        self.tree, settings = simulation.scene.articulations[0], simulation.settings
        before = state_of(simulation)
        self.recording = simulation.record(1, forces=True)
        has_middle = settings.integrator == "midpoint"
        v = rigid.velocity(self.tree, before)
        step = DenseStep(self.tree, settings.dt, settings.integrator)
        self.placed = step.place(before, kept(simulation, "v_middle") if has_middle else v)
        """The motion where forces are evaluated."""
        lateness = settings.dt * (longest_of(self.tree, kept(simulation, "dof_weight")) - 0.5) * has_middle
        after = step.turned(rigid.velocity(self.tree, state_of(simulation)), v, -lateness)
        self.acceleration = (after - v) / settings.dt
        """(v+ - v) / h, v+ of ball joints in the axes of that motion, shape (N)."""


def kept(simulation, name):
    """What the last step has left in the work space for each dof of the only environment, shape (N)."""
    return getattr(simulation.run.groups[0].arrays.work, name).numpy()[:, 0]


def longest_of(tree, shares):
    """The largest share of the dofs of each joint, for each of them, shape (N)."""
    longest = shares.copy()
    for part in rigid.dof_slices(tree):
        own = slice(6 + part.start, 6 + part.stop)
        longest[own] = shares[own].max(initial=0.0)
    return longest
