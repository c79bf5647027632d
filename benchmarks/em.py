"""Time of an EM iteration on incomplete rows, for credo and other programs: `python -m benchmarks.em`.

`em_contenders.py` defines the cases and how each program is run. Networks come from `../shared/networks`; cases whose
network is not there are skipped. Every program runs in its own process, on the same rows and from the same CPTs. Slow
programs process rows one by one; they get fewer rows, run one iteration, and their time is scaled to all rows (`*`).
Processor time (all cores together) is reported beside wall-clock time because it is less sensitive to other load.

`apart` is the relative difference between the log-likelihood after the iteration and credo's on the same rows. Other
programs also count barren variables (missing, without an observed descendant), which changes the M-step. Likelihoods
are therefore compared with a variant of credo that counts them too; its time is reported as `counting all`. pyAgrum
stops if a configuration has no data, so both programs get a small pseudo-count in that comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.em_contenders import data_of, network_of
from benchmarks.recording import record

# The goals
FASTER_THAN_PYAGRUM = 500
TEN_TIMES_THE_ROWS = 8
MEGABYTES = 200
APART = 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """The rows of a case, and how many of them each other program gets."""

    network: str
    rows: int
    programs: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.network} {self.rows:,}"


CASES = (
    Case("alarm", 512, {"pyagrum": 512}),
    Case("alarm", 5_000, {"pyagrum": 512}),
    Case("alarm", 50_000, {"pyagrum": 512}),
    Case("win95pts", 5_000, {"pyagrum": 64}),
    Case("andes", 512, {"pyagrum": 32}),
    Case("latent", 512, {"pyagrum": 512, "pgmpy": 512}),
    Case("mixture", 10_000, {"numpy_loop": 10_000, "stepmix": 10_000, "pyagrum": 256, "pgmpy": 1_000}),
)
Figures = dict[str, Any]


def main() -> None:
    """Measure all cases and print times, ratios, agreement and memory, and then which goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=512, help="the largest number of rows for pyAgrum and pgmpy")
    arguments = parser.parse_args()
    print(
        f"{'case':<16}{'program':<14}{'wall clock':>16}{'ratio':>12}{'processor':>16}{'ratio':>12}{'apart':>9}"
        f"{'memory':>9}  notes"
    )
    measured = {}
    for case in CASES:
        if network_of(case.network) is None:
            print(f"{case}: skipped, because its network is not there")
            continue
        measured[str(case)] = measure(case, arguments.rows)
    print_goals(measured)
    for network, rows in (("alarm", 5_000), ("mixture", 10_000)):
        if network_of(network) is not None:
            print_convergence(network, rows)


def measure(case: Case, most: int) -> dict[str, Figures]:
    """Print the figures of each program as they come, and return those of the programs that succeeded."""
    shares = {"credo": case.rows, "credo_counting_all": case.rows, **case.programs}
    found: dict[str, Figures] = {}
    for job, share in shares.items():
        part = min(share, most) if job in ("pyagrum", "pgmpy") else share
        figures = contend(job, case.network, case.rows, part)
        title = str(case) if job == "credo" else ""
        if isinstance(figures, str):
            print(f"{title:<16}{job:<14} {figures}", flush=True)
            continue
        figures |= {kind: figures[kind] * case.rows / part for kind in ("seconds", "busy")}
        mark = "" if part == case.rows else "*"
        figures["notes"] += f" ({part} rows)" if mark else ""
        found[job] = figures
        print(f"{title:<16}{line(job, figures, found.get('credo', figures), mark)}", flush=True)
    kept = {job: {kind: figures[kind] for kind in ("seconds", "busy", "peak")} for job, figures in found.items()}
    record("em", str(case), kept)
    return found


def line(job: str, figures: Figures, own: Figures, mark: str) -> str:
    """The figures of one program, with ratios to those of credo."""
    cells = [f"{job.removeprefix('credo_').replace('_', ' '):<14}"]
    for kind in ("seconds", "busy"):
        milliseconds = f"{1000 * figures[kind]:,.2f} ms{mark}"
        cells.append(f"{milliseconds:>16}{figures[kind] / own[kind]:>11,.2f}×")
    agreement = f"{figures['apart']:.0e}" if "apart" in figures else ""
    memory = f"{figures['peak']:.0f} MB"
    return f"{''.join(cells)}{agreement:>9}{memory:>9}  {figures['notes'].strip()}"


