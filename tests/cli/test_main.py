"""Exit codes and error lines of the command."""

import json
import subprocess
import sys

import pytest

import warp_artic as wa
from warp_artic.cli.main import main

PENDULUM = "samples/scenes/pendulum.usda"


@pytest.mark.parametrize("command", [(), ("simulate",), ("inspect",), ("check",), ("convert",), ("bench",)])
def test_help(command, capsys):
    """Each command says what it does and ends well."""
    assert main([*command, "--help"]) == 0
    assert "usage: warp-artic" in capsys.readouterr().out


def test_version(capsys):
    """The version of the package, here and in Python."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"warp-artic {wa.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        "simulate",
        "inspect",
        "solve-tendons --forces none.json",
        "convert --to warpArtic out.usda",
        "view",
        "render -o x.png",
        "warmup",
        "compare none.usda",
        "ragdoll -o x.usda",
        "identify run.npz --parameters /a.b",
    ],
)
def test_errors_for_programs(command, capsys):
    """With --json an error is an object on stdout, of one form for all commands."""
    first, *options = command.split()
    code = main([first, "none.usda", "--json", *options])
    (found,) = json.loads(capsys.readouterr().out).values()
    assert (found["exit_code"], set(found)) == (code, {"kind", "message", "exit_code"})
    assert "none.usda: there is no such file" in found["message"]


@pytest.mark.parametrize(
    "line",
    [
        "dance --json",
        "simulate --json",
        "simulate a.usda --json --steps x",
        "check --json -x",
        "--json check a.usda",
        "bench --json --seconds x",
        "bench --seconds x --json",
    ],
)
def test_bad_usage_for_programs(line, capsys):
    """A command line that cannot be understood is told in the same form."""
    assert main(line.split()) == 2
    told = capsys.readouterr()
    (found,) = json.loads(told.out).values()
    assert (found["kind"], found["exit_code"], told.err) == ("SettingsError", 2, "")
    assert "see warp-artic" in found["message"]


def test_help_loads_neither_warp_nor_stages():
    """Help comes without the cost of what simulates; of USD there is only what registers schemas."""
    script = "import sys; from warp_artic.cli.main import main; main(['simulate', '--help']); "
    script += "assert not {'warp', 'pxr.Usd', 'numpy', 'rich'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("", 2, "required: COMMAND"),
        ("dance", 2, "invalid choice: 'dance'"),
        ("simulate", 2, "required: STAGE"),
        ("simulate none.usda", 1, "none.usda: there is no such file"),
        ("simulate none.usda --steps 1e3", 1, "none.usda: there is no such file"),
        ("inspect none.usda", 1, "none.usda: there is no such file"),
        ("check none.usda", 1, "none.usda: there is no such file"),
        ("check README.md", 1, "README.md: cannot be read as a USD stage: its content is not that of a .usd"),
        ("simulate README.md", 1, "README.md: "),
        ("simulate {stage} --dt 0", 2, "dt: 0.0 is not a finite number above 0"),
        ("simulate {stage} --dt -1/240", 2, "dt"),
        ("simulate {stage} --dt=-1/240", 2, "dt: -0.004"),
        ("simulate {stage} --dt nan", 2, "--dt: 'nan' is not a finite number"),
        ("simulate {stage} --dt 1/0", 2, "--dt: '1/0' divides by zero"),
        ("simulate {stage} --dt fast", 2, "--dt: 'fast' is not a number, such as 0.5 or 1/240"),
        ("simulat {stage}", 2, "did you mean simulate?"),
        ("simulate {stage} --presicion float64", 2, "did you mean --precision?"),
        ("--guides simulate {stage}", 2, "--guides; it is an option of a command, and goes behind it"),
        ("batch reprot out", 2, "show of a folder; did you mean report?"),
        ("simulate {stage} --steps 1.5", 2, "--steps: '1.5' is not an integer from 0"),
        ("simulate {stage} --steps -3", 2, "--steps: '-3' is not an integer from 0 to 2147483647"),
        ("simulate {stage} --steps 2000000000 --environments 16", 2, "a recording of 2e+09 steps"),
        ("simulate {stage} --steps 99999999999", 2, "--steps: '99999999999' is not an integer from 0"),
        ("simulate {stage} --duration 1e300", 2, "a recording of 2.4e+302 steps"),
        ("simulate {stage} --dt 1e-308", 2, "duration: 5 s has too many steps"),
        ("simulate {stage} --environments 2000000000", 2, "2e+09 environments takes"),
        ("simulate {stage} --steps 2 --duration 1", 2, "not allowed with"),
        ("simulate {stage} --duration=-1", 2, "duration: -1 s"),
        ("simulate {stage} --environments 0", 2, "environments: 0"),
        ("simulate {stage} --device gpu9", 2, "device: 'gpu9' is not one of cpu"),
        ("simulate {stage} --solver magic", 2, "solver: 'magic' is not one of"),
        ("simulate {stage} --precision float16", 2, "precision: 'float16' is not one of"),
        ("simulate {stage} --integrator magic", 2, "integrator: 'magic' is not one of"),
        ("simulate {stage} --position-iterations 0", 2, "position_iterations: is 0"),
        ("simulate {stage} -o out.txt", 2, "out.txt: the name of a run layer ends in"),
        ("simulate {stage} -o {stage}", 2, "is a layer of the stage itself"),
        ("simulate {stage} -o nowhere/out.usdc", 2, "there is no folder nowhere"),
        ("simulate {stage} --record out.txt", 2, "ends in .npz"),
        ("simulate {stage} --record nowhere/out.npz", 2, "there is no folder nowhere"),
        ("simulate {stage} --inputs none.json", 2, "none.json: there is no such file"),
        ("simulate {stage} --frames-per-second 0", 2, "frames per second: 0"),
        ("convert {stage} out.usda", 2, "required: --to"),
        ("convert {stage} --to warpArtic", 2, "required: OUT"),
        ("convert {stage} out.usda --to newton", 2, "invalid choice: 'newton'"),
        ("convert none.usda out.usda --to warpArtic", 1, "none.usda: there is no such file"),
        ("convert README.md out.usda --to warpArtic", 1, "README.md: "),
        ("convert {stage} {stage} --to warpArtic", 2, "is a layer of the stage itself"),
        ("convert {stage} ./{stage} --to warpArtic", 2, "is a layer of the stage itself"),
        ("convert {stage} out.txt --to warpArtic", 2, "out.txt: the name of a converted stage ends in"),
        ("convert {stage} nowhere/out.usda --to warpArtic", 2, "there is no folder nowhere"),
        ("bench --repeats 0", 2, "repeats: 0 is not above 0"),
        ("bench --seconds=-1", 2, "seconds: -1 is not above 0"),
        ("bench --models spider", 2, "models: 'spider' is not one of pendulum, arm"),
    ],
)
def test_bad_usage_is_one_line(line, code, sentence, capsys):
    """What is wrong is said in one line, with the exit code for it, and no traceback."""
    assert main(line.format(stage=PENDULUM).split()) == code
    written = capsys.readouterr().err
    assert sentence in written
    assert written.startswith("warp-artic: error: ") and written.count("\n") == 1


def test_module_is_the_command():
    """`python -m warp_artic` passes arguments and exit code through."""
    done = subprocess.run([sys.executable, "-m", "warp_artic", "check", "none.usda"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "warp-artic: error: none.usda: there is no such file\n"
