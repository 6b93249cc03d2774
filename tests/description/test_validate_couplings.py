"""Each rule of tendons and mimic joints, with its sentence."""

import math
from dataclasses import replace

import pytest

from tests.trees import chain
from warp_artic.description.mimic import Mimic
from warp_artic.description.scene import Scene
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.description.validate import validate
from warp_artic.errors import DescriptionError

NAN, INF = math.nan, math.inf
FIXED = FixedTendon(name="/t", dofs=(0, 2), coefficients=(1.0, 0.5), force_coefficients=(1.0, 0.5), stiffness=3.0)
MIMIC = Mimic(name="/m", dofs=(0, 1), gears=(1.0, -2.0))
ROOT = Attachment(name="/r", link=0, position=(0.0, 0.0, 0.0), parent=None)
MID = Attachment(name="/g", link=1, position=(0.1, 0.0, 0.0), parent=0)
END = Attachment(name="/e", link=2, position=(0.2, 0.0, 0.0), parent=1)
SPATIAL = SpatialTendon(name="/r", attachments=(ROOT, MID, END), leaves=(TendonLeaf(attachment=2),))


def scene(**couplings) -> Scene:
    """A chain of three dofs with these tendons and mimic joints."""
    return Scene(articulations=(replace(chain(3), **couplings),))


def sentences(**couplings) -> list[str]:
    """The lines of the error that a scene raises; none where it is valid."""
    try:
        validate(scene(**couplings))
    except DescriptionError as error:
        return str(error).splitlines()
    return []


def test_valid_couplings():
    """Tendons and mimic joints that break no rule are accepted, with infinite limits too."""
    assert not sentences(fixed_tendons=(FIXED,), spatial_tendons=(SPATIAL,), mimics=(MIMIC,))


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"dofs": (0, 3)}, "/t: couples dof 3, but the articulation has 3 dofs, counted from 0"),
        ({"dofs": (-1, 0)}, "/t: couples dof -1, but the articulation has 3 dofs, counted from 0"),
        ({"dofs": (1, 1)}, "/t: couples {1} 2 times; once is allowed"),
        ({"coefficients": (1.0,)}, "/t: has 1 coefficients for 2 dofs, must have one for each"),
        ({"force_coefficients": (1.0,) * 3}, "/t: has 3 force coefficients for 2 dofs, must have one for each"),
        (
            {"dofs": (), "coefficients": (), "force_coefficients": ()},
            "/t: the fixed tendon has no dof, must have at least one",
        ),
        ({"coefficients": (1.0, NAN)}, "/t: one of its coefficients is nan, must be finite"),
        ({"force_coefficients": (INF, 1.0)}, "/t: one of its force coefficients is inf, must be finite"),
        ({"stiffness": -1.0}, "/t: stiffness -1 N/m must be finite and not negative"),
        ({"damping": NAN}, "/t: damping nan N s/m must be finite and not negative"),
        ({"limit_stiffness": INF}, "/t: limit stiffness inf N/m must be finite and not negative"),
        ({"rest_length": NAN}, "/t: rest length nan must be finite"),
        ({"offset": INF}, "/t: offset inf must be finite"),
        ({"lower": 1.0, "upper": 0.0}, "/t: lower limit 1 m of the length is above upper limit 0 m"),
        ({"lower": NAN}, "/t: lower limit nan m of the length is above upper limit inf m"),
    ],
)
def test_fixed_tendons(changes, sentence):
    """A broken rule of a fixed tendon is one line that names it."""
    dof = chain(3).dofs[1].name
    assert sentences(fixed_tendons=(replace(FIXED, **changes),)) == [sentence.replace("{1}", dof)]


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"attachments": (ROOT, MID, replace(END, link=3))}, "/e: the attachment is on link 3 of 3, counted from 0"),
        ({"attachments": (ROOT, MID, replace(END, parent=None))}, "/r: attachment 2 has no parent; the root alone"),
        ({"attachments": (replace(ROOT, parent=0), MID, END)}, "/r: the first attachment has a parent; the root alone"),
        ({"attachments": (ROOT, replace(MID, parent=2), END)}, "/r: the parent of attachment 1 is 2; a parent comes"),
        ({"attachments": (ROOT, replace(MID, parent=-1), END)}, "/r: the parent of attachment 1 is -1; a parent"),
        ({"attachments": (ROOT, MID, replace(END, position=(0, NAN, 0)))}, "/e: y nan must be finite"),
        ({"attachments": (ROOT, MID, replace(END, coefficient=INF))}, "/e: coefficient inf must be finite"),
        ({"leaves": ()}, "/r: the spatial tendon has no leaf"),
        ({"leaves": (TendonLeaf(attachment=0),)}, "/r: a leaf is attachment 0; it must be one of 1 to 2, the root"),
        ({"leaves": (TendonLeaf(attachment=3),)}, "/r: a leaf is attachment 3; it must be one of 1 to 2, the root"),
        ({"leaves": (TendonLeaf(attachment=1),)}, "/r: attachment 1 is a leaf, but another one follows it"),
        ({"leaves": (TendonLeaf(attachment=2),) * 2}, "/r: attachment 2 is a leaf 2 times"),
        ({"leaves": (TendonLeaf(attachment=2, rest_length=-1.0),)}, "/e: rest length -1 m must be finite and not neg"),
        ({"leaves": (TendonLeaf(attachment=2, lower=2.0, upper=1.0),)}, "/e: lower limit 2 m of the length is above"),
        ({"stiffness": -2.0}, "/r: stiffness -2 N/m must be finite and not negative"),
        ({"offset": NAN}, "/r: offset nan must be finite"),
    ],
)
def test_spatial_tendons(changes, sentence):
    """A broken rule of a spatial tendon is one line that names it, or its attachment."""
    line, *_ = sentences(spatial_tendons=(replace(SPATIAL, **changes),))
    assert line.startswith(sentence), line


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"dofs": (0,), "gears": (1.0,)}, "/m: the mimic joint has 1 dofs; it needs a follower and one to follow"),
        ({"dofs": (0, 7)}, "/m: couples dof 7, but the articulation has 3 dofs, counted from 0"),
        ({"dofs": (2, 2)}, "/m: couples {2} 2 times; once is allowed"),
        ({"gears": (1.0,)}, "/m: has 1 gears for 2 dofs, must have one for each"),
        ({"gears": (0.0, 1.0)}, "/m: the gear of the follower is 0; it must not be"),
        ({"gears": (1.0, NAN)}, "/m: one of its gears is nan, must be finite"),
        ({"offset": INF}, "/m: offset inf must be finite"),
        ({"natural_frequency": INF}, "/m: natural frequency inf must be finite"),
        ({"damping_ratio": -0.5}, "/m: damping ratio -0.5 must not be negative"),
    ],
)
def test_mimics(changes, sentence):
    """A broken rule of a mimic joint is one line that names it."""
    dof = chain(3).dofs[2].name
    assert sentences(mimics=(replace(MIMIC, **changes),)) == [sentence.replace("{2}", dof)]


def test_names_are_given_once():
    """Reports go by name, so no two tendons of a kind, attachments or mimic joints share one."""
    assert sentences(fixed_tendons=(FIXED, FIXED)) == ["/t: 2 fixed tendons have this name; names must differ"]
    assert sentences(mimics=(MIMIC, MIMIC)) == ["/m: 2 mimic joints have this name; names must differ"]
    doubled = sentences(spatial_tendons=(SPATIAL, replace(SPATIAL, name="/other")))
    assert "/e: 2 attachments have this name; names must differ" in doubled
