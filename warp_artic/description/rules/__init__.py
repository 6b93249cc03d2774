"""The catalogue of rules: what each finding means, what is allowed instead, and how to fix a violation."""

from __future__ import annotations

from warp_artic.description.rules.bodies import OF_BODIES
from warp_artic.description.rules.contacts import OF_CONTACTS
from warp_artic.description.rules.elastic_bodies import OF_ELASTIC_BODIES
from warp_artic.description.rules.joints import OF_DRIVES, OF_JOINTS
from warp_artic.description.rules.rule import Rule as Rule
from warp_artic.description.rules.scenes import OF_SCENES
from warp_artic.description.rules.skeletons import OF_SKELETONS
from warp_artic.description.rules.stages import OF_STAGES
from warp_artic.description.rules.tendons import OF_MIMICS, OF_TENDONS
from warp_artic.description.rules.trees import OF_TREES

RULES: dict[str, Rule] = {
    rule.name: rule
    for group in (
        OF_STAGES,
        OF_SCENES,
        OF_BODIES,
        OF_TREES,
        OF_JOINTS,
        OF_DRIVES,
        OF_TENDONS,
        OF_MIMICS,
        OF_ELASTIC_BODIES,
        OF_CONTACTS,
        OF_SKELETONS,
    )
    for rule in group
}
"""By name, subject after subject."""
