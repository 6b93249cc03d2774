"""Forces and torques by the joints that hold links, as time samples."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from pxr import Sdf, Vt

from warp_artic.errors import SettingsError
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.usd import tokens
from warp_artic.usd.instances import with_instances
from warp_artic.usd.time_samples import apply_schema, at_times, check_finite, over, prim_named, write_samples
from warp_artic.usd.units import FORCE, TORQUE, Units


def write_incoming_forces(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples on every link of a recording that has them.

    Raises:
        SettingsError: They are in world axes, or without tendons, and the attributes are not.
    """
    usual = asdict(IncomingForces())
    found = recording.metadata.get("incoming_forces", usual)
    if found != usual:
        listed = ", ".join(f"{name} is {found[name]!r}" for name in usual if found[name] != usual[name])
        raise SettingsError(f"link_incoming_joint_force: {listed}; to write it, record with forces=True")
    values = recording.link_incoming_joint_force[:, environment]
    check_finite(recording, values, recording.link_names, "incoming joint force")
    values = at_times(recording, values, times)
    moving = with_instances(stage).moving if values.shape[1] else {}
    for entry, link in enumerate(recording.link_names[: values.shape[1]]):
        if link in moving:  # an instance has no prim of its own, nor a joint
            continue
        prim = prim_named(stage, link, "link")
        spec = over(layer, prim)
        apply_schema(spec, tokens.ARTIC_LINK)
        for name, quantity, part in (("Force", FORCE, slice(0, 3)), ("Torque", TORQUE, slice(3, 6))):
            samples = np.ascontiguousarray(units.authored(values[:, entry, part], quantity))
            samples = Vt.Vec3dArray.FromNumpy(samples)
            attribute = f"warpArtic:link:incomingJoint{name}"
            write_samples(spec, attribute, Sdf.ValueTypeNames.Vector3d, samples, codes)
