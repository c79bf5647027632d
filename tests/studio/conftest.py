"""The fixtures of these tests; without the extra `studio` there is nothing to test."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("starlette") is None or find_spec("uvicorn") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from tests.studio.harness import (  # noqa: F401
        heart,
        heart_fit,
        learned,
        learned_heart,
        learned_tab,
        shared,
        studio,
        tab,
        target,
    )
