"""Small networks that the tests of knowledge use."""

from __future__ import annotations

import pytest

from credo import Network
from tests.helpers.knowledge_examples import NETWORKS


@pytest.fixture(scope="session")
def asia() -> Network:
    return NETWORKS["asia"]


@pytest.fixture(scope="session")
def clinic() -> Network:
    return NETWORKS["clinic"]
