"""Hooks for MkDocs: add pages that live outside docs/ to the site, insert results, and adjust links."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
MARK = re.compile(r"^<!-- results: (\w+) -->$", re.MULTILINE)
CLAIMS = re.compile(r"^## (?:Claims|Which claims held|Which rankings held)\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def external_files(root: Path = ROOT) -> dict[str, str]:
    """The path in the site of each file of the repository that is shown there but is not in docs/."""
    found = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    for path in sorted((root / "experiments").glob("*/results/*")):
        if path.suffix in (".md", ".png", ".svg"):
            name = "index.md" if path.name == "README.md" else path.name
            found[path.relative_to(root).as_posix()] = f"results/{path.parent.parent.name}/{name}"
    return found


def insert_results(markdown: str, root: Path = ROOT) -> str:
    """Replace each results mark by the claims of that experiment and links to its results."""
    return MARK.sub(lambda mark: results_of(mark[1], root), markdown)


def results_of(paper: str, root: Path = ROOT) -> str:
    """The claims of one experiment, and links to its results, relative to docs/papers/."""
    pages = sorted((root / "experiments" / paper / "results").glob("*.md"))
    if not pages:
        return f"This copy has no results yet; `python -m experiments.{paper}` writes them."
    parts, links = [], []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        link = f"[{title[1] if title else page.stem}](../../{page.relative_to(root).as_posix()})"
        links.append(link)
        parts += [f"{link}:\n\n{found[1].strip()}" for found in CLAIMS.finditer(text)]
    return "\n\n".join([*parts, f"All figures: {', '.join(links)}."])


def adjust_links(markdown: str, uri: str, places: dict[str, str]) -> str:
    """Point links to external files at their place in the site."""
    home = next((path for path, place in places.items() if place == uri), f"docs/{uri}")

    def adjusted(link: re.Match[str]) -> str:
        target = normpath(str(PurePosixPath(home).parent / link[2]))
        place = places.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else None)
        return f"{link[1]}{relpath(place, PurePosixPath(uri).parent)}{link[3]}" if place else link[0]

    return LINK.sub(adjusted, markdown)


def simplify_fences(markdown: str) -> str:
    """Remove from fences what only tests read: which network, what is printed, the name of an example."""
    markdown = re.sub(r"^```(?:credo|lark|text)\b.*$", "```text", markdown, flags=re.MULTILINE)
    return re.sub(r"^```python\b.*$", "```python", markdown, flags=re.MULTILINE)


def mark_missing_figures(markdown: str, folder: Path) -> str:
    """Replace figures that an unfinished experiment has not drawn yet by a note."""

    def replaced(figure: re.Match[str]) -> str:
        return figure[0] if (folder / figure[1]).exists() else f"*(not drawn yet: {figure[1]})*"

    return re.sub(r"!\[[^\]]*\]\(([\w.-]+)\)", replaced, markdown)


def on_files(files: Files, *, config: Any) -> Files:
    """MkDocs event: add the external files."""
    for path, place in external_files().items():
        source = str(ROOT / path)
        files.append(File.generated(config, place, abs_src_path=source, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """MkDocs event: prepare the Markdown of a page."""
    if page.file.src_uri.startswith("results/"):
        markdown = mark_missing_figures(markdown, Path(page.file.abs_src_path).parent)
    return adjust_links(insert_results(simplify_fences(markdown)), page.file.src_uri, external_files())
