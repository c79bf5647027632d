"""Learning in a process of its own: a job comes as JSON on the input, events go as lines of JSON to the output.

The fit, its explanation and its report are files; the studio reads them when an event says that they are complete.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from credo.progress import ProgressEvent, ProgressListener

if TYPE_CHECKING:
    from credo.results.fit_results import Fit

EVERY = 0.1  # seconds between two events of the same phase


def main() -> int:
    """Do one job."""
    job = json.loads(sys.stdin.readline())
    output = sys.stdout
    sys.stdout = sys.stderr  # whatever else is printed is not an event

    def send(**event: Any) -> None:
        output.write(json.dumps(event) + "\n")
        output.flush()

    from credo.errors import CredoError

    try:
        _learn(job, send)
    except CredoError as error:
        send(event="error", message=str(error))
        return error.exit_code
    except MemoryError:
        send(event="error", message="There was not enough memory.")
        return 2
    except BrokenPipeError:  # the studio is gone
        os._exit(1)
    return 0


def _learn(job: dict[str, Any], send: Any) -> None:
    """Learn and save, or take what was saved; then explain it, and write the report."""
    from credo.saving.fits import load
    from credo.studio.result_data import explanation_data

    last = ("", 0.0)

    def progress(event: ProgressEvent) -> None:
        nonlocal last
        now = monotonic()
        if event.phase != last[0] or now - last[1] >= EVERY or event.share == 1.0:
            last = (event.phase, now)
            send(event="progress", phase=event.phase, share=event.share, detail=event.detail)

    folder = Path(job["folder"])
    if "fit" in job:
        found = load(job["fit"])
    else:
        found = _fit(job, progress)
        found.save(folder / "learned.fit")
        send(event="fitted")
    explanation = found.explain(progress=progress)
    content = explanation_data(found, explanation)
    (folder / "explanation.json").write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    send(event="explained")
    found.report(folder / "report.html", explanation=explanation, progress=progress)
    send(event="done")


def _fit(job: dict[str, Any], progress: ProgressListener) -> Fit:
    from credo.fitting import fit
    from credo.io.network_files import read_network
    from credo.options import EMOptions
    from credo.studio.table import table_of_job

    text = job["text"] + "\n"
    network = None if job["network"] is None else read_network(job["network"])
    options = job["options"]
    table = table_of_job(job["data"])
    return fit(
        text if network is None else network,
        None if table is None else table.data,
        None if network is None else text,
        method=options["method"],
        prior=options["prior"] or None,
        seed=options["seed"],
        em=EMOptions(starts=options["starts"], complete_rows=options["complete_rows"] and table is not None),
        progress=progress,
    )


if __name__ == "__main__":
    sys.exit(main())
