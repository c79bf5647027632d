"""Where the published networks lie, if they are there: beside the project, which does not contain them."""

from __future__ import annotations

from pathlib import Path

PUBLISHED_NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "networks"
