"""How long first calls take, without any compiled code in the cache: `python -m benchmarks.cold_start`.

Each case runs in a process of its own, with a cache folder of its own that is empty. Columns: seconds of processor time
and of the clock until the process has ended, and how many functions were compiled. Methods are called on the brain
tumour example (six variables, thirty patients), complete and with a tenth of the values missing. Commands run once more
with what the first run has compiled. pgmpy and pyAgrum count the same table, where they are installed. On a busy
machine, trust the processor time.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import credo
from benchmarks.recording import record

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "brain-tumour"
README = Path(__file__).resolve().parents[1] / "README.md"
CLI = "from credo.cli.app import main; main()"
SETUP = f"""
import credo
import polars as pl
network = credo.read_network(r"{EXAMPLE / "brain-tumour.bif"}").without_cpts()
knowledge = open(r"{EXAMPLE / "brain-tumour.credo"}").read()
complete = r"{EXAMPLE / "patients.csv"}"
"""
MISSING = """
import numpy as np
rows = pl.read_csv(complete, infer_schema=False)
generator = np.random.default_rng(1)
missing = pl.DataFrame(generator.random(rows.shape) < 0.1, schema=rows.columns)
incomplete = rows.select(pl.when(~missing[name]).then(pl.col(name)).alias(name) for name in rows.columns)
"""
# What `posterior` needs updates of its own for, on the same example: knowledge, and options of `fit`.
POSTERIORS = {
    "any probability": ("P(coma=yes) <= 0.3\nP(brain_tumour=yes | coma=yes) >= 0.2", ""),
    "doubt": ("brain_tumour raises coma\nP(ct_scan=positive | brain_tumour=no) <= 0.15", ", doubt=True"),
    "noisy family": ("coma is noisy-or of {brain_tumour}, {serum_calcium}", ""),
}
PGMPY = """
import pandas as pd
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteMLE
frame = pd.read_csv(complete)
model = DiscreteBayesianNetwork([(p, c) for c, ps in network.parents.items() for p in ps])
model.fit(frame, estimator=DiscreteMLE())
"""
PYAGRUM = f"""
import pyagrum
model = pyagrum.loadBN(r"{EXAMPLE / "brain-tumour.bif"}")
pyagrum.BNLearner(complete, model).learnParameters(model.dag())
"""


def cases() -> dict[str, list[str]]:
    """The arguments of Python for each case, by its name."""
    from credo.estimation.methods import METHODS

    def code(*lines: str) -> list[str]:
        return ["-c", "\n".join((SETUP, *lines))]

    learn = ["learn", str(EXAMPLE / "brain-tumour.bif"), str(EXAMPLE / "patients.csv"), "-k"]
    found = {
        "import credo": ["-c", "import credo"],
        "README": ["-c", README.read_text().split("```python")[1].split("```")[0]],
        "credo demo": ["-c", CLI, "demo"],
        "credo learn": ["-c", CLI, *learn, str(EXAMPLE / "brain-tumour.credo")],
        "check": code("print(credo.check(network, knowledge, data=complete))"),
    }
    for name in METHODS:
        found[name] = code(f"credo.fit(network, complete, knowledge, method={name!r})")
    for name in METHODS:
        found[f"{name}, incomplete"] = code(MISSING, f"credo.fit(network, incomplete, knowledge, method={name!r})")
    for name, (text, options) in POSTERIORS.items():
        found[name] = code(f"credo.fit(network, complete, {text!r}{options})")
    tied = "credo.fit(network, rows.drop('metastatic_cancer'), 'rows 1, 2, 3 share metastatic_cancer')"
    found["ties"] = code(MISSING, tied)
    found["explain"] = code("print(credo.fit(network, complete, knowledge, method='cmap').explain())")
    found["report"] = code("credo.fit(network, complete, knowledge, method='cmap').report('report.html')")
    found["save, load, query"] = code(
        "fit = credo.fit(network, complete, knowledge)",
        "print(credo.load(fit.save('model.fit')).query('P(coma=yes | ct_scan=positive)'))",
    )
    questions = "p = credo.read_network(r'" + str(EXAMPLE / "brain-tumour.bif") + "'); q = p.with_cpts(p.cpts)"
    found["questions"] = code(MISSING, questions, "q.sample(100, 1); q.kl(p); q.log_likelihood(incomplete)")
    return found


def peers() -> dict[str, list[str]]:
    """First calls of other libraries that count the same table."""
    found = {}
    for module, lines in (("pgmpy", PGMPY), ("pyagrum", PYAGRUM)):
        if importlib.util.find_spec(module) is not None:
            found[f"{module}, ml"] = ["-c", SETUP + lines]
    return found


def measure(arguments: list[str], cache: Path, folder: Path) -> tuple[float, float, int, bool]:
    """Seconds of processor time and of the clock, functions that were compiled, and whether it went well."""
    known = len(list(cache.rglob("*.nbc")))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(done.stderr[-500:])
    return used, seconds, len(list(cache.rglob("*.nbc"))) - known, done.returncode == 0


def main() -> None:
    """Run the cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", help="by default all; a case is chosen by the beginning of its name")
    chosen = parser.parse_args().cases

    def wanted(name: str) -> bool:
        return not chosen or any(name.startswith(start) for start in chosen)

    package = Path(credo.__file__).parent
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)  # as an installation does
    print(f"{'first call':<24}{'CPU s':>8}{'clock s':>9}{'compiled':>10}")
    for name, arguments in (cases() | peers()).items():
        if not wanted(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            _print(name, measure(arguments, Path(folder) / "cache", Path(folder)))
            if name in ("credo learn", "credo demo"):
                _print(f"{name}, again", measure(arguments, Path(folder) / "cache", Path(folder)))


def _print(name: str, measured: tuple[float, float, int, bool]) -> None:
    used, seconds, compiled, good = measured
    if good:
        record("cold_start", name, {"processor": used, "seconds": seconds, "compiled": compiled})
    print(f"{name:<24}{used:>8.2f}{seconds:>9.2f}{compiled:>10}{'' if good else '  failed'}", flush=True)


if __name__ == "__main__":
    main()
