"""Time of explanations and reports, and the size of a page: `python -m benchmarks.explain`.

Alarm and Andes with thirty true statements for each variable and 1,000 rows, or made-up networks of their size if the
published ones are not there. Times are wall-clock time and, in brackets, processor time, which is less sensitive to
other load; the goals refer to wall-clock time.
"""

from __future__ import annotations

import re
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.recording import record
from credo.fitting import fit
from credo.io.network_files import read_network
from credo.knowledge import Knowledge
from credo.model.network import Network
from credo.report.fit_page import fit_page
from credo.testing import alarm_like_network, andes_like_network, true_statements

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "networks"
PER_VARIABLE = 30
LOADED = re.compile(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(\s*["']?(?:https?:)?//|@import""")  # from elsewhere
ROWS = 1_000
# The goals
EXPLAIN_ALARM = 5.0  # seconds
REPORT_ANDES = 30.0  # seconds, explanation and page
PAGE_ANDES = 2_000_000  # bytes


def main() -> None:
    """Print a table and which goals are met."""
    print(f"{'':<22}{'statements':>11}{'explain':>19}{'page':>19}{'size':>10}")
    for method in ("cmap", "posterior"):
        alarm = measure("alarm", network_of("alarm"), method)
        andes = measure("andes", network_of("andes"), method)
        for goal, met in (
            (f"Alarm is explained in {EXPLAIN_ALARM:g} s", alarm[0] <= EXPLAIN_ALARM),
            (f"Andes is reported in {REPORT_ANDES:g} s", andes[0] + andes[1] <= REPORT_ANDES),
            (f"the page of Andes is below {PAGE_ANDES:,} bytes", andes[2] < PAGE_ANDES),
        ):
            print(f"  {'met' if met else 'NOT MET'}: {goal}")


def network_of(name: str) -> Network:
    """The published network, or a made-up one of its size."""
    path = NETWORKS / f"{name}.bif"
    if path.exists():
        return read_network(path)
    return andes_like_network() if name == "andes" else alarm_like_network()


def measure(name: str, network: Network, method: str, per_variable: int = PER_VARIABLE) -> tuple[float, float, int]:
    """Print a line; return the seconds of the explanation and of the page, and the size of the page in bytes."""
    knowledge = Knowledge(network, true_statements(network, per_variable, seed=2))
    learned = fit(network, network.sample(ROWS, seed=3), knowledge, method=method)
    started, busy = perf_counter(), process_time()
    explanation = learned.explain()
    explained, explaining = perf_counter() - started, process_time() - busy
    started, busy = perf_counter(), process_time()
    page = fit_page(learned, explanation)
    size = len(page.encode())
    written, writing = perf_counter() - started, process_time() - busy
    record(
        "explain",
        f"{name}, {method}",
        {
            "statements": len(knowledge.statements),
            "explain": explaining,
            "page": writing,
            "bytes": size,
            "loads": len(LOADED.findall(page)),
        },
    )
    times = f"{explained:>8.2f} s ({explaining:>5.2f}){written:>8.2f} s ({writing:>5.2f})"
    print(f"{f'{name}, {method}':<22}{len(knowledge.statements):>11,}{times}{size / 1e6:>7.2f} MB", flush=True)
    return explained, written, size


if __name__ == "__main__":
    main()
