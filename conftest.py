"""Tests that measure time run without coverage, which would slow down what they measure."""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Turn tracing off for files named test_speed.py; the marker no_cover does not do so in workers of pytest-xdist."""
    trace = sys.gettrace() if item.path.name == "test_speed.py" else None
    if trace is None:
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(trace)
