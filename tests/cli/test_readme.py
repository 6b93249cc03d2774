"""What the README shows works as written."""

import re
import shlex
from pathlib import Path

import pytest

from warp_artic.cli.arguments import command_line
from warp_artic.cli.main import main
from warp_artic.solver.settings import DEFAULTS, INTEGRATORS, PRECISIONS, SOLVERS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GALLERY = (ROOT / "samples" / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "warp_artic" / "cli" / "README.md").read_text(encoding="utf-8")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
NOT_OURS = {".venv", "build", ".pytest_cache"}
PAGES = sorted(path for path in ROOT.rglob("*.md") if not NOT_OURS & set(path.relative_to(ROOT).parts))


def test_python_example(tmp_path, monkeypatch, capsys):
    """The example runs and writes its layer."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "arm_baked.usdc").exists()
    assert "/World/arm/elbow_joint" in capsys.readouterr().out


def test_simulate_command(tmp_path, monkeypatch):
    """The command that the README installs for runs."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    (line,) = re.findall(r"^python3.*warp-artic (simulate .*)$", README, re.M)
    assert main(shlex.split(line)) == 0
    assert (tmp_path / "ragdoll_baked.usdc").exists()


def test_gallery_examples(tmp_path, monkeypatch, capsys):
    """The Python of the gallery runs as written: ten lines each, with an answer."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GALLERY, re.S)
    assert len(blocks) == 4
    for block in blocks:
        assert sum(bool(line.strip()) for line in block.splitlines()) <= 10
        exec(compile(block, "samples/README.md", "exec"), {})
    told = capsys.readouterr().out
    assert "best try: " in told and "tensions [N]: " in told and "start at [rad/s]: 4.82989" in told
    assert re.search(r"lowest \[rad\]: -0\.(49999|50000)", told)


def test_gallery_commands(tmp_path, monkeypatch, capsys):
    """The commands of the gallery run as written."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^warp-artic (.*?)(?: *#.*)?$", GALLERY, re.M)
    assert len(lines) == 8
    assert [line for line in lines if main(shlex.split(line)) != 0] == []
    written = Path("fingers.usda").read_text()
    assert "warpArtic:tendon:cord:length.timeSamples" in written and Path("ours.usda").exists()


def test_every_sample_is_in_the_gallery():
    """With its file, its picture and a row of its own."""
    scenes = {
        f"scenes/{path.relative_to(ROOT / 'samples/scenes')}" for path in (ROOT / "samples/scenes").rglob("*.usda")
    }
    pictures = {f"pictures/{path.name}" for path in (ROOT / "samples/pictures").iterdir()}
    assert scenes | pictures <= set(re.findall(r"\]\(([^)#]+)\)", GALLERY))


def test_every_option_is_listed():
    """The table of options has exactly those of the command."""
    commands = command_line()._subparsers._group_actions[0].choices
    options = {name for action in commands["simulate"]._actions for name in action.option_strings}
    table = COMMAND_LINE.split("Options of `simulate`")[1].split("\n\n")[1]
    assert options - {"-h", "--help"} == set(re.findall(r"`(--?[a-z-]+)`", table))


@pytest.mark.parametrize("name, allowed", [("solver", SOLVERS), ("integrator", INTEGRATORS), ("precision", PRECISIONS)])
def test_choices_are_those_of_the_settings(name, allowed):
    """The values and the default of an option are those that there are."""
    listed = " or ".join(f"`{value}`" for value in allowed)
    assert f"| `--{name}` | {listed} | that of the stage, else `{DEFAULTS[name]}` |" in COMMAND_LINE


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """Files, pictures and headings that are linked exist."""
    for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M) if anchor else ()
        assert not anchor or anchor in map(anchor_of, headings), link


def anchor_of(heading: str) -> str:
    """The name of a heading in links."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
