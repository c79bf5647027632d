"""Small networks that the tests of knowledge speak about."""

from __future__ import annotations

import pytest

from credo.model.network import Network

YES_NO = ("yes", "no")


def make_asia() -> Network:
    names = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    parents = {
        "tub": ["asia"],
        "lung": ["smoke"],
        "bronc": ["smoke"],
        "either": ["lung", "tub"],
        "xray": ["either"],
        "dysp": ["bronc", "either"],
    }
    return Network(dict.fromkeys(names, YES_NO), parents, name="asia")


def make_clinic() -> Network:
    """States that are no plain words, more than two of them, and names that need quotes."""
    states = {
        "ward": ("a", "b"),
        "dose": ("0.5", "1.0", "2"),
        "age": ("<5", "5-12", "12+"),
        "severity": ("mild", "moderate", "severe"),
        "heart attack": ("no", "yes"),
    }
    parents = {"severity": ["ward", "dose"], "heart attack": ["severity", "age"]}
    return Network(states, parents, name="clinic")


NETWORKS = {"asia": make_asia(), "clinic": make_clinic()}


@pytest.fixture(scope="session")
def asia() -> Network:
    return NETWORKS["asia"]


@pytest.fixture(scope="session")
def clinic() -> Network:
    return NETWORKS["clinic"]
