"""Authors our schemas, a ground, physics materials and ragdolls on a stage, in its edit target.

    import warp_artic as wa

    wa.author.mimic(stage, "/Gripper/right", ["/Gripper/left"], gears=[-1])
    wa.author.fixed_tendon(stage, "/Hand/flexor", ["/Hand/knuckle", "/Hand/tip"], [1.7e-4, 1.4e-4], stiffness=400)
    cable = wa.author.spatial_tendon(stage, "/Crane/cable", stiffness=2000).GetPath()
    wa.author.attachment(stage, f"{cable}/winch", "/Crane/base")
    wa.author.attachment(stage, f"{cable}/winch/hook", "/Crane/load", upper_limit=6)
    wa.author.physics_material(stage, "/rubber", static_friction=0.9, dynamic_friction=0.8, bind=["/Hand"])
    wa.author.ground_plane(stage, "/ground", material="/rubber")
    wa.author.elastic_material(stage, "/silicone", young_modulus=2e5, poisson_ratio=0.45)
    wa.author.elastic_body(stage, "/finger", "/silicone", pinned=[0, 1, 2])
    wa.author.mesh_tendon(stage, "/puller", "/finger", [40, 20, (0, 0, -1)], stiffness=500, target_length=0.9)
    wa.author.ragdoll(stage, "/Character/Skeleton")

Units are those of the stage, as in UsdPhysics and our schemas: its length and mass, degrees, seconds. What is None is
left as it is. Every argument is checked before anything is written: an error leaves the stage as it was.
"""

from warp_artic.usd.author_contacts import ground_plane, physics_material
from warp_artic.usd.author_joints import drive, joint, joint_frame, mimic
from warp_artic.usd.author_meshes import elastic_body, elastic_material, mesh_tendon
from warp_artic.usd.author_ragdoll import ragdoll
from warp_artic.usd.author_scene import articulation, link, scene
from warp_artic.usd.author_tendons import attachment, fixed_tendon, spatial_tendon

__all__ = [
    "articulation",
    "attachment",
    "drive",
    "elastic_body",
    "elastic_material",
    "fixed_tendon",
    "ground_plane",
    "joint",
    "joint_frame",
    "link",
    "mesh_tendon",
    "mimic",
    "physics_material",
    "ragdoll",
    "scene",
    "spatial_tendon",
]
