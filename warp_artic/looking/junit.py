"""Results of checks as JUnit XML, which continuous integration shows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from warp_artic.sim.files.whole_file import written_whole

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")
"""Characters that XML 1.0 does not have, of those in the first plane."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    failure: str = ""
    """What is wrong, in a sentence; empty where nothing is."""


def write_junit(output: str | os.PathLike, suite: str, checks: Sequence[Check]) -> None:
    """Write a test suite with a test case for each check.

    Raises:
        SettingsError: There is no such folder.
        SolveError: The file cannot be written.
    """
    failures = sum(bool(check.failure) for check in checks)
    root = ElementTree.Element("testsuites")
    own = ElementTree.SubElement(
        root, "testsuite", name=_text(suite), tests=str(len(checks)), failures=str(failures), errors="0", skipped="0"
    )
    for check in checks:
        case = ElementTree.SubElement(own, "testcase", classname=_text(suite), name=_text(check.name), time="0")
        if check.failure:
            message = _text(check.failure)
            ElementTree.SubElement(case, "failure", message=message, type="difference").text = message
    ElementTree.indent(root)
    with written_whole(output) as partial:
        ElementTree.ElementTree(root).write(partial, encoding="utf-8", xml_declaration=True)


def _text(text: str) -> str:
    """A text as XML can hold it."""
    return NOT_XML.sub("?", text)
