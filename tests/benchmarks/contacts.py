"""Microseconds for a step with contacts, beside MuJoCo C, which takes turns with us.

`python -m tests.benchmarks.contacts [NAME ...]`: one thread of a CPU, its own time, so that other processes hardly
count. Ours in float32, at 240 Hz, two seconds after the start.
"""

import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

import warp_artic as wa
from tests.contact_stages import ContactScene, Solid, box, capsule, mjcf_of, turn, usd_of
from tests.usd.authoring import SI, open_text

MODELS = Path(wa.__file__).parent / "cli" / "bench_scenes"
DT = 1.0 / 240.0
SETTLED = 480
TURNS = 5
FRICTION = 0.8
STIFFER = 20.0
SHAKEN = 0.2
"""Joint velocities at the start, other ones in each environment, so that lanes differ [rad/s]."""
ALONG_X, ALONG_Y = turn((0, 1, 0), 0.5 * np.pi), turn((1, 0, 0), 0.5 * np.pi)


@dataclass(frozen=True)
class Case:
    """The same scene twice."""

    scene: wa.Scene
    model: mujoco.MjModel
    environments: int


def fixed(make: Callable[..., Solid], *arguments, **options) -> Solid:
    """A collider of a link."""
    return make("collider", *arguments, mass=0.0, **options)


HUMANOID = {
    "pelvis": fixed(capsule, 0.09, 0.08, (0, 0, 0.02), quaternion=ALONG_Y),
    "torso": fixed(capsule, 0.12, 0.1, (0, 0, 0.18)),
    "l_sh_roll": fixed(capsule, 0.045, 0.1, (0, 0, -0.13)),
    "r_sh_roll": fixed(capsule, 0.045, 0.1, (0, 0, -0.13)),
    "l_elbow": fixed(capsule, 0.04, 0.1, (0, 0, -0.13)),
    "r_elbow": fixed(capsule, 0.04, 0.1, (0, 0, -0.13)),
    "l_hip_pitch": fixed(capsule, 0.06, 0.12, (0, 0, -0.17)),
    "r_hip_pitch": fixed(capsule, 0.06, 0.12, (0, 0, -0.17)),
    "l_knee": fixed(capsule, 0.05, 0.12, (0, 0, -0.16)),
    "r_knee": fixed(capsule, 0.05, 0.12, (0, 0, -0.16)),
    "l_ankle_roll": fixed(box, (0.11, 0.045, 0.015), (0.04, 0, -0.02)),
    "r_ankle_roll": fixed(box, (0.11, 0.045, 0.015), (0.04, 0, -0.02)),
}
"""Colliders by links: two boxes for the feet, capsules elsewhere."""

HAND = {
    **{f"palm{k}": fixed(box, (0.01, 0.02, 0.035), (0, 0, 0.03)) for k in range(2)},
    **{f"f{k}_3": fixed(capsule, 0.009, 0.018, (0, 0, 0.0225)) for k in range(4)},
    **{f"f{k}_4": fixed(capsule, 0.009, 0.01, (0, 0, 0.014)) for k in range(4)},
    **{f"f{k}_5": fixed(capsule, 0.008, 0.006, (0, 0, 0.011)) for k in range(4)},
}
"""Of the palm and of three links of each finger."""
HELD = box("held", (0.02, 0.035, 0.05), (0.034, 0.0, 1.18), mass=0.2)
TO_THE_PALM = (-9.81, 0.0, 0.0)


def with_colliders(name: str, colliders: Mapping[str, Solid], free: tuple[Solid, ...], gravity, ground: bool) -> Case:
    """A robot of the benchmarks of steps with colliders on its links, a ground and free bodies; its drives as there."""
    extra = ContactScene(solids=free, friction=FRICTION, has_ground=ground)
    content = extra.usd.replace("def Xform", "over", 1).split('def PhysicsScene "scene"')
    content = content[0] + content[1].partition("}\n")[2]
    overs = "".join(f'over "{link}" {{\n{usd_of(solid)}}}\n' for link, solid in colliders.items())
    content = content.rstrip().removesuffix("}") + overs + "}\n"
    header = f"{SI}\nsubLayers = [@{(MODELS / f'{name}.usda').as_posix()}@]"
    scene = replace(wa.read_stage(open_text(content, header)), gravity=gravity)

    tree = ElementTree.parse(MODELS / f"{name}.xml")
    root = tree.getroot()
    option = root.find("option")
    option.remove(option.find("flag"))
    option.set("gravity", " ".join(map(repr, gravity)))
    option.set("cone", "elliptic")
    world = root.find("worldbody")
    bodies = {body.get("name"): body for body in world.iter("body")}
    for link, solid in colliders.items():
        geom = ElementTree.fromstring(mjcf_of(solid))
        # Links touch the ground and free bodies, not each other.
        set_all(geom, friction=f"{FRICTION} 0 0", condim="3", contype="1", conaffinity="2")
        bodies[link].append(geom)
    for solid in free:
        body = ElementTree.fromstring(mjcf_of(solid))
        set_all(body.find("geom"), friction=f"{FRICTION} 0 0", condim="3", contype="3", conaffinity="3")
        world.append(body)
    if ground:
        plane = {"type": "plane", "size": "0 0 1", "friction": f"{FRICTION} 0 0", "contype": "3", "conaffinity": "3"}
        ElementTree.SubElement(world, "geom", plane)
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    return Case(scene, model, environments=256)


