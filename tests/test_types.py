"""Type checkers see the public functions, and pass on the examples of the README and the samples."""

import dataclasses
import enum
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import warp_artic as wa

ROOT = Path(__file__).parents[1]
SAMPLES = sorted((ROOT / "samples").glob("*.py"))
CHECKERS = {
    "mypy": ("mypy", "--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary"),
    "pyright": ("basedpyright", "--level", "error", "--pythonpath", sys.executable, "--project"),
}
LEFT_OUT = ("gymnasium", "jax", "jaxlib", "matplotlib", "ml_dtypes", "PIL", "torch", "warp")
"""What mypy takes two thirds of its time for; pyright looks at it."""
WRONG = 'import warp_artic as wa\nwa.Simulation(wa.read_stage("a.usda"), environments="many")\n'
"""A call that they are to find."""


@pytest.fixture(scope="module", params=CHECKERS)
def findings(request, tmp_path_factory) -> dict[str, list[str]]:
    """What a checker has to say at the basic level, by the file it is about: of the examples, samples and WRONG."""
    module, *options = CHECKERS[request.param]
    pytest.importorskip(module)
    folder = tmp_path_factory.mktemp(request.param)
    files = [*examples(folder), *SAMPLES, folder / "wrong.py"]
    assert len(files) > len(SAMPLES) + 1
    files[-1].write_text(WRONG)
    if request.param == "mypy":
        config = folder / "mypy.ini"
        config.write_text("".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in LEFT_OUT))
        options += ["--config-file", str(config)]
        options += ["--cache-dir", str(folder / "cache"), *map(str, files)]
    if request.param == "pyright":
        config = folder / "pyrightconfig.json"
        names = ", ".join(f'"{file}"' for file in files)
        # An editable install has `extensions` elsewhere than its name says.
        rules = '"typeCheckingMode": "basic", "reportMissingImports": "none"'
        config.write_text(f'{{{rules}, "include": [{names}], "extraPaths": ["{ROOT}"]}}')
        options.append(str(config))
    done = subprocess.run([sys.executable, "-m", module, *options], capture_output=True, text=True, cwd=ROOT)
    said = [line for line in (done.stdout + done.stderr).splitlines() if re.search(r"\.py:\d+", line)]
    assert done.returncode == 1 and said, done.stdout + done.stderr
    return {
        "wrong": [line for line in said if "wrong.py" in line],
        "others": [line for line in said if "wrong.py" not in line],
    }


def examples(folder: Path) -> list[Path]:
    """The Python of the READMEs, a file for each block."""
    found = []
    for page in ("README.md", "warp_artic/README.md", "extensions/README.md", "samples/README.md"):
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)):
            found.append(folder / f"{page.replace('/', '_').removesuffix('.md')}_{number}.py")
            found[-1].write_text(block)
    return found


def test_examples_and_samples_pass(findings):
    """All of them."""
    assert findings["others"] == []


def test_wrong_calls_are_found(findings):
    """The package has types, and they are looked at."""
    assert any("environments" in line or "str" in line for line in findings["wrong"])


def test_the_parts_of_a_scene_are_public():
    """Every class and every choice that a scene can be made of."""

    def parts(kind, found):
        is_class = isinstance(kind, type) and kind.__module__.startswith("warp_artic.")
        if is_class and kind not in found and (dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum)):
            found.add(kind)
            for hint in typing.get_type_hints(kind).values() if dataclasses.is_dataclass(kind) else ():
                parts(hint, found)
        for argument in typing.get_args(kind):
            parts(argument, found)
        return found

    found = parts(wa.Scene, set())
    assert len(found) > 25
    assert {kind.__name__ for kind in found} - set(wa.__all__) == set()
    assert wa.WORLD == -1


def test_all_public_names_are_seen():
    """What type checkers are told of is what there is."""
    told = set(re.findall(r"^    from \S+ import (\w+) as \1$", Path(wa.__file__).read_text(), re.M))
    assert told == set(wa.__all__)
    for name in wa.__all__:
        assert getattr(wa, name) is not None
