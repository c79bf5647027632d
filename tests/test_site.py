"""The documentation as a site: it builds without a warning, needs nothing from elsewhere, and leaves no name out."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import credo
import credo.sklearn

ROOT = Path(__file__).resolve().parents[1]
HOOKS = runpy.run_path(str(ROOT / "docs" / "hooks.py"))
FETCHED = re.compile(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+href=["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").exists()
    assert (site / "changelog.html").exists()


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not FETCHED.search(page.read_text(encoding="utf-8")), page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet.name


def test_fences_are_closed_and_marks_replaced(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "```" not in text, page.name
        assert "<!-- results:" not in text, page.name


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^::: [\w.]+\.(\w+)$", page, flags=re.MULTILINE))
    assert {*credo.__all__, *credo.results.__all__, *credo.sklearn.__all__} - {"__version__"} <= named


def test_links_to_the_repository_become_links_in_the_site() -> None:
    places = {"CHANGELOG.md": "changelog.md", "experiments/guo/results/README.md": "results/guo/index.md"}
    turned = HOOKS["adjust_links"]
    assert turned("[a](../CHANGELOG.md)", "methods.md", places) == "[a](changelog.md)"
    assert (
        turned("[a](../../experiments/guo/results/README.md#b)", "papers/guo.md", places)
        == "[a](../results/guo/index.md#b)"
    )
    assert turned("[a](docs/methods.md)", "changelog.md", places) == "[a](methods.md)"
    assert turned("[a](kl.md)", "results/guo/index.md", places) == "[a](kl.md)"
    assert turned("[a](https://semver.org)", "methods.md", places) == "[a](https://semver.org)"


def test_a_page_says_that_an_experiment_has_no_results_yet(tmp_path: Path) -> None:
    results = tmp_path / "experiments" / "guo" / "results"
    assert "has no results yet" in HOOKS["results_of"]("guo", tmp_path)
    results.mkdir(parents=True)
    (results / "README.md").write_text("# Guo\n\nText.\n\n## Claims\n\n| a |\n|---|\n| b |\n\n### More\n\nc\n")
    link = "[Guo](../../experiments/guo/results/README.md)"
    found = HOOKS["insert_results"]("x\n\n<!-- results: guo -->\n", tmp_path)
    assert found == f"x\n\n{link}:\n\n| a |\n|---|\n| b |\n\nAll figures: {link}.\n"


def test_a_page_says_that_a_figure_is_not_drawn_yet(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()
    found = HOOKS["mark_missing_figures"]("![A](a.png) ![B](b.png)", tmp_path)
    assert found == "![A](a.png) *(not drawn yet: b.png)*"
