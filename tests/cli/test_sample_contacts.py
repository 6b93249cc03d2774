"""The samples with contacts: what stands, falls, rolls, bounces and comes to lie as their texts promise."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd
from scipy.spatial.transform import Rotation

import warp_artic as wa

SCENES = Path(__file__).parents[2] / "samples" / "scenes"
G = 9.81


class Run:
    """A sample as it was recorded, by the last names of its links."""

    def __init__(self, name: str, seconds: float, friction: float | None = None, **settings):
        stage = Usd.Stage.Open(str(SCENES / f"{name}.usda"))
        if friction is not None:
            with Usd.EditContext(stage, stage.GetSessionLayer()):
                for attribute in ("physics:staticFriction", "physics:dynamicFriction"):
                    stage.GetPrimAtPath("/World/rubber").GetAttribute(attribute).Set(friction)
        simulation = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(**settings))
        steps = round(seconds / simulation.settings.dt)
        self.recording = simulation.record(steps, quantities=("link_pose", "link_velocity", "energy", "joint_position"))
        self.scene = simulation.scene
        self.time = self.recording.time
        self.names = [path.rpartition("/")[2] for path in self.recording.link_names]
        self.energy = self.recording.energy[:, 0].astype(float).sum(axis=-1)

    def place(self, name):
        """Shape (R, 3)."""
        return self.recording.link_pose[:, 0, self.names.index(name), :3].astype(float)

    def velocity(self, name):
        """Linear, then angular, shape (R, 6)."""
        return self.recording.link_velocity[:, 0, self.names.index(name)].astype(float)

    def knuckle(self, finger):
        """The number of a joint of the hand."""
        names = [path.rpartition("/")[2] for path in self.recording.joint_names]
        return names.index(f"{finger}_knuckle")

    def up(self, name):
        """The height of the tip of the unit vector Z of a link, shape (R)."""
        x, y = self.recording.link_pose[:, 0, self.names.index(name), 3:5].astype(float).T
        return 1.0 - 2.0 * (x * x + y * y)


def test_wall_breaks_and_stack_stands():
    """Most bricks are moved, none is in the ground, and the stack is where it was."""
    run = Run("stack_and_wall", 1.5)
    bricks = [name for name in run.names if name.startswith("brick")]
    gone = [np.linalg.norm(run.place(name)[-1] - run.place(name)[0]) for name in bricks]
    assert np.sum(np.array(gone) > 0.05) >= 8
    assert min(run.place(name)[:, 2].min() for name in bricks) > 0.04
    for k in range(6):
        place = run.place(f"box_{k}")
        assert np.abs(place[-1] - place[0]).max() < 2e-4
    assert run.energy[-1] < run.energy[0]


def test_dominoes_fall_in_order():
    """Each leans by 30 degrees later than the one before; all but the last come to lie on another."""
    run = Run("dominoes", 1.5)
    up = np.array([run.up(f"stone_{k}") for k in range(12)])
    assert (up[:, 0] > 0.999).all()
    falls = [run.time[np.argmax(one < np.cos(np.radians(30.0)))] for one in up]
    assert (np.diff(falls) > 0.0).all() and falls[0] > 0.0
    angles = np.degrees(np.arccos(up[:, -1]))
    assert (angles[:-1] > 50.0).all() and (angles[:-1] < 89.0).all() and angles[-1] == pytest.approx(90.0, abs=1.0)


def test_marbles_roll_down():
    """At 5/7 of g sin without slip on the first ramp; both end in the tray, on its floor."""
    run = Run("marble_run", 6.5)
    first = round(1.0 * 240)
    for name in ("marble_0", "marble_1"):
        speed = np.linalg.norm(run.velocity(name)[first, :3])
        assert speed == pytest.approx(5.0 / 7.0 * G * np.sin(np.radians(8.0)), rel=1e-3)
        assert run.velocity(name)[first, 4] * 0.025 == pytest.approx(speed, rel=1e-3)
        x, y, z = run.place(name)[-1]
        assert -0.34 < x < -0.08 and abs(y) < 1e-3 and z == pytest.approx(0.025, abs=1e-3)
    assert np.diff(run.energy).max() < 1e-3


def test_break_keeps_its_mirror_image():
    """Balls to the left and right of the shot do the same, all stay on the table, and energy falls."""
    run = Run("billiards", 1.0, precision="float64")
    for left, right in (("ball_1", "ball_2"), ("ball_3", "ball_5")):
        np.testing.assert_allclose(run.place(left), run.place(right) * [1, -1, 1], atol=1e-5)
        assert np.abs(run.place(left)[-1] - run.place(left)[0]).max() > 0.1
    assert np.abs(run.place("cue")[:, 1]).max() < 1e-5
    for name in run.names:
        height = run.place(name)[:, 2] - 0.028575
        assert height.min() > -1e-3 and height.max() < 0.02
        assert np.abs(run.place(name)[:, :2]).max() < 0.9
    assert np.diff(run.energy).max() < 1e-3 * run.energy[0]


def test_cradle_passes_the_swing_on():
    """The last ball rises as high as the first one fell, to 2 %, while the others stay below."""
    run = Run("newtons_cradle", 0.9)
    fell = run.place("ball_0")[0, 2] - 0.1
    swinging = run.time > 0.4
    assert (run.place("ball_4")[swinging, 2] - 0.1).max() == pytest.approx(fell, rel=0.02)
    for k in range(4):
        assert (run.place(f"ball_{k}")[swinging, 2] - 0.1).max() < 0.02 * fell
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-3)


def test_rattleback_turns_back():
    """Spun at -5 rad/s, it rattles, and turns the other way in the end, with little of its energy lost."""
    run = Run("rattleback", 7.0)
    spin = run.velocity("stone")[:, 5]
    assert spin[0] < -4.99 and spin[run.time < 2.5].max() < -4.9 and spin[-1] > 1.5
    assert run.energy[-1] > run.energy[0] - 0.02 * (run.energy[0] - G * 0.01)


def test_excavator_scoops_all_blocks():
    """Nine blocks lie in the bucket in the end, well above the ground that they lay on; none was squeezed into it."""
    run = Run("excavator", 5.0)
    blocks = [name for name in run.names if name.startswith("block")]
    pose = run.recording.link_pose[-1, 0, run.names.index("bucket")].astype(float)
    turned = Rotation.from_quat(pose[3:]).inv()
    assert len(blocks) == 9
    for name in blocks:
        x, y, z = turned.apply(run.place(name)[-1] - pose[:3])
        assert 0.0 < x < 0.26 and abs(y) < 0.15 and -0.24 < z < 0.0
        assert run.place(name)[-1, 2] > 0.6 and run.place(name)[:, 2].min() > 0.0295
        assert np.abs(run.velocity(name)[-1]).max() < 0.01


def test_pile_comes_to_lie_in_its_tray():
    """Ninety solids, more than one mechanism has room for: a few roll out, even off the floor, which ends at 1.2 m;
    none falls through it or flies up."""
    run = Run("pile", 2.5)
    assert run.scene.island_contacts is not None
    places = np.array([run.place(name) for name in run.names])
    assert len(places) == 90 and (np.abs(places[:, -1, :2]).max(axis=1) > 0.45).sum() <= 3
    is_over_floor = (np.abs(places[..., :2]) < 1.2).all(axis=2)
    assert places[is_over_floor, 2].min() > 0.03 and places[:, -1, 2].max() < 0.6
    assert np.diff(run.energy).max() < 2e-3 * run.energy[0]
    speeds = np.array([np.linalg.norm(run.velocity(name)[-1, :3]) for name in run.names])
    assert np.median(speeds) < 0.02


def test_ragdoll_comes_to_lie_on_the_stairs():
    """It falls from the landing, keeps to its limits, and hardly moves in the end."""
    run = Run("ragdoll_on_stairs", 3.5)
    assert run.place("pelvis")[-1, 2] < 0.8 and run.place("pelvis")[-1, 0] > 0.6
    assert min(run.place(name)[:, 2].min() for name in run.names) > 0.0
    assert np.diff(run.energy).max() < 1e-3 * run.energy[0]
    assert max(np.abs(run.velocity(name)[-1, :3]).max() for name in run.names) < 1e-3
    for tree in run.scene.articulations:
        for dof in tree.dofs:
            if dof.limit and dof.name in run.recording.joint_names:
                q = run.recording.joint_position[:, 0, run.recording.joint_names.index(dof.name)]
                # Where an impact throws a limb against its stop, the step of the impact may end beyond it.
                beyond = np.maximum(dof.limit.lower - q, q - dof.limit.upper)
                assert np.minimum(beyond[:-1], beyond[1:]).max() < 0.02 and beyond.max() < 0.04


@pytest.mark.parametrize("rate", [210, 240, 250])
def test_ragdoll_on_the_stairs_does_not_creep(rate):
    """Points whose friction is within its cone hold it in the end, although they have slid before."""
    run = Run("ragdoll_on_stairs", 5.5, dt=1.0 / rate)
    assert max(np.abs(run.velocity(name)[-1, :3]).max() for name in run.names) < 5e-4


def test_ragdoll_stands_until_its_drives_let_go():
    """It sways by a few centimetres on feet that stay, then falls and comes to lie."""
    run = Run("standing", 6.0)
    stands = run.time < 1.5
    assert np.ptp(run.place("pelvis")[stands], axis=0).max() < 0.02
    for foot in ("left_foot", "right_foot"):
        assert np.ptp(run.place(foot)[stands], axis=0).max() < 1e-4
    assert np.abs(run.velocity("head")[run.time > 1.4][0]).max() < 0.02
    assert run.place("head")[-1, 2] < 0.5 and min(run.place(name)[:, 2].min() for name in run.names) > 0.0
    assert max(np.abs(run.velocity(name)[-1, :3]).max() for name in run.names) < 1e-3


def test_ragdoll_that_falls_gains_little_in_a_step():
    """In the mean of several rates: each fall is another chaotic motion, and steps lift it out of overlaps."""
    gains = []
    for rate in (225, 230, 235, 240, 245, 250):
        run = Run("standing", 3.5, dt=1.0 / rate)
        gains.append(np.diff(run.energy)[run.time[:-1] > 1.52].max())
    assert np.mean(gains) < 0.03


@pytest.mark.parametrize("friction, slips", [(0.5, False), (0.2, True)])
def test_hand_holds_the_bottle_by_friction(friction, slips):
    """Each finger presses with N from the torque of its knuckle; with 4 mu N above m (g + a) nothing slips."""
    run = Run("grasp", 3.2, friction)
    shakes = (run.time > 1.2) & (run.time < 3.0)
    assert np.ptp(run.place("palm")[run.time > 1.5][:240, 2]) / 2.0 == pytest.approx(0.05, abs=0.003)
    slip = np.ptp((run.place("bottle") - run.place("palm"))[shakes], axis=0).max()
    acceleration = np.abs(np.diff(run.velocity("palm")[shakes, 2])).max() * 240.0
    lever = 0.3 - run.place("front_distal")[0, 2] + 0.07
    error = np.radians(25.0) - run.recording.joint_position[round(0.6 * 240), 0, run.knuckle("front")]
    pressing = 0.075 * np.degrees(error) / lever
    assert (4.0 * friction * pressing < 0.4 * (G + acceleration)) == slips
    assert slip > 0.05 if slips else slip < 1e-4
