"""What a run consists of and how far it is: what functions of `sim` get, where a user holds a `Simulation`."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.public_rows import MEMORY
from warp_artic.sim.arrays.row_table import RowTables
from warp_artic.sim.arrays.rows import Rows
from warp_artic.sim.arrays.views import MOTION, Member
from warp_artic.sim.elastic.elastic_bodies import ElasticBodies
from warp_artic.sim.islands.contact_islands import ContactIslands
from warp_artic.sim.launch.idle import IdleSteps
from warp_artic.sim.launch.launches import Launches
from warp_artic.sim.launch.parameter_watch import ParameterWatch
from warp_artic.sim.run.base_motions import BaseMotions
from warp_artic.sim.run.given_contacts import GivenContacts
from warp_artic.sim.run.hand_overs import HandOvers
from warp_artic.sim.run.layout import content_of_bodies, content_of_hand_overs
from warp_artic.sim.run.targets import TargetTracks
from warp_artic.solver.settings import SolverSettings


@dataclass(frozen=True, kw_only=True)
class Names:
    """What the rows of arrays are called, each in the order of the scene."""

    joint: tuple[str, ...]
    """Of dofs."""
    link: tuple[str, ...]
    root: tuple[str, ...]
    """Of floating roots."""
    entries: dict[str, tuple[str, ...]]
    """Of what constraint families have names for, such as tendons, by how the names of their arrays begin."""
    mesh_tendon: tuple[str, ...]


@dataclass(eq=False, kw_only=True)
class Run:
    """Copies of a scene on a device, and their steps."""

    scene: Scene
    """What is simulated; another one of the same structure takes its place where only numbers differ (`revise`)."""
    settings: SolverSettings
    """With nothing left open."""
    environments: int
    device: str
    on: wp.Device
    """The device of this name."""
    threads: int
    names: Names

    groups: tuple[Group, ...]
    """Equal trees and their arrays."""
    members: tuple[Member, ...]
    """Who of the groups each articulation is, in the order of the scene."""
    order: dict[str, list[np.ndarray]]
    """The rows of the scene that the rows of each member are, by what they are of (`sim.run.layout.scene_rows`)."""
    launches: Launches
    tables: RowTables
    idle: IdleSteps
    parameter_watch: ParameterWatch
    bases: BaseMotions
    hand_overs: HandOvers
    """Articulations that are kinematic at times."""
    elastic: ElasticBodies
    islands: ContactIslands | None
    """Contacts of mechanisms that are too many to be one, if there are any."""
    given_contacts: GivenContacts
    """Contacts that a host gives."""
    tracks: TargetTracks = field(init=False)
    """Values that arrays follow over time."""
    sleep_steps: int = field(init=False)
    """Steps at rest after which a tree sleeps; 0 where none does."""
    is_carried: bool = field(init=False)
    """Whether kinematic bodies carry trees, elastic bodies step beside them, or contacts are found before steps."""
    has_motion: bool = field(init=False)
    """Whether it is carried, or articulations are kinematic at times: what follows time with no tracks."""
    remembered: tuple[str, ...] = field(init=False)
    """Fields of the state that steps remember of the motion, without what they count, and what has broken."""

    steps_done: int = 0
    has_told_of_time: bool = False
    """Whether it was said that those that are reset alone have the time of the others."""
    is_reported: bool = False
    """Whether link poses, link velocities and energies are of the state."""
    has_step_outputs: bool = False
    """Whether the last step reported forces."""
    has_lent: bool = False
    """Whether a user has a view of the state or of a parameter, and may have written to it at any time."""
    is_in_graph: bool = False
    """Whether a user has captured a step, and may launch it at any time."""
    watched: set[str] = field(default_factory=set)
    """Arrays in which steps look for changes, which wake somebody."""
    array_rows: dict[tuple[str, int], Rows] = field(default_factory=dict)
    """Rows of arrays over several articulations, by what they are of and the components of each."""
    readers: dict[tuple[str, ...], list] = field(default_factory=dict)
    """What reads the groups for records, by the names of the arrays that it reads (`sim.record.recorder`)."""
    taped_twin: object = None
    """Its twin on taped numbers, kept from one gradient to the next (`sim.derivatives.taped_walk`)."""
    twin: object = None
    """Its twin on dual numbers, kept from one question for derivatives to the next (`sim.derivatives.twin`)."""
    start: tuple[Scene, tuple[str, ...], wp.array] | None = None
    """The start state: of which scene, the names of its fields, and their rows."""
    hash_of: tuple[Scene, str] | None = None
    """Of which scene `model_hash` is, and what it is; found when it is asked for."""

    def __post_init__(self):
        self.sleep_steps = self.settings.sleep_steps
        self.is_carried = bool(self.bases or self.elastic or self.islands)
        self.has_motion = self.is_carried or bool(self.hand_overs)
        names = self.groups[0].state if self.groups else ()
        self.remembered = tuple(name for name in names if name not in (*MOTION, *MEMORY, "clock", "unresolved"))

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.steps_done * self.settings.dt

    @property
    def variant(self) -> str:
        """Kernel variant of each group: "lanes" or "scalar", joined by a comma where groups differ."""
        names = {"lanes" if group.columns.numbers.lanes > 1 else "scalar" for group in self.groups}
        return ",".join(sorted(names))

    @property
    def model_hash(self) -> str:
        """SHA-256 of what is simulated and how, but not of the number of environments or the device."""
        if self.hash_of is None or self.hash_of[0] is not self.scene:
            content = repr((self.scene.articulations, self.scene.gravity, sorted(asdict(self.settings).items())))
            content += repr(self.scene.mechanisms) if self.scene.mechanisms else ""
            content += repr(self.scene.island_contacts) if self.scene.island_contacts else ""
            content += content_of_bodies(self.scene) + content_of_hand_overs(self.scene)
            self.hash_of = self.scene, hashlib.sha256(content.encode()).hexdigest()
        return self.hash_of[1]

    @property
    def follows_time(self) -> bool:
        """Whether steps are made one at a time, because something follows time."""
        return self.has_motion or bool(self.tracks)

    @property
    def has_time_samples(self) -> bool:
        """Whether something follows the time that all environments have."""
        obstacles = (one for body in self.scene.elastic_bodies for one in body.obstacles)
        return bool(self.tracks or self.bases or self.hand_overs) or any(one.motion is not None for one in obstacles)

    def set_anew(self) -> None:
        """Nothing that was reported is of the state any more."""
        self.is_reported = False
        self.has_step_outputs = False
