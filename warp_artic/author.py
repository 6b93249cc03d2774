"""Authors our schemas on a stage, in its edit target.

import warp_artic as wa

wa.author.mimic(stage, "/Gripper/right", ["/Gripper/left"], gears=[-1])
wa.author.fixed_tendon(stage, "/Hand/flexor", ["/Hand/knuckle", "/Hand/tip"], [1.7e-4, 1.4e-4], stiffness=400)
cable = wa.author.spatial_tendon(stage, "/Crane/cable", stiffness=2000).GetPath()
wa.author.attachment(stage, f"{cable}/winch", "/Crane/base")
wa.author.attachment(stage, f"{cable}/winch/hook", "/Crane/load", upper_limit=6)

Units are those of the stage, as in UsdPhysics and our schemas: its length and mass, degrees, seconds. What is None is
left as it is. Every argument is checked before anything is written: an error leaves the stage as it was.
"""

from warp_artic.usd.author_joints import drive, joint, mimic
from warp_artic.usd.author_scene import link, scene
from warp_artic.usd.author_tendons import attachment, fixed_tendon, spatial_tendon

__all__ = ["attachment", "drive", "fixed_tendon", "joint", "link", "mimic", "scene", "spatial_tendon"]
