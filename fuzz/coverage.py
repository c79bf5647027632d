"""Coverage-guided fuzzing of one reader with Atheris: `python -m fuzz.coverage bif -max_total_time=60`.

Atheris is optional and not a dependency (`pip install atheris`). It changes bytes on its own and keeps those inputs
that reach new code, from a corpus in `fuzz/state/corpus-KIND` that starts with a few inputs of the kind. What must hold
is what the kind checks. Options after the kind are those of libFuzzer.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from fuzz.state import FOUND, STATE

READERS = ("knowledge", "bif", "xmlbif", "xdsl", "uai", "net", "dsl", "csv", "saved")
STARTING = 50  # inputs of the kind


def main() -> None:
    """Run libFuzzer on a kind whose inputs are files."""
    try:
        import atheris
    except ImportError:
        sys.exit("Coverage-guided fuzzing needs Atheris: pip install atheris")
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"usage: python -m fuzz.coverage KIND [options of libFuzzer]; KIND is one of {', '.join(READERS)}")
    name = sys.argv.pop(1)
    folder = Path(tempfile.mkdtemp(prefix="credo-fuzz-"))
    with atheris.instrument_imports(include=["credo"]):
        from fuzz.failures import run_input
        from fuzz.kind import kind_named, make_input, to_bytes

        kind = kind_named(name)
        starting = [to_bytes(make_input(kind, 0, number)) for number in range(STARTING)]
        for content in starting:  # much is imported when it is first used
            run_input(kind, content, folder)
    corpus = STATE / f"corpus-{name}"
    if not corpus.exists():
        corpus.mkdir(parents=True)
        for number, content in enumerate(starting):
            (corpus / f"start-{number}").write_bytes(content)
    FOUND.mkdir(parents=True, exist_ok=True)
    options = ["-timeout=10", "-rss_limit_mb=4096", f"-artifact_prefix={FOUND}/{name}-coverage-", *sys.argv[1:]]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda content: run_input(kind, content, folder) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
