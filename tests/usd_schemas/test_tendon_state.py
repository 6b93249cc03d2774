"""WarpArticTendonStateAPI: what a run writes of a tendon in a schema of others, on the prim that it is authored on."""

import pytest
from pxr import Usd

from tests.usd.authoring import SI, SMALL_UNITS
from tests.usd_schemas import test_same_mechanism as same
from tests.usd_schemas.source import attributes_of
from warp_artic import Simulation, SolverSettings, read_stage, write_results

UNITS = {SI: (1.0, 1.0), SMALL_UNITS: (0.01, 1e-3)}
"""Metres and kilograms in a unit."""


def test_its_attributes_are_outputs():
    """Length, speed and force; without a run they have no value."""
    specs = attributes_of("WarpArticTendonStateAPI")
    assert set(specs) == {"length", "speed", "force"}
    assert all(spec.default is None and spec.documentation.startswith("Output") for spec in specs.values())


@pytest.mark.parametrize("header", UNITS)
def test_a_run_writes_it_in_the_units_of_the_stage(header, tmp_path):
    """On the joint at the root of a PhysX fixed tendon and on the links of the leaves of a spatial one, by its name."""
    source = tmp_path / "source.usda"
    same.physx(header).GetRootLayer().Export(str(source))
    simulation = Simulation(read_stage(str(source)), settings=SolverSettings(precision="float64"))
    recording = simulation.record(steps=24)
    write_results(source, recording, tmp_path / "run.usda", frames_per_second=1.0 / simulation.settings.dt)
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    meter, kilogram = UNITS[header]
    quantities = {"length": meter, "speed": meter, "force": meter * kilogram}
    assert len(simulation.tendon_names) == 3
    for index, name in enumerate(simulation.tendon_names):
        path, _, instance = name.partition(":")
        prim = stage.GetPrimAtPath(path)
        assert prim.HasAPI("WarpArticTendonStateAPI", instance)
        for quantity, unit in quantities.items():
            values = getattr(recording, f"tendon_{quantity}")[:, 0, index] / unit
            attribute = prim.GetAttribute(f"warpArtic:tendon:{instance}:{quantity}")
            code = stage.GetStartTimeCode() + recording.time[10:12].mean() * stage.GetTimeCodesPerSecond()
            between = 0.5 * (values[10] + values[11])
            assert attribute.Get(code) == pytest.approx(between, rel=1e-9, abs=1e-9 * abs(values).max())
