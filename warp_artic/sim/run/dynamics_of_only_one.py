"""The dynamics suite of the only articulation of a run, as methods of its simulation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from warp_artic.errors import SolveError
from warp_artic.sim.run.articulation_views import ArticulationViews
from warp_artic.sim.suite.dynamics import Dynamics


def _of_only_one(method: Callable) -> Callable:
    """A method of the dynamics suite, as a method of a simulation that has one articulation."""

    @wraps(method)
    def of_simulation(simulation: DynamicsOfOnlyOne, *arguments, **options):
        if len(simulation.articulations) != 1:
            raise SolveError(
                f"{method.__name__}: the scene has {len(simulation.articulations)} articulations; each has it for "
                f"itself: simulation.articulations[k].dynamics.{method.__name__}"
            )
        return method(simulation.articulations[0].dynamics, *arguments, **options)

    return of_simulation


class DynamicsOfOnlyOne:
    """What a simulation of one articulation has of the dynamics suite."""

    articulations: tuple[ArticulationViews, ...]

    mass_matrix = _of_only_one(Dynamics.mass_matrix)
    mass_matrix_inverse = _of_only_one(Dynamics.mass_matrix_inverse)
    solve_mass_matrix = _of_only_one(Dynamics.solve_mass_matrix)
    gravity_force = _of_only_one(Dynamics.gravity_force)
    coriolis_force = _of_only_one(Dynamics.coriolis_force)
    bias_force = _of_only_one(Dynamics.bias_force)
    external_force = _of_only_one(Dynamics.external_force)
    joint_force = _of_only_one(Dynamics.joint_force)
    joint_acceleration = _of_only_one(Dynamics.joint_acceleration)
    jacobian = _of_only_one(Dynamics.jacobian)
    center_of_mass = _of_only_one(Dynamics.center_of_mass)
    centroidal_momentum = _of_only_one(Dynamics.centroidal_momentum)
    centroidal_momentum_matrix = _of_only_one(Dynamics.centroidal_momentum_matrix)
    register_contacts = _of_only_one(Dynamics.register_contacts)
    coefficient_matrix = _of_only_one(Dynamics.coefficient_matrix)
    constraint_impulses = _of_only_one(Dynamics.constraint_impulses)
    unpack_joints = _of_only_one(Dynamics.unpack_joints)
    pack_joints = _of_only_one(Dynamics.pack_joints)
