"""What a scene of solids does when it is simulated, by the names of its solids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import warp_artic as wa
from tests.contact_stages import ContactScene
from tests.usd.authoring import open_text
from warp_artic.sim.record.recording import Recording

PRECISIONS = ("float64", "float32")
DT = 1.0 / 240.0
WANTED = ("link_pose", "link_velocity", "energy")


@dataclass(frozen=True)
class Motion:
    """Records of one run, R of them."""

    recording: Recording
    environment: int = 0

    @property
    def time(self) -> np.ndarray:
        """[s], shape (R)."""
        return self.recording.time

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential together [J], shape (R)."""
        return self.recording.energy[:, self.environment].astype(float).sum(axis=-1)

    @property
    def kinetic(self) -> np.ndarray:
        """[J], shape (R)."""
        return self.recording.energy[:, self.environment, 0].astype(float)

    def place(self, name: str) -> np.ndarray:
        """Of the centre of a solid [m], shape (R, 3)."""
        return self._of(self.recording.link_pose, name)[:, :3]

    def velocity(self, name: str) -> np.ndarray:
        """Of the centre of a solid [m/s], shape (R, 3)."""
        return self._of(self.recording.link_velocity, name)[:, :3]

    def turning(self, name: str) -> np.ndarray:
        """Angular velocity of a solid, world axes [rad/s], shape (R, 3)."""
        return self._of(self.recording.link_velocity, name)[:, 3:]

    def axis(self, name: str, index: int) -> np.ndarray:
        """The axis X, Y or Z of a solid in the world, shape (R, 3)."""
        x, y, z, w = self._of(self.recording.link_pose, name)[:, 3:].T
        columns = (
            (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
            (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
            (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
        )
        return np.stack(columns[index], axis=1)

    def turned(self, name: str) -> np.ndarray:
        """Angle to the attitude of the first record [rad], shape (R)."""
        q = self._of(self.recording.link_pose, name)[:, 3:]
        along = np.abs(q @ q[0])
        return 2.0 * np.arctan2(np.linalg.norm(q - np.sign(q @ q[0])[:, None] * along[:, None] * q[0], axis=1), along)

    @property
    def largest_speed(self) -> np.ndarray:
        """Of any component of any velocity, angular ones included, shape (R)."""
        return np.abs(self.recording.link_velocity[:, self.environment]).max(axis=(1, 2))

    def _of(self, values: np.ndarray, name: str) -> np.ndarray:
        paths = [path.rpartition("/")[2] for path in self.recording.link_names]
        return values[:, self.environment, paths.index(name)].astype(float)


def simulation(scene: ContactScene, *, precision: str = "float64", environments: int = 1, **settings) -> wa.Simulation:
    """Of a scene, at 240 Hz unless told otherwise."""
    options = wa.SolverSettings(**{"dt": DT, "precision": precision} | settings)
    return wa.Simulation(wa.read_stage(open_text(scene.usd)), environments=environments, settings=options)


def simulated(scene: ContactScene, seconds: float, *, every: int = 1, **settings) -> Motion:
    """The motion of a scene for a time."""
    one = simulation(scene, **settings)
    return Motion(one.record(round(seconds / one.settings.dt), every=every, quantities=WANTED))
