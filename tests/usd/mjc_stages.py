"""Stages with joints, actuators and tendons of MuJoCo's schemas."""

import math

from tests.usd.authoring import pendulum
from warp_artic.usd.read_stage import read_stage

DEGREE = math.pi / 180


def tree_of(stage):
    return read_stage(stage).articulations[0]


def hinge(content: str, **words):
    return pendulum(content, applied=("MjcJointAPI",), **words)


def tendon(content: str, path: str = "</World/j1>, </World/j2>") -> str:
    return f'def MjcTendon "t" {{\ntoken mjc:type = "fixed"\nrel mjc:path = [{path}]\n{content}\n}}\n'
