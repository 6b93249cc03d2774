"""Changes of a run, as methods of its simulation: state and parameters written, sleep, what is kept and put back."""

from __future__ import annotations

import numpy as np

from warp_artic.sim.change import motion, sleep
from warp_artic.sim.change.checkpoint import read_checkpoint, write_checkpoint
from warp_artic.sim.change.mass_properties import set_mass_properties
from warp_artic.sim.change.snapshot import Snapshot, apply_snapshot, take_snapshot
from warp_artic.sim.change.start import reset
from warp_artic.sim.run.state import Run


class ChangesOfRun:
    """What a user changes in a run, beside its arrays."""

    run: Run

    def set_state(
        self,
        joint_position=None,
        joint_velocity=None,
        root_pose=None,
        root_velocity=None,
        environments=None,
        loop_broken=None,
    ) -> None:
        """Set parts of the state; kinematics follow.

        Args:
            joint_position: [rad or m], shape (D) or (E, D) in the order of `joint_names`.
            joint_velocity: [rad/s or m/s], shape (D) or (E, D).
            root_pose: World pose of the floating root links, position then quaternion xyzw, shape (7) or (E, 7), or
                (R, 7) or (E, R, 7) for R floating roots in the order of `root_names`.
            root_velocity: Linear velocity of the centre of mass and angular velocity, world axes, shape as `root_pose`
                with 6.
            environments: Indices of the E environments to set; all by default.
            loop_broken: 1 for loop joints that are broken and 0 for those that hold, shape (N) or (E, N) in the order
                of `loop_names`; unchanged by default.
        """
        motion.set_state(self.run, joint_position, joint_velocity, root_pose, root_velocity, environments, loop_broken)

    def set_values(self, name: str, values, environments=None) -> None:
        """Set an array of `control` or `parameters` in chosen environments.

        Args:
            name: Of the array.
            values: Shape (rows) or (E, rows), with the components of each row last where it has several.
            environments: Indices of the E environments to set; all by default.

        Raises:
            SettingsError: There is no such array, or the values are not of this shape or not numbers.
        """
        motion.set_values(self.run, name, values, environments)

    def set_mass_properties(self, center_of_mass=None, inertia=None, environments=None) -> None:
        """Set centres of mass and inertias of links; masses are `parameters.link_mass`.

        Poses and velocities of links are unchanged; that of a floating root is now of its new centre of mass.

        Args:
            center_of_mass: In the link frames [m], shape (L, 3) or (E, L, 3) in the order of `link_names`.
            inertia: About the centres of mass, in the axes of the link frames, xx, xy, xz, yy, yz, zz [kg m^2], shape
                (L, 6) or (E, L, 6).
            environments: Indices of the E environments to set; all by default.

        Raises:
            DescriptionError: An inertia is not physically possible.
            SettingsError: An argument has a value that is not allowed.
        """
        set_mass_properties(self.run, {"center_of_mass": center_of_mass, "inertia": inertia}, environments)

    def reset(self, environments=None) -> None:
        """Reset environments (all by default) to the authored start state.

        Time begins anew where all are, by default. Those that are reset alone have the time of the others: what follows
        time samples, as targets and kinematic bodies do, goes on, which is logged as a warning.
        """
        reset(self.run, environments)

    def asleep(self) -> np.ndarray:
        """Which articulations sleep, shape (environments, articulations); see `SolverSettings.sleep_after`.

        Those of a mechanism sleep and wake as one.
        """
        return sleep.asleep(self.run)

    def wake(self, environments=None, articulations=None) -> None:
        """Wake articulations, without changing their state. Writing zero to `state.steps_at_rest` does the same.

        Args:
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default.
            articulations: Prim paths, indices or a mask; all by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        sleep.wake(self.run, environments, articulations)

    def put_to_sleep(self, environments=None, articulations=None) -> None:
        """Put articulations to sleep, with zero velocity, until something changes; arguments as in `wake`.

        Raises:
            SettingsError: An argument has a value that is not allowed, or `SolverSettings.sleep_after` is infinite.
        """
        sleep.put_to_sleep(self.run, environments, articulations)

    def snapshot(self, parts=None, environments=None, articulations=None) -> Snapshot:
        """Copy arrays on the device, to read or to `apply` later.

        Args:
            parts: Names of arrays of `state`, `control` and `parameters`, and "history": the state of
                steps beside positions and velocities. By default motion, control and history, which is all that a run
                needs to continue.
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default. Indices on a GPU that are out of range give zeros.
            articulations: Prim paths, indices or a mask; all by default. Elastic bodies go with what they hang on, and
                free ones with all.

        Raises:
            SettingsError: An argument has a value that is not allowed.
            SolveError: A part needs a step with forces, and there was none.
        """
        return take_snapshot(self.run, parts, environments, articulations)

    def apply(self, snapshot: Snapshot, parts=None, environments=None, articulations=None) -> None:
        """Restore a snapshot of this model, on the device; kinematics follow.

        Without the history, a restored motion starts afresh, as by `set_state`. Sleeping articulations wake, unless
        motion, control and history are all restored.

        Args:
            snapshot: From `snapshot`.
            parts: Which of its parts; by default all that can be applied. Others follow from these.
            environments: Where its columns go; by default where they are from. Indices or a mask of those that are
                meant, which leaves the others as they are, either of which may be an array on the device. Of a
                snapshot of all environments they get what is theirs, but as many indices as there are environments say
                where each of its columns goes; one of some environments goes to as many indices, in their order, and
                one of a single environment to all that are given. Indices on a GPU that are out of range are left out.
            articulations: Prim paths, indices or a mask of some that it has; all of them by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        apply_snapshot(self.run, snapshot, parts, environments, articulations)

    def save(self, path) -> None:
        """Write a checkpoint, complete or not at all: state, control and parameters, with the hash of the model.

        Raises:
            SettingsError: There is no such folder, or the path is one.
            SolveError: The file cannot be written.
        """
        write_checkpoint(self.run, path)

    def load(self, path) -> None:
        """Load a checkpoint; the run continues bitwise as the one that saved it.

        Raises:
            SettingsError: There is no such file, or it is damaged, or its unpacked size is not plausible.
            SolveError: The checkpoint is of another model, other settings or another number of environments, or has
                arrays, types, shapes or values that are not allowed (`sim.change.checkpoint`). Nothing has changed
                then.
        """
        read_checkpoint(self.run, path)
