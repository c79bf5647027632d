"""What mkdocs does besides: it takes in pages that live elsewhere in the repository, and follows links to them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
MARK = re.compile(r"^<!-- results: (\w+) -->$", re.MULTILINE)
CLAIMS = re.compile(r"^## (?:Claims|Which claims held|Which orders held)\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def taken_in(root: Path = ROOT) -> dict[str, str]:
    """Where a file of the repository stands in the site, for those that do not lie in docs/."""
    found = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    for path in sorted((root / "experiments").glob("*/results/*")):
        if path.suffix in (".md", ".png", ".svg"):
            name = "index.md" if path.name == "README.md" else path.name
            found[path.relative_to(root).as_posix()] = f"results/{path.parent.parent.name}/{name}"
    return found


def with_results(markdown: str, root: Path = ROOT) -> str:
    """The text with what an experiment found in place of its mark: the claims it held, and links to all of it."""
    return MARK.sub(lambda mark: results_of(mark[1], root), markdown)


def results_of(paper: str, root: Path = ROOT) -> str:
    """Claims and links of one experiment, as a page in docs/papers/ writes them."""
    pages = sorted((root / "experiments" / paper / "results").glob("*.md"))
    if not pages:
        return f"The results are not in this copy yet; `python -m experiments.{paper}` writes them."
    parts, links = [], []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        link = f"[{title[1] if title else page.stem}](../../{page.relative_to(root).as_posix()})"
        links.append(link)
        parts += [f"{link}:\n\n{found[1].strip()}" for found in CLAIMS.finditer(text)]
    return "\n\n".join([*parts, f"All figures: {', '.join(links)}."])


def with_own_links(markdown: str, uri: str, places: dict[str, str]) -> str:
    """The text with links to files that were taken in, turned to where they stand in the site."""
    home = next((path for path, place in places.items() if place == uri), f"docs/{uri}")

    def turned(link: re.Match[str]) -> str:
        target = normpath(str(PurePosixPath(home).parent / link[2]))
        place = places.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else None)
        return f"{link[1]}{relpath(place, PurePosixPath(uri).parent)}{link[3]}" if place else link[0]

    return LINK.sub(turned, markdown)


def with_plain_fences(markdown: str) -> str:
    """The text with fences that only tests read (which network, what is printed) as plain text."""
    return re.sub(r"^```(?:credo|text)\b.*$", "```text", markdown, flags=re.MULTILINE)


def without_missing_pictures(markdown: str, folder: Path) -> str:
    """The text of an experiment that is still under way, with a word in place of each picture that is not drawn yet."""

    def kept(picture: re.Match[str]) -> str:
        return picture[0] if (folder / picture[1]).exists() else f"*(not drawn yet: {picture[1]})*"

    return re.sub(r"!\[[^\]]*\]\(([\w.-]+)\)", kept, markdown)


def on_files(files: Files, *, config: Any) -> Files:
    """Mkdocs asks which files there are."""
    for path, place in taken_in().items():
        whole = str(ROOT / path)
        files.append(File.generated(config, place, abs_src_path=whole, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Mkdocs is about to turn a page into HTML."""
    if page.file.src_uri.startswith("results/"):
        markdown = without_missing_pictures(markdown, Path(page.file.abs_src_path).parent)
    return with_own_links(with_results(with_plain_fences(markdown)), page.file.src_uri, taken_in())
