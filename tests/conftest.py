"""Small networks and data that many tests use; all of them written down here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from credo import Network
from credo.cli import signals
from credo.testing import random_network

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A command that runs in this process would else start the thread that ends it, at the next signal of any test.
signals.end_on_signals = signals.Watch  # type: ignore[assignment]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The one browser of a session: Playwright does not start a second one in the same process."""
    from tests.helpers.chromium import find_chromium, launch_chromium

    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium is installed: `make browser` installs it where it can")
    with launch_chromium(executable) as browser:
        yield browser


@pytest.fixture
def smoking() -> Network:
    """Two variables, one arc, numbers that are easy to check by hand."""
    return Network(
        {"smoke": ("no", "yes"), "lung": ("no", "yes")},
        parents={"lung": ["smoke"]},
        cpts={"smoke": [0.5, 0.5], "lung": [[0.99, 0.01], [0.9, 0.1]]},
        name="smoking",
    )


@pytest.fixture
def mixed() -> Network:
    """Three variables with two, three and four states; the last has two parents."""
    return random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b", "a"), "b": ("a",)}, seed=5)
