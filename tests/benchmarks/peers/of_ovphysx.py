"""ovphysx: PhysX on the CPU on the calling thread, its TGS solver with 4 and 1 iterations, the stage that we read
cloned within a scene; single precision."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from importlib.metadata import version

import numpy as np
from case import Case, NotSimulatedError
from peer import Peer

try:
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples.schema_support import physx_schema_paths
except ImportError:
    ovphysx = None

SHORT = 1e-5
"""A step in which forces do not change [s]."""
SPACING = 10.0
"""From one robot to the next [m]."""


RUNNING = ExitStack()
"""What is to be ended of the present simulation."""


@cache
def _prepare() -> None:
    """Settings of the whole process."""
    ovphysx.PhysX.set_cpu_mode(True)
    ovphysx.set_global_config(ovphysx.types.GlobalConfigKey.NUM_THREADS, 0)
    schemas = [*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())]
    ovstage.population.register_usd_schemas(schemas)


def _simulation(case: Case, environments: int) -> ovphysx.PhysX:
    """A simulation of the stage and its clones; it lasts until the next one begins."""
    if "several robots" in case.features:
        raise NotSimulatedError("measured for one robot a stage")
    _prepare()
    RUNNING.close()
    stage = ovstage.Stage("bench")
    RUNNING.callback(stage.destroy)
    physx = ovphysx.PhysX()
    RUNNING.callback(physx.destroy)
    ovstage.population.open_usd(stage, case.stage, ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    physx.wait_task(physx.attach_ovstage(stage, read_ordinal=1))
    RUNNING.callback(lambda: physx.wait_task(physx.detach_ovstage()))
    if environments > 1:
        numbers = range(1, environments)
        places = [(SPACING * number, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0) for number in numbers]
        physx.clone("/World", [f"/World{number}" for number in numbers], anchor_transforms=places)
        physx.wait_all()
    return physx


def _make(case: Case, environments: int):
    physx = _simulation(case, environments)

    def advance(count: int) -> None:
        for _ in range(count):
            physx.step_sync(case.dt)

    return advance


def _acceleration(case: Case) -> dict[str, float]:
    physx, kinds = _simulation(case, 1), ovphysx.types.TensorType
    position, velocity = (
        physx.create_tensor_binding(pattern=case.root, tensor_type=kind)
        for kind in (kinds.ARTICULATION_DOF_POSITION, kinds.ARTICULATION_DOF_VELOCITY)
    )
    names = [name.rpartition("/")[2] for name in position.dof_names]
    position.write(np.array([[case.inside[name] for name in names]], np.float32))
    velocity.write(np.zeros(velocity.shape, np.float32))
    physx.step_sync(SHORT)
    found = np.zeros(velocity.shape, np.float32)
    velocity.read(found)
    for binding in (position, velocity):
        binding.destroy()
    return dict(zip(names, (found[0] / SHORT).tolist()))


PEERS = {}
if ovphysx is not None:
    PEERS["ovphysx"] = Peer(f"ovphysx {'.'.join(version('ovphysx').split('.')[:3])}, float32", _make, _acceleration)
