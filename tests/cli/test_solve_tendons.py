"""`warp-artic solve-tendons`: wanted forces on nodes become target lengths of tendons."""

import json

import numpy as np
import pytest
import warp as wp
from pxr import Usd

from tests.meshes.tendon_matrices import force_matrices
from tests.usd.authoring import SI, SMALL_UNITS
from tests.usd.meshes import SHEET_POINTS, block, rubber, sheet, tendon, world
from warp_artic.cli.main import main
from warp_artic.meshes.adjoint import EXACT, DeformedInverse
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, weights
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.usd.read_stage import read_stage

UPRIGHT = [(x, 0, z) for x, z, _ in SHEET_POINTS]
"""The sheet in the plane x, z."""
LAW = 'uniform token warpArtic:law = "spring"\ndouble warpArtic:stiffness = 5000000\n'
TENDONS = "".join(
    tendon(f"int[] warpArtic:nodes = {nodes}\n{LAW}", name=name)
    for name, nodes in (("low", [2, 1, 0]), ("high", [5, 4, 3]), ("cross", [2, 4]), ("rise", [1, 4]))
)
TAU = np.array([[3.0, 1.0, 0.5, 2.0], [0.0, 4.0, 2.5, 0.25], [1.0, 0.0, 0.0, 6.0]])
"""Tensions of these tendons over time [N]."""
STIFF = rubber("double warpArtic:elasticMaterial:youngModulus = 1e6")
TIME = [0.0, 0.25, 1.0]


@pytest.fixture
def stage(tmp_path):
    """The path of a sheet with four tendons, in centimetres and grams."""
    path = tmp_path / "sheet.usda"
    world(sheet(points=UPRIGHT), TENDONS, header=SMALL_UNITS).GetRootLayer().Export(str(path))
    return str(path)


def forces_of(scene, tensions=None):
    """A tau on all nodes along the axes of the world, by the laws unless tensions are given, shape (N, 3)."""
    (body,) = scene.elastic_bodies
    tendons = MeshTendons(scene.mesh_tendons, body)
    tendons.evaluate(wp.array(body.points[None], dtype=tendons.vec))
    tau = tendons.shape.tension.numpy()[:, 0] if tensions is None else tensions
    return (force_matrices(tendons)[0] @ tau).reshape(-1, body.dim) @ body.pose.rotation[:, : body.dim].T


def wanted_of(stage):
    """Forces that the tensions make, shape (T, N, 3)."""
    return np.array([forces_of(read_stage(stage), tau) for tau in TAU])


def given(tmp_path, kind, forces, time=TIME):
    """The forces in a file."""
    path = tmp_path / f"forces.{kind}"
    if kind == "npz":
        np.savez(path, forces=forces, time=time)
    elif kind == "json":
        path.write_text(json.dumps({"time": list(time), "forces": {"/World/sheet": forces.tolist()}}))
    else:
        rows = [
            f"{t},{node},{x!r},{y!r},{z!r}\n"
            for t, at in zip(time, forces.tolist())
            for node, (x, y, z) in enumerate(at)
        ]
        path.write_text("time,node,x,y,z\n" + "".join(rows))
    return str(path)


@pytest.mark.parametrize("kind", ["npz", "json", "csv"])
def test_forces_give_target_lengths_and_these_give_the_forces(stage, tmp_path, capsys, kind):
    """Tensions come back to 1e-8; the written layer, read as a stage, makes the forces at each time to 1e-6."""
    forces, layer, arrays = wanted_of(stage), str(tmp_path / "lengths.usda"), str(tmp_path / "out.npz")
    path = given(tmp_path, kind, forces)
    assert main(["solve-tendons", stage, "--forces", path, "-o", layer, "--record", arrays, "--stiffness", "900"]) == 0
    assert "4 of 4 tendons" in capsys.readouterr().out
    with np.load(arrays) as found:
        assert found["tendon_names"].tolist() == [f"/World/{name}" for name in ("low", "high", "cross", "rise")]
        assert found["body_names"].tolist() == ["/World/sheet"]
        np.testing.assert_allclose(found["tension"], TAU, atol=1e-8)
        np.testing.assert_allclose(found["residual"], 0, atol=1e-12)
        assert (found["bound"] == np.where(TAU == 0, -1, 0)).all()
    opened = Usd.Stage.Open(layer)
    assert (opened.GetStartTimeCode(), opened.GetEndTimeCode()) == (0, 24)
    scene = read_stage(opened)
    tracks = [one.target_length_track for one in scene.mesh_tendons]
    assert [track.times for track in tracks] == [tuple(TIME)] * 4
    assert [one.stiffness for one in scene.mesh_tendons] == pytest.approx([900.0] * 4)
    for moment, force in zip(TIME, forces):
        opened.GetRootLayer().startTimeCode = 24 * moment
        np.testing.assert_allclose(forces_of(read_stage(opened)), force, atol=1e-6)


