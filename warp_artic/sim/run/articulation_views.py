"""What a user holds of one articulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from warp_artic.sim.arrays.views import CONTROL, OUTPUTS, PARAMETERS, STATE, STEP_OUTPUTS, ArrayViews, Member
from warp_artic.sim.run.access import array_of_member
from warp_artic.sim.run.state import Run
from warp_artic.sim.suite.dynamics import Dynamics


@dataclass(frozen=True)
class ArticulationViews:
    """The arrays of one articulation, as views on the device."""

    path: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    origin: tuple[float, float, float]
    """World place that positions of roots and links are relative to [m]; zero near the world origin."""
    state: ArrayViews
    control: ArrayViews
    parameters: ArrayViews
    dynamics: Dynamics
    """Mass matrix, Jacobian and so on."""

    def __repr__(self) -> str:
        counts = {"dof": len(self.joint_names), "link": len(self.link_names)}
        told = (f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items())
        return f"<ArticulationViews of {self.path}: {', '.join(told)}; state, control, parameters, dynamics>"


def articulation_views(run: Run, member: Member) -> ArticulationViews:
    """The arrays of an articulation."""
    tree = run.scene.articulations[member.index]
    get = partial(array_of_member, run, member)
    return ArticulationViews(
        tree.path,
        tuple(dof.name for dof in tree.dofs),
        tuple(tree.bodies),
        tuple(map(float, member.group.origins[member.place])),
        ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), get, (*OUTPUTS, *STEP_OUTPUTS)),
        ArrayViews(CONTROL, get),
        ArrayViews(PARAMETERS, get),
        Dynamics(member, tree, run.settings.dt, partial(run.launches.dynamics, member.group)),
    )