def set_all(element: ElementTree.Element, **attributes: str) -> None:
    """Set attributes of XML."""
    for name, value in attributes.items():
        element.set(name, value)


def stack() -> Case:
    """Ten boxes of 10 cm on each other."""
    scene = ContactScene(solids=[box(f"box{k}", 0.05, (0, 0, 0.05 + 0.1 * k)) for k in range(10)], friction=FRICTION)
    model = mujoco.MjModel.from_xml_string(scene.mjcf(DT))
    return Case(wa.read_stage(open_text(scene.usd)), model, environments=64)


def pile(count: int) -> Case:
    """Cubes of 10 cm that have fallen from a grid, each a little aside."""
    rng = np.random.default_rng(1)
    edge = int(np.ceil(count ** (1.0 / 3.0)))
    grid = np.array([(k % edge, k // edge % edge, k // edge**2) for k in range(count)])
    places = 0.13 * grid + [0.0, 0.0, 0.1] + np.pad(rng.uniform(-0.02, 0.02, (count, 2)), ((0, 0), (0, 1)))
    scene = ContactScene(solids=[box(f"box{k}", 0.05, tuple(place)) for k, place in enumerate(places.tolist())])
    model = mujoco.MjModel.from_xml_string(scene.mjcf(DT).replace("<worldbody>", '<size memory="1G"/><worldbody>'))
    return Case(wa.read_stage(open_text(scene.usd)), model, environments=1)


def standing() -> Case:
    """The humanoid upright: drives twenty times as stiff, to where all joints are zero."""
    case = with_colliders("humanoid", HUMANOID, (), (0.0, 0.0, -9.81), True)
    (tree,) = case.scene.articulations
    joints = [replace(joint, dofs=tuple(stiffened(dof) for dof in joint.dofs)) for joint in tree.joints]
    case.model.actuator_gainprm[:, 0] *= STIFFER
    case.model.actuator_biasprm[:, 1:3] *= STIFFER
    return replace(case, scene=replace(case.scene, articulations=(replace(tree, joints=tuple(joints)),)))


def stiffened(dof: wa.Dof) -> wa.Dof:
    """At zero, with a stiffer drive to there."""
    drive = dof.drive
    gains = {"stiffness": STIFFER * drive.stiffness, "damping": STIFFER * drive.damping}
    return replace(dof, position=0.0, drive=replace(drive, position_target=0.0, **gains))


CASES = {
    "humanoid standing": standing,
    "humanoid lying": lambda: with_colliders("humanoid", HUMANOID, (), (0.0, 0.0, -9.81), True),
    "stack of 10 boxes": stack,
    "pile of 100 boxes": lambda: pile(100),
    "pile of 1000 boxes": lambda: pile(1000),
    "hand and a box": lambda: with_colliders("hand_tendon", HAND, (HELD,), TO_THE_PALM, False),
}


def ours(case: Case) -> Callable[[int], float]:
    """Steps of all environments, two seconds after a start in which they differ."""
    settings = wa.SolverSettings(dt=DT, precision="float32")
    simulation = wa.Simulation(case.scene, environments=case.environments, settings=settings, threads=1)
    if case.scene.dof_names:
        rng = np.random.default_rng(0)
        simulation.set_state(joint_velocity=SHAKEN * rng.normal(size=(case.environments, len(case.scene.dof_names))))
    simulation.step(SETTLED)

    def spent(count: int) -> float:
        begun = time.process_time()
        simulation.step(count)
        return (time.process_time() - begun) / count / case.environments

    return spent


def theirs(case: Case) -> tuple[Callable[[int], float], int]:
    """The same of MuJoCo, in one environment, and how many contacts it has by then."""
    data = mujoco.MjData(case.model)
    start = {dof.name.rpartition("/")[2]: dof for tree in case.scene.articulations for dof in tree.dofs}
    for joint in range(case.model.njnt):
        dof = start.get(case.model.joint(joint).name)
        if dof is not None:
            data.qpos[case.model.jnt_qposadr[joint]] = dof.position
    for actuator in range(case.model.nu):
        name = case.model.joint(case.model.actuator_trnid[actuator, 0]).name
        data.ctrl[actuator] = start[name].drive.position_target
    mujoco.mj_step(case.model, data, SETTLED)

    def spent(count: int) -> float:
        begun = time.process_time()
        mujoco.mj_step(case.model, data, count)
        return (time.process_time() - begun) / count

    return spent, int(data.ncon)


def main(names) -> None:
    """Print the least and the median of some turns of each."""
    print(f"{'':22s} {'contacts':>8s} {'ours':>15s} {'MuJoCo C':>15s} {'times':>6s}")
    for name in names or CASES:
        case = CASES[name]()
        our, (their, contacts) = ours(case), theirs(case)
        times: tuple[list[float], list[float]] = ([], [])
        steps = max(1, round(0.3 / max(our(4) * case.environments, 1e-9)))
        their_steps = max(1, min(2000, round(1.0 / max(their(4), 1e-9))))
        for _turn in range(TURNS):
            times[0].append(1e6 * our(steps))
            times[1].append(1e6 * their(their_steps))
        least, middle = zip(*((min(one), np.median(one)) for one in times))
        ratio = middle[1] / middle[0]
        print(
            f"{name:22s} {contacts:8d} {least[0]:8.2f} {middle[0]:8.2f} {least[1]:8.2f} {middle[1]:8.2f} {ratio:6.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