def contend(job: str, network: str, rows: int, part: int) -> Figures | str:
    """The figures of a program, or the last line of its error message."""
    command = [sys.executable, "-m", "benchmarks.em_contenders", job, network, str(rows), str(part)]
    # One thread for matrix products: with more, threads wait for each other on small matrices.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


# Goals ----------------------------------------------------------------------------------------------------------------


def print_goals(measured: dict[str, dict[str, Figures]]) -> None:
    """Print a line for each goal; ratios must hold in wall-clock time and in processor time."""
    print("\nGoals")
    for title in ("alarm 512", "andes 512"):
        print_ratios(
            f"{title}: at least {FASTER_THAN_PYAGRUM}× as fast as pyAgrum",
            ratios(measured, (title, "pyagrum"), (title, "credo")),
            at_least=FASTER_THAN_PYAGRUM,
        )
    print_ratios(
        "mixture 10,000: no slower than NumPy code for this model",
        ratios(measured, ("mixture 10,000", "numpy_loop"), ("mixture 10,000", "credo")),
        at_least=1,
    )
    print_ratios(
        f"alarm: 50,000 rows take at most {TEN_TIMES_THE_ROWS}× as long as 5,000",
        ratios(measured, ("alarm 50,000", "credo"), ("alarm 5,000", "credo")),
        at_most=TEN_TIMES_THE_ROWS,
    )
    used = [found["credo"] for found in measured.values() if "credo" in found]
    peak, total = (max((figures[kind] for figures in used), default=0.0) for kind in ("peak", "total"))
    print_goal(
        f"all cases: less than {MEGABYTES} MB of memory above that of imports",
        peak < MEGABYTES,
        f"at most {peak:.0f} MB; {total:.0f} MB with Python, libraries and compiled code",
    )
    shares = [figures["apart"] for found in measured.values() for figures in found.values() if "apart" in figures]
    print_goal(
        f"all programs: the log-likelihood after the iteration agrees to {APART:.0e}",
        max(shares, default=0.0) <= APART,
        f"largest difference {max(shares, default=0.0):.0e}, {len(shares)} comparisons",
    )


def ratios(
    measured: dict[str, dict[str, Figures]], upper: tuple[str, str], lower: tuple[str, str]
) -> tuple[float, float] | None:
    """The ratio of the times of two (case, program) pairs, in wall-clock time and in processor time."""
    one, two = (measured.get(case, {}).get(job) for case, job in (upper, lower))
    if one is None or two is None:
        return None
    return one["seconds"] / two["seconds"], one["busy"] / two["busy"]


def print_ratios(
    text: str, found: tuple[float, float] | None, at_least: float = 0.0, at_most: float = float("inf")
) -> None:
    if found is None:
        print(f"  not measured  {text}")
        return
    clock, processors = found
    met = min(found) >= at_least and max(found) <= at_most
    print_goal(text, met, f"{clock:,.2f}× in wall-clock time, {processors:,.2f}× in processor time")


def print_goal(text: str, met: bool, figures: str) -> None:
    print(f"  {'met' if met else 'NOT MET':<12}  {text}: {figures}")


# To convergence -------------------------------------------------------------------------------------------------------


def print_convergence(case: str, rows: int) -> None:
    """One start to convergence, with and without acceleration."""
    from credo.estimation.counting import counting_step
    from credo.estimation.em.driver import run_em
    from credo.io.dataset import Dataset
    from credo.options import EMOptions
    from credo.statistics.counts import layout_for_counts
    from credo.statistics.inference.expected_counts import prepare
    from credo.statistics.prior import Dirichlet, prior_vector

    network, codes = data_of(case, rows)
    prepared = prepare(layout_for_counts(network), Dataset(network.names, codes))
    print(f"\nTo convergence: {case} {rows:,}, one start, tolerance 1e-8")
    for prior in (0.0, 1.0):
        for accelerate in (False, True):
            start = time.perf_counter()
            result = run_em(
                network.without_cpts(),
                prepared,
                counting_step(prepared.layout, prior_vector(Dirichlet(prior), prepared.layout)),
                EMOptions(starts=1, accelerate=accelerate, max_iterations=5000),
            )
            seconds = time.perf_counter() - start
            print(
                f"  pseudo-count {prior:g}, acceleration {'on ' if accelerate else 'off'}: {seconds:>6.2f} s, "
                f"{result.iterations:>5} E-steps, objective {result.objective:.4f}, {result.ended.name.lower()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
