"""Steps of an articulation made aside, to see where links go under other forces on them; nothing else changes.

Of each environment there are copies that step at once: one with the external forces as they are, and for each link in
question six more, with a further force along each world axis, then a further moment about each.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import build_groups
from warp_artic.model.field import Field
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.launch.launches import Launches
from warp_artic.solver.settings import SolverSettings

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def trial_kernels(scalar: type):
    """The kernels `spread`, to all copies, and `disturb`."""

    @wp.kernel(**OPTIONS)
    def spread(
        source: wp.array2d(dtype=scalar), first_column: int, environments: int, target: wp.array2d(dtype=scalar)
    ):
        row, column = wp.tid()
        target[row, column] = source[row, first_column + column % environments]

    @wp.kernel(**OPTIONS)
    def disturb(
        links: wp.array(dtype=int),
        sizes: wp.array(dtype=scalar),
        environments: int,
        wrench: wp.array2d(dtype=scalar),
    ):
        env, k = wp.tid()
        row = 6 * links[k // 6] + k % 6
        column = (k + 1) * environments + env
        wrench[row, column] = wrench[row, column] + sizes[k]

    return spread, disturb


class TrialSteps:
    """Steps of one articulation, aside.

    Args:
        member: What steps.
        scene: What is simulated, as it is laid out.
        settings: Of its steps.
        links: That get further forces.
        sizes: Of the further forces and moments, in world axes, shape (6 links) [N, N m].
        device: "cpu" or "cuda:N".
    """

    def __init__(
        self,
        member: Member,
        scene: Scene,
        settings: SolverSettings,
        links: np.ndarray,
        sizes: np.ndarray,
        device: str,
    ):
        self.copies = 1 + len(sizes)
        """Of each environment; copy c of environment e is column c * environments + e."""
        self._member = member
        self._device = wp.get_device(device)
        numbers = member.group.columns.numbers
        alone = replace(scene, articulations=(scene.articulations[member.index],), mechanisms=())
        environments = member.group.environments
        (self.group,) = build_groups(
            alone,
            self.copies * environments,
            lambda columns: numbers,
            device,
            settings.has_dense_rows,
            settings.sleep_steps,
        )
        self._launches = Launches((self.group,), settings, self._device, 1)
        self._spread, self._disturb = trial_kernels(numbers.scalar)
        self._links = wp.array(links, dtype=int, device=device)
        self._sizes = wp.array(sizes, dtype=numbers.scalar, device=device)
        given = member.group
        self._copies = [
            self._copy(given.field(name), self.group.field(name)) for name in (*given.state, *given.control)
        ]
        self._base: Field | None = None

    def see_base(self) -> None:
        """Keep the base as it is given now for the end of the steps that come; see `sim.run.base_motions`."""
        given = self._member.group.parameters["base"]
        self._base = self._base or Field.zeros(given.scalars.shape[0], self.group.columns)
        self._copy(given, self._base).launch()

    def make(self) -> None:
        """Make the step that comes next; poses and velocities of links in `group` are those after it."""
        own, given = self.group, self._member.group
        for name, field in given.parameters.items():
            if not field.is_shared:
                if own.parameters[name].is_shared:
                    own.expand_parameter(name)
                    self._launches.pack()
                self._copy(field, own.parameters[name]).launch()
        for copy in self._copies:
            copy.launch()
        for name in ("watched", "pushed"):
            wp.copy(getattr(own.arrays.model, name), getattr(given.arrays.model, name))
        environments = given.environments
        inputs = [self._links, self._sizes, environments, own.field("link_external_force").scalars]
        wp.launch(self._disturb, dim=(environments, self.copies - 1), inputs=inputs, device=self._device)
        self._launches.step(1, False)
        if self._base is not None:
            wp.copy(own.parameters["base"].scalars, self._base.scalars)
        self._launches.report()

    def answers(self) -> np.ndarray:
        """By how much velocities of links differ after it by force and moment on them, both in world axes.

        Shape (environments, 6 links, 6 links), columns of force or moment: the velocity of the centre of mass, then the
        angular velocity, of each link.
        """
        rows = 6 * self._links.numpy()[:, None] + np.arange(6)
        velocities = self.group.field("link_velocity").scalars.numpy()[rows.ravel()].astype(float)
        velocities = velocities[:, : self.copies * self._member.group.environments].reshape(
            len(velocities), self.copies, -1
        )
        differences = (velocities[:, 1:] - velocities[:, :1]) / self._sizes.numpy()[:, None]
        return differences.transpose(2, 0, 1)

    def _copy(self, source: Field, target: Field) -> wp.Launch:
        """A launch that copies all rows of a field to all copies."""
        environments = self._member.group.environments
        return wp.launch(
            self._spread,
            dim=(target.scalars.shape[0], self.copies * environments),
            inputs=[source.scalars, self._member.first_column, environments, target.scalars],
            device=self._device,
            record_cmd=True,
        )
