"""Tests of CUDA sources are skipped where there are no fibers to run them."""

import pytest

from tests.cuda_emulation.emulate import unavailable


def pytest_collection_modifyitems(items):
    """Say why, where that is so."""
    if reason := unavailable():
        for item in items:
            if item.path.parent.name == "cuda_emulation":
                item.add_marker(pytest.mark.skip(reason=reason))
