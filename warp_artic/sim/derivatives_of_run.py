"""Derivatives of a run, as methods of its simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from warp_artic.sim.derivatives.gradient import Loss, gradient
from warp_artic.sim.derivatives.kinks import Kinks, kinks
from warp_artic.sim.derivatives.linearize import Linearization, linearize
from warp_artic.sim.derivatives.tangent import Tangent, tangent
from warp_artic.sim.run.state import Run


class DerivativesOfRun:
    """Derivatives of steps, from the present state."""

    run: Run

    def tangent(
        self,
        seeds: Mapping[str, np.ndarray],
        steps: int = 1,
        every: int | None = None,
        controls: Mapping[str, np.ndarray] | None = None,
    ) -> Tangent:
        """Derivatives of a run from the present state along K directions; this simulation stays as it is.

        Steps are made on dual numbers, whose values are those of scalar steps in every bit: derivatives are those of
        the steps as they are computed, of the branch that is taken. At the switch of a limit or of dry friction that
        is one of the two one-sided derivatives. A direction of what follows time samples moves all of their values
        alike. What steps remember of accelerations does not change with the start.
        Kernels for that are compiled when derivatives are asked for first.

        Args:
            seeds: By names of arrays of `control` and `parameters`, or joint_position, joint_velocity, root_pose and
                root_velocity of the start: what each direction changes, shape (K, rows) or (K, E, rows), with the
                components of each row last where it has several. Positions change by motions in the axes of
                velocities, see `Motion`; root_pose by six numbers.
            steps: Number of time steps.
            every: Steps from one record to the next; by default there is one of the start, and one of the end.
            controls: Controls over time, (steps, rows) or (steps, E, rows), by the names of `control`, where they are
                others than the present ones.

        Raises:
            SettingsError: A name, a shape or a count is not allowed.
            SolveError: There is something in the scene that is not differentiated yet: elastic bodies, contacts
                between many mechanisms, kinematic bodies that move, sleep.
        """
        return tangent(self.run, seeds, steps, every, controls)

    def linearize(self, inputs: Sequence[str] = (), parameters: Sequence[str] = (), environments=None) -> Linearization:
        """A, B and P of a step from the present state; this simulation stays as it is. See `tangent`.

        What steps of "midpoint" remember of accelerations is taken as it is: it has no rows in the state, and what it
        adds to derivatives over several steps is in `tangent` alone. Steps of "semi_implicit" remember nothing.

        Args:
            inputs: Names of arrays of `control`; all of their numbers are inputs, in the order of their rows.
            parameters: Names of arrays of `parameters`.
            environments: Indices of the E environments that are meant; all by default.

        Raises:
            SettingsError: A name is not allowed.
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return linearize(self.run, inputs, parameters, environments)

    def kinks(self, steps: int = 1, controls: Mapping[str, np.ndarray] | None = None) -> Kinks:
        """How near limits, friction, drives at their maximum and so on are to a switch; this simulation stays as it is.

        There derivatives are others on either side: `linearize` and `gradient` have those of the side that is taken,
        which say little of changes that pass the switch. Of a run it is the least margin of each over all steps.

        Args:
            steps: Number of time steps from the present state; one is that of `linearize`.
            controls: Controls over time as of `tangent`.

        Raises:
            SettingsError: A name, a shape or a count is not allowed, or the integrator is "rk4".
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return kinks(self.run, steps, controls)

    def gradient(
        self,
        loss: Loss,
        steps: int,
        wrt: Sequence[str],
        controls: Mapping[str, np.ndarray] | None = None,
    ) -> tuple[float, dict[str, np.ndarray]]:
        """The value of a loss of a run from the present state, and its gradient; this simulation stays as it is.

        It goes backward through an ordinary run by the derivatives of each step, so that it costs little more for many
        parameters and controls over time than for none; but that is as much as 20 to 60 runs on a CPU, and a hundred or
        more on a GPU. For a few numbers `tangent` costs far less. Memory grows with the root of the number of steps.

        Args:
            loss: Gets the motion of all records, of the start and after each step (T = steps + 1), and returns its
                value and derivatives by arrays of `Motion`, by their names: shape (T, E, D), and (T, E, R, 6) of poses
                and velocities of roots, positions by motions as in `tangent`. What it leaves out counts as zero.
            steps: Number of time steps.
            wrt: Names of what the gradient is by: of arrays of `control` and `parameters`, and joint_position,
                joint_velocity, root_pose and root_velocity of the start.
            controls: Controls over time as of `tangent`.

        Returns:
            The value, and for each name an array (E, rows), with the components of each row last where it has several;
            of what is in `controls` (steps, E, rows).

        Raises:
            SettingsError: A name, a shape or a count is not allowed.
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return gradient(self.run, loss, steps, wrt, controls)
