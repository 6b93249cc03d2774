"""Tests of CUDA sources run on request, and are skipped where there are no fibers to run them."""

import pytest

from tests.cuda_emulation.emulate import unavailable


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark them, and say why where they are skipped."""
    reason = unavailable()
    for item in items:
        if item.path.parent.name == "cuda_emulation":
            item.add_marker(pytest.mark.emulation)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