def test_the_stage_stays_as_it_is(stage, tmp_path):
    """Only the layer is written."""
    before = open(stage).read()
    path = given(tmp_path, "npz", wanted_of(stage))
    assert main(["solve-tendons", stage, "--forces", path, "-o", str(tmp_path / "lengths.usdc")]) == 0
    assert open(stage).read() == before


def test_what_cannot_be_reached(stage, tmp_path, capsys):
    """The rest of the forces, and the bounds that are met, in the table and in JSON."""
    path = tmp_path / "forces.json"
    path.write_text(json.dumps({"forces": {"2": [1, 0, 0], "5": [-2, 0, 3]}}))
    assert main(["solve-tendons", stage, "--forces", str(path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["bodies"]
    assert found["residual"] == pytest.approx([np.sqrt(1 + 9)])
    assert found["wanted"] == pytest.approx([np.sqrt(14)])
    tendons = {one["name"]: one for one in found["tendons"]}
    assert tendons["/World/low"]["bound"] == ["least"]
    assert tendons["/World/high"]["tension"] == pytest.approx([2])
    assert main(["solve-tendons", stage, "--forces", str(path)]) == 0
    text, warning = capsys.readouterr()
    assert "no tensions within bounds make the wanted forces: 3.16 N of 3.74 N are left" in warning
    assert "3.16 N, 0.845 of it" in text and "least" in text
    assert "unreachable" in text and "3.162" not in text.split("unreachable")[0]


def test_bounds_over_time(tmp_path):
    """The largest tension of a tendon may change."""
    changing = "double warpArtic:maxTension.timeSamples = { 0: 4, 24: 1 }\n"
    nodes = f"int[] warpArtic:nodes = [2, 1]\n{changing}"
    path, forces, out = tmp_path / "s.usda", tmp_path / "f.npz", tmp_path / "o.npz"
    world(sheet(), tendon(nodes)).GetRootLayer().Export(str(path))
    np.savez(forces, forces=[[[-9.0, 0.0]]] * 3, nodes=[2], time=[0.0, 0.5, 1.0])
    assert main(["solve-tendons", str(path), "--forces", str(forces), "--record", str(out)]) == 0
    with np.load(out) as found:
        np.testing.assert_allclose(found["tension"][:, 0], [4, 2.5, 1])
        assert found["bound"][:, 0].tolist() == [1, 1, 1]


def test_tendons_that_take_tensions(tmp_path):
    """They get tensions over time instead of target lengths; tetrahedra, and nodes that are null do not count."""
    content = 'int[] warpArtic:nodes = [0, 4]\nuniform token warpArtic:law = "tension"\n'
    path, forces, out = (str(tmp_path / name) for name in ("s.usda", "f.json", "o.usda"))
    world(block(), tendon(content, "block"), header=SI).GetRootLayer().Export(path)
    wanted = [[None, None, None, None, [-3 / 3**0.5] * 3], [None, None, None, None, [-6 / 3**0.5] * 3]]
    open(forces, "w").write(json.dumps({"forces": wanted}))
    assert main(["solve-tendons", path, "--forces", forces, "-o", out]) == 0
    (found,) = read_stage(out).mesh_tendons
    assert found.tension_track.times == pytest.approx((0.0, 1 / 24))
    assert found.tension_track.values == pytest.approx((3.0, 6.0))
    assert found.target_length is None


@pytest.mark.parametrize("mode", ([], ["--deformed"]), ids=("start", "deformed"))
def test_tendons_of_lengths_beside_those_of_tensions(tmp_path, capsys, mode):
    """Each gets what its law takes; one stiffness is that of the tendons that follow a length."""
    laws = {"low": "cable", "rise": "spring", "high": "tension"}
    nodes = {"low": [2, 1, 0], "rise": [1, 4], "high": [5, 4, 3]}
    made = "".join(
        tendon(
            f'int[] warpArtic:nodes = {nodes[name]}\nuniform token warpArtic:law = "{law}"\n'
            f"double warpArtic:stiffness = {0 if law == 'tension' else 300}",
            name=name,
        )
        for name, law in laws.items()
    )
    path, forces, out = (str(tmp_path / name) for name in ("s.usda", "f.json", "o.usda"))
    pinned = sheet("int[] warpArtic:elastic:pinnedNodes = [0, 3]")
    world(pinned, made, header=SI, material=STIFF).GetRootLayer().Export(path)
    wanted = {"2": [[-4, 0, 0], [-2, 0, 0]], "4": [[0, -2, 0], [0, -1, 0]], "5": [[-7, 0, 0], [-5, 0, 0]]}
    open(forces, "w").write(json.dumps({"forces": wanted}))
    assert main(["solve-tendons", path, "--forces", forces, "-o", out, *mode]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "/World/high" in line)
    assert line.split()[-2:] == ["-", "-"]
    assert main(["solve-tendons", path, "--forces", forces, "--json", *mode]) == 0
    (found,) = json.loads(capsys.readouterr().out)["bodies"]
    assert found["stiffness"] == 300
    lengths = {one["name"][7:]: one["target_length"] for one in found["tendons"]}
    tensions = {one["name"][7:]: one["tension"] for one in found["tendons"]}
    assert lengths["high"] is None and tensions["high"] == pytest.approx([7, 5], rel=1e-3)
    written = {one.name[7:]: one for one in read_stage(out).mesh_tendons}
    assert written["high"].tension_track.values == pytest.approx(tensions["high"])
    assert written["high"].target_length_track is None and written["high"].stiffness == 0
    for name in ("low", "rise"):
        assert written[name].target_length_track.values == pytest.approx(lengths[name])
        assert written[name].tension_track is None and written[name].stiffness == 300


def test_a_link_in_the_way(tmp_path):
    """A waypoint on a link is where the link is."""
    content = """int[] warpArtic:nodes = [2]
    int[] warpArtic:nodeCounts = [1, 0]
    rel warpArtic:links = </World/tip>
    point3d[] warpArtic:positions = [(1, 3, 0)]"""
    path, forces, out = (str(tmp_path / name) for name in ("s.usda", "f.csv", "o.npz"))
    world(sheet(), tendon(content)).GetRootLayer().Export(path)
    open(forces, "w").write("node, x, y\n2, 0, 6\n")
    assert main(["solve-tendons", path, "--forces", forces, "--record", out]) == 0
    with np.load(out) as found:
        np.testing.assert_allclose((found["tension"][0, 0], found["length"][0, 0]), (6, 3))
        assert found["target_length"][0, 0] == pytest.approx(3 - 6 / 40)


def test_forces_on_the_deformed_body(tmp_path, capsys):
    """The target lengths, read as a stage and left to come to rest, make the forces under gravity, at each time."""
    path, layer = str(tmp_path / "s.usda"), str(tmp_path / "lengths.usda")
    held = "int[] warpArtic:elastic:pinnedNodes = [0, 3]"
    world(sheet(held, points=UPRIGHT), TENDONS, header=SI, material=STIFF).GetRootLayer().Export(path)
    scene = read_stage(path)
    problem = DeformedInverse(scene.elastic_bodies[0], scene.mesh_tendons)
    load(problem.equilibrium, scene)
    tensions = 5000 * TAU
    in_body = np.array([problem.forces(tau[:, None])[0] for tau in tensions])
    axes = scene.elastic_bodies[0].pose.rotation[:, :2]
    forces = given(tmp_path, "npz", in_body @ axes.T)
    rested = problem.points.numpy()[0]
    assert np.abs(rested - scene.elastic_bodies[0].points).max() > 0.02
    assert main(["solve-tendons", path, "--forces", forces, "--deformed", "-o", layer, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["bodies"]
    np.testing.assert_allclose(np.transpose([one["tension"] for one in found["tendons"]]), tensions, atol=1e-6)
    assert found["rank"] == 4 and found["condition"] < 100
    scene = read_stage(layer)
    mesh, tendons = mesh_with_tendons(scene.elastic_bodies[0], scene.mesh_tendons)
    equilibrium = Equilibrium(mesh, tendons, EXACT)
    load(equilibrium, scene)
    points = mesh.array(scene.elastic_bodies[0].points)
    for number, moment in enumerate(TIME):
        tendons.target_length.assign([[one.target_length_track.at(moment)] for one in scene.mesh_tendons])
        assert equilibrium.solve(points).converged.all()
        made = mesh.array(np.zeros_like(rested))
        tendons.evaluate(points)
        tendons.add_forces(made)
        np.testing.assert_allclose(made.numpy()[0], in_body[number], rtol=0, atol=1e-6)
    np.testing.assert_allclose(points.numpy()[0], rested, atol=1e-6)


def load(equilibrium, scene):
    """Let a body be heavy."""
    mesh = equilibrium.mesh
    equilibrium.loads.assign(mesh.array(weights(mesh, scene.gravity)))


BAD = {
    "none": (None, "f.json", "there is no such file"),
    "suffix": ("", "f.txt", "the name of a file of forces ends in one of .json, .npz, .csv"),
    "no json": ("{", "f.json", "is not a file of forces (.json): Expecting"),
    "no forces": ('{"force": {}}', "f.json", "must be an object with forces and, for several of them, time"),
    "a list": ("[1, 2]", "f.json", "must be an object with forces"),
    "body": (
        '{"forces": {"/World/tip": []}}',
        "f.json",
        "/World/tip is no elastic body with tendons; those are /World/sheet",
    ),
    "node": (
        '{"forces": {"6": [1, 0, 0]}}',
        "f.json",
        "/World/sheet: '6' is no node of /World/sheet; nodes are 0 to 5",
    ),
    "word": ('{"forces": {"2": "up"}}', "f.json", "node 2: is no array of numbers of one length each"),
    "one number": ('{"forces": {"2": [1]}}', "f.json", "node 2: has shape (1,); two or three numbers for each node"),
    "infinite": ('{"forces": {"2": [Infinity, 0, 0]}}', "f.json", "node 2: has inf; finite numbers"),
    "count": ('{"forces": [[1, 0, 0]]}', "f.json", "has forces on 1 nodes, the body has 6"),
    "times": (
        '{"time": [0, 1], "forces": {"2": [1, 0, 0]}}',
        "f.json",
        "has 1 times of forces, and time has the shape (2,)",
    ),
    "order": (
        '{"time": [1, 0], "forces": {"2": [[1, 0, 0], [2, 0, 0]]}}',
        "f.json",
        "time must be finite and increase",
    ),
    "partly": ('{"forces": {"2": [[1, 0, 0], [null, 0, 0]]}}', "f.json", "node 2 has a force at some times or in some"),
    "no node": ('{"forces": {"2": [null, null, null]}}', "f.json", "no node has a force"),
    "across": ('{"forces": {"2": [1, 2, 0]}}', "f.json", "node 2 at time 0 has -2 N across the plane of the mesh"),
    "heads": ("a,b\n1,2\n", "f.csv", "its first line must name the columns node, x, y, z"),
    "csv number": ("node,x,y,z\n2,1,0,no\n", "f.csv", "line 2: z is 'no', must be a finite number"),
    "csv short": ("node,x,y,z\n2,1\n", "f.csv", "line 2: has 2 cells for 4 columns"),
    "csv long": ("node,x,y,z\n1,0,0,0\n2,1,0,0,9\n", "f.csv", "line 3: has 5 cells for 4 columns"),
    "csv blank": ("node,x,y,z\n\n\n2,one,0,0\n", "f.csv", "line 4: x is 'one', must be a finite number"),
    "csv heads": ("node,x,x,y\n2,1,1,0\n", "f.csv", "its first line must name the columns node, x, y, z, and may name"),
    "csv empty": ("node,x,y,z\n", "f.csv", "has no forces"),
    "csv open": ('node,x,y,z\n2,"' + 200000 * "1", "f.csv", "is not a file of forces (.csv): field larger"),
    "csv twice": ("node,x,y,z\n2,1,0,0\n2,1,0,0\n", "f.csv", "line 3: node 2 is there a second time"),
    "csv node": ("node,x,y,z\n9,1,0,0\n", "f.csv", "line 2: '9' is no node of /World/sheet"),
    "key twice": ('{"forces": {"2": [1, 0, 0], "2": [2, 0, 0]}}', "f.json", "(.json): '2' is there 2 times"),
    "node twice": ('{"forces": {"2": [1, 0, 0], "02": [2, 0, 0]}}', "f.json", "/World/sheet: node 2 is there 2 times"),
    "huge": ('{"forces": {"2": [1%s, 0, 0]}}' % (400 * "0"), "f.json", "node 2: is no array of numbers"),
    "huge time": ('{"time": [1%s], "forces": {"2": [1, 0, 0]}}' % (400 * "0"), "f.json", "time is no list of numbers"),
    "empty npz": ("", "f.npz", "is not a file of forces (.npz)"),
    "no npz": ("PK", "f.npz", "is not a file of forces (.npz)"),
    "binary": ("\udcff", "f.csv", "is not a file of forces (.csv)"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_files(stage, tmp_path, capsys, name):
    """One line with the file and the place in it, and the exit code of bad usage."""
    content, file, sentence = BAD[name]
    path = tmp_path / file
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert main(["solve-tendons", stage, "--forces", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"warp-artic: error: {path}: ") and error.count("\n") == 1
    assert sentence in error


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"forces": np.zeros((2, 3)), "nodes": [2, 2]}, "forces: node 2 is there 2 times"),
        (
            {"forces": np.zeros((1, 3)), "nodes:/World/sheet": [2]},
            "'nodes:/World/sheet' has no array of forces with it",
        ),
        ({"forces": np.zeros((6, 3)), "forces:/World/sheet": np.zeros((6, 3))}, "forces on /World/sheet are there a"),
    ],
)
def test_arrays_that_do_not_go_together(stage, tmp_path, capsys, arrays, sentence):
    """Nothing that is given is left out silently."""
    path = tmp_path / "f.npz"
    np.savez(path, **arrays)
    assert main(["solve-tendons", stage, "--forces", str(path)]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_files_as_programs_of_windows_write_them(stage, tmp_path, capsys, kind):
    """They begin with a mark of the byte order; spaces around names of columns do no harm."""
    text = '{"forces": {"2": [1, 0, 0]}}' if kind == "json" else "node , x, y, z\r\n2 , 1, 0, 0\r\n"
    path = tmp_path / f"forces.{kind}"
    path.write_bytes(text.encode("utf-8-sig"))
    assert main(["solve-tendons", stage, "--forces", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bodies"][0]["wanted"] == pytest.approx([1])


def test_wrong_arguments(stage, tmp_path, capsys):
    """What cannot be is refused before anything is solved."""
    forces = given(tmp_path, "npz", wanted_of(stage))
    for more, sentence in (
        (["-o", "lengths.txt"], "the name of a layer of target lengths ends in one of .usd, .usda, .usdc"),
        (["-o", stage], "is a layer of the stage itself"),
        (["--record", "out.json"], "arrays are written to a file whose name ends in .npz"),
        (["--regularisation", "-1"], "regularisation: -1 is below 0"),
        (["--stiffness", "0.01"], "the stiffness must be above"),
        (["--stiffness", "0"], "stiffness: 0 N/m must be above 0"),
    ):
        assert main(["solve-tendons", stage, "--forces", forces, *more]) == 2
        assert sentence in capsys.readouterr().err
    bare = tmp_path / "bare.usda"
    world(sheet()).GetRootLayer().Export(str(bare))
    assert main(["solve-tendons", str(bare), "--forces", forces]) == 1
    assert "has no tendon on an elastic body" in capsys.readouterr().err
