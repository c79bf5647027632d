"""What has run so far: how many inputs of each kind were checked, for each seed and each version of the code."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

from credo import __version__
from credo.io.files import replacing

FOLDER = Path(__file__).parent
FOUND = FOLDER / "found"
STATE = FOLDER / "state"


@dataclass(slots=True)
class Record:
    """The inputs of one kind and seed that one version of the code has checked, without a break from number 0."""

    kind: str
    seed: int
    version: str
    done: int = 0
    failed: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)  # signature → how often
    seconds: float = 0.0
    interrupted: bool = False  # by Ctrl-C, in the last run

    @property
    def clean(self) -> int:
        return self.done - self.failed

    def add(self, outcomes: Counter[str], failures: Counter[str], done: int) -> None:
        """Count the inputs of a chunk."""
        self.done += done
        self.failed += failures.total()
        self.outcomes = dict(Counter(self.outcomes) + outcomes)
        self.failures = dict(Counter(self.failures) + failures)


def code_version() -> str:
    """The version of credo, and a digest of its source and of the generators here: input 7 of others is another one."""
    import credo

    digest = sha256()
    for folder in (Path(credo.__file__).parent, FOLDER):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".lark", ".toml"):
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(path.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:8]}"


def load(kind: str, seed: int, version: str, folder: Path = STATE) -> Record:
    """What was recorded for this kind, seed and version; nothing yet, if there is no record."""
    path = _path(kind, seed, version, folder)
    try:
        return Record(**{**json.loads(path.read_text(encoding="utf-8")), "interrupted": False})
    except (OSError, ValueError, TypeError):
        return Record(kind, seed, version)


def store(record: Record, folder: Path = STATE) -> None:
    """Keep the record; a kill leaves the old one or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(_path(record.kind, record.seed, record.version, folder), ".json") as draft:
        draft.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")


def _path(kind: str, seed: int, version: str, folder: Path) -> Path:
    return folder / f"{kind.replace(':', '_')}-{seed}-{version}.json"
