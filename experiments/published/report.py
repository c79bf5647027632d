"""From stored trials to the page: accuracy, what influences change, coverage, status and time, for each half.

A figure is the mean over families of networks; a family's is the mean over its networks and their draws. Standard
errors are over families. Differences are between methods on the same trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from experiments.published.measures import KINDS, LEVELS, MEASURES, within
from experiments.published.networks import HALVES, half_of
from experiments.published.side_by_side import section
from experiments.published.trials import CONDITIONS, FOR_DOUBT, KNOWING, METHODS

TRIAL = ("network", "family", "rows", "draw")
BEFORE = "before"  # the name of an older credo in tables
IN_HALVES = ("credo", BEFORE, "laplace", "bdeu10", "hierarchical", "shrunk", "hdp")  # others for both halves together
MUCH = 1.1  # how many times another divergence one is where it counts as clearly worse
LIMIT = 30  # seconds of processor time that a fit is to need at most
RIVALS = (
    "credo 'left out' trusting laplace bdeu10 pyagrum pgmpy bnlearn 'bnlearn hard-em' 'bnlearn hdir' qmap qmapc fcqmap "
    "camap mplc cpb irem"
)
NEWER = "wrong-20 wrong-10 five influences none none-missing"
RUN = "    python -m experiments.published --rows 30 100 --minutes 60 --methods"
MANY = RUN.replace("30 100", "300")
COMMANDS = f"""{RUN} credo laplace bdeu10 --cells 600 --draws 3 --conditions none
{RUN} credo laplace bdeu10 --cells 600 --draws 1 --conditions influences five none-missing
{RUN} hierarchical shrunk hdp --cells 200 --draws 1 --conditions none
{RUN} {RIVALS} --cells 200 --draws 1 --conditions {NEWER}
{RUN} qmap qmapc fcqmap camap mplc cpb irem --cells 600 --draws 1 --conditions five influences
{MANY} hierarchical shrunk hdp --cells 200 --draws 1 --conditions none
{MANY} {RIVALS} --cells 200 --draws 1 --conditions wrong-20 five influences none none-missing
    python -m experiments.published.side_by_side"""
INTRODUCTION = f"""# Published networks: credo beside its rivals

Networks that others published, most of them from real projects, are taken as the truth; rows are drawn from them, and
every method learns the CPTs from the same rows, given the structure. The networks are not part of this project; without
them the command runs on random ones. The page is written from stored results of these commands, each as far as it came:

{COMMANDS}
    python -m experiments.published --report

- *weighted*: Σ_j P(j) KL(θ_j ‖ θ'_j), the mean over CPTs in nats, where j are configurations of parents; *unweighted*:
  the mean over all configurations of all CPTs; *queries*: the mean absolute error of P(x | e) of random questions with
  one to three observed variables. Less is better. ± is a standard error over families: variants of one paper's network
  are one family.
- The families are split into two halves by a checksum of their names. No constant of credo was chosen on the held-out
  half while this study ran, but both halves were at hand before, and some of the networks are in everybody's papers.
- `influences`: all true statements "parent raises (lowers) child". `missing`: 30% of all values, completely at random.
- Rivals: `laplace` adds one to every count, `bdeu1` and `bdeu10` have equivalent sample sizes 1 and 10 (with missing
  values by EM). `hierarchical` [Azzimonti, Corani and Zaffalon, 2019], `shrunk` (hierarchical Dirichlet shrinkage
  [Dombowsky and Dunson, 2025], with hyperparameters that had to be guessed) and `hdp` [Petitjean, Buntine, Webb and
  Zaidi, 2018] take complete rows alone and know no statements.
- Packages: `pyagrum` is pyAgrum's EM with one added; `pgmpy` (BDeu, sample size 10) and `bnlearn` (R; its `bayes` with
  an imaginary sample size of 1) learn each CPT from rows that are complete in its variables; `bnlearn hard-em` imputes.
  From complete rows they learn what `laplace`, `bdeu10` and `bdeu1` do, which tests show. pgmpy's own EM is for
  variables that are never observed. `bnlearn hdir` wants one variable that is a parent of all others; here it learns
  CPT by CPT, with configurations of parents as its groups.
- Rivals that know statements, with what had to be guessed, since of most papers no full text was at hand: `qmap` and
  `qmapc` [guo]; `fcqmap` [Guo and others, 2017] replaces qmap's data estimate by one under which qmap's result
  satisfies the statements (guessed: this reading of "further constrained", and that the sample size is
  cross-validated); `camap` [Di, Wang, He and Guo, 2021] takes the best sample size in cross-validation among those at
  which statements hold (guessed: the prior's shape, the mean of what they allow, and the grid of sizes); `mplc` [Zhou,
  Fenton and Neil, 2014] is the mean of an auxiliary network in which numbers are uniform, counts binomial, and
  statements observed (guessed: statements between configurations, as in their later MPL-EC); `cpb` [Ru, Gao, Wang and
  Liu, 2023] adds rows drawn from CPTs made of rows and statements (guessed: the constrained mode, nine times as many
  rows, one added to every count); `irem` [Masegosa, Feelders and van der Gaag, 2016] is EM with an isotonic regression
  as its M-step, and knows influences alone (guessed: one added to every count).
- `wrong-10`, `wrong-20`: of five statements a variable, this share is made wrong: reversed, or a range that misses the
  truth by 10 to 30 points. `credo` doubts all of them, with a reliability that it learns; `left out` is credo told
  which ones are wrong; `trusting` is credo without doubt. It and rivals, none of which doubts, leave out what is in
  conflict.
"""


def read_trials(file: Path) -> pl.DataFrame:
    """The records of all trials in a file."""
    numbers = (*MEASURES, "seconds", "megabytes")
    return pl.read_csv(file, infer_schema_length=None).cast(dict.fromkeys(numbers, pl.Float64))


def write_page(results: pl.DataFrame, file: Path, compared: Path | None = None) -> str:
    """Write the page, and return its text; `compared` has results of the comparison with NumPyro, if it exists."""
    text = tables(results)
    if compared is not None and (lines := section(compared)):
        text += "\n" + "\n".join(lines)
    file.write_text(text, encoding="utf-8")
    return text


BEGIN, END = "<!-- published networks, written by experiments.published -->\n", "<!-- end -->\n"
NO_RIVALS = ("credo", BEFORE, *FOR_DOUBT)


def write_summary(results: pl.DataFrame, file: Path) -> None:
    """Put a table of all conditions into a page, between its marks."""
    before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    file.write_text(f"{before}{BEGIN}\n{summary_table(results)}\n{END}{after}", encoding="utf-8")


def summary_table(results: pl.DataFrame) -> str:
    """A line for each condition and number of rows: credo beside the nearest rival of the same trials, and coverage."""
    lines = [*_header("statements", "rows", "networks", "credo", "nearest rival", "credo − it", "clearly worse on",
                      "95% hold: CPT numbers", "shares", "answers")]  # fmt: skip
    for (condition, rows), here in _cells(results):
        mine = here.filter(pl.col("method") == "credo")
        both = {
            name: paired(mine, here.filter(pl.col("method") == name))
            for name in here["method"].unique()
            if name not in NO_RIVALS
        }
        nearest = max(both, key=lambda name: family_mean(both[name], "weighted change")[0])
        pairs = both[nearest]
        lines.append(
            _row(
                condition, rows, pairs["network"].n_unique(), _figure(family_mean(pairs, "weighted")), nearest,
                _change(pairs, "weighted"), _count(pairs, "weighted", MUCH),
                *(_covered(mine, kind, 0.95) for kind in ("numbers", "shares", "answers")),
            )
        )  # fmt: skip
    return "\n".join(lines) + "\n"


def beside(results: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The same with what another run has: its credo as `before`, and methods that this one did not run."""
    renamed = others.with_columns(pl.col("method").replace("credo", BEFORE))
    added = renamed.join(results, on=(*TRIAL, "condition", "method"), how="anti")
    return pl.concat([results, added], how="diagonal_relaxed")


def tables(results: pl.DataFrame) -> str:
    """The page as Markdown."""
    results = results.with_columns(pl.col("network").map_elements(half_of, pl.String).alias("half"))
    return "\n".join([INTRODUCTION, *_sizes(results), *_accuracy(results), *_influences(results), *_coverage(results),
                      *_status(results), *_named(results), *_troubles(results)])  # fmt: skip


def family_mean(frame: pl.DataFrame, column: str) -> tuple[float, float, int]:
    """The mean over families of the mean over their networks, its standard error, and the number of families."""
    known = frame.drop_nulls(column)
    families = (
        known.group_by("family", "network").agg(pl.col(column).mean()).group_by("family").agg(pl.col(column).mean())
    )
    values = families[column]
    if not len(values):
        return float("nan"), float("nan"), 0
    spread = values.std() if len(values) > 1 else float("nan")
    return float(values.mean()), float(spread) / len(values) ** 0.5, len(values)  # type: ignore[arg-type]


def paired(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Trials that both have, with the difference of each measure."""
    both = one.drop_nulls("weighted").join(other.drop_nulls("weighted"), on=TRIAL, suffix=" other")
    return both.with_columns(
        (pl.col(measure) - pl.col(f"{measure} other")).alias(f"{measure} change") for measure in MEASURES
    )


# Sections -------------------------------------------------------------------------------------------------------------


def _sizes(results: pl.DataFrame) -> Iterator[str]:
    mine = results.filter(pl.col("method") == "credo")
    yield from _header("half", "networks", "families", "fits of credo")
    for half, own in _halves(mine):
        yield _row(half, own["network"].n_unique(), own["family"].n_unique(), len(own))
    yield ""
    yield (
        "How far the runs came: on how many networks credo ran, and on how many others did where they ran on fewer. "
        "What is not here has not run: larger networks, other numbers of rows, more draws.\n"
    )
    yield from _header("condition", "rows", "draws", "credo", "fewer")
    for (condition, rows), here in _cells(results):
        reached = dict(here.group_by("method").agg(pl.col("network").n_unique()).iter_rows())
        most = reached.get("credo", 0)
        fewer: dict[int, list[str]] = {}
        for method in METHODS:
            if 0 < reached.get(method, 0) < most:
                fewer.setdefault(reached[method], []).append(method)
        text = "; ".join(f"{count}: {', '.join(names)}" for count, names in sorted(fewer.items(), reverse=True))
        yield _row(condition, rows, here["draw"].n_unique(), most, text or "–")
    yield ""


def _accuracy(results: pl.DataFrame) -> Iterator[str]:
    yield "## Accuracy\n"
    yield (
        f"Differences are credo's figure minus the rival's, so that credo is ahead where they are negative. **Bold**: "
        f"by more than two standard errors, in either direction. The last column counts networks on which credo's "
        f"weighted divergence is more than {MUCH - 1:.0%} larger.\n"
    )
    several = results["half"].n_unique() > 1
    for (condition, rows), here in _cells(results):
        yield f"### {condition}, {rows} rows\n"
        yield from _header(
            "half", "method", "weighted", "unweighted", "queries", "credo − it, weighted", "unweighted", "queries",
            "ahead on, weighted", "unweighted", "clearly worse"
        )  # fmt: skip
        for half, own in _halves(here):
            mine = own.filter(pl.col("method") == "credo")
            for method in ("credo", BEFORE, *METHODS[1:]):
                its = own.filter(pl.col("method") == method)
                if not len(its) or (half in HALVES and several and method not in IN_HALVES):
                    continue
                figures = [_figure(family_mean(its, measure)) for measure in MEASURES]
                both = paired(mine, its)
                compared = [_change(both, measure) for measure in MEASURES]
                compared += [_count(both, measure, 1.0, ahead=True) for measure in MEASURES[:2]]
                compared.append(_count(both, "weighted", MUCH))
                yield _row(half, method, *figures, *([""] * 6 if method == "credo" else compared))
        yield ""


def _influences(results: pl.DataFrame) -> Iterator[str]:
    mine = results.filter(pl.col("method") == "credo")
    changed = _changed(mine)
    if not len(changed):
        return
    yield "## What statements change\n"
    yield (
        "credo with the statements minus credo without, on the same rows, where there are any statements. Where some "
        "are wrong, it doubts all of them.\n"
    )
    yield from _header(
        "half", "condition", "rows", "networks", "weighted", "unweighted", "queries",
        "worse on, weighted", f"by more than {MUCH - 1:.0%}", "worse on, unweighted", f"by more than {MUCH - 1:.0%}"
    )  # fmt: skip
    for (condition, rows), here in _cells(changed):
        for half, own in _halves(here):
            counts = [_count(own, measure, times) for measure in MEASURES[:2] for times in (1.0, MUCH)]
            figures = [_change(own, measure) for measure in MEASURES]
            yield _row(half, condition, rows, own["network"].n_unique(), *figures, *counts)
    yield ""


def _coverage(results: pl.DataFrame) -> Iterator[str]:
    known = results.filter(pl.col("method") == "credo").drop_nulls("numbers")
    if not len(known):
        return
    yield "## Coverage\n"
    yield (
        "Of 100 true values, how many are in credo's intervals (± standard error over families): numbers of CPTs, "
        "those of them that are 0 or 1, shares P(x), shares of variables with at least eight configurations, and "
        "answers to random questions P(x | e). Fits that did not mix are counted as the others.\n"
    )
    yield from _header("condition", "rows", "half", "level", "CPT numbers", "0 or 1", "shares", "8 or more", "answers")
    for (condition, rows), here in _cells(known):
        for half, own in _halves(here):
            for level in LEVELS:
                yield _row(condition, rows, half, f"{level:.0%}", *(_covered(own, kind, level) for kind in KINDS))
    yield ""


def _covered(own: pl.DataFrame, kind: str, level: float) -> str:
    share = (100 * pl.col(within(kind, level)) / pl.col(kind)).alias("share")
    mean, error, families = family_mean(own.filter(pl.col(kind) > 0).with_columns(share), "share")
    return f"{mean:.1f} ± {error:.1f}" if families else "–"


def _status(results: pl.DataFrame) -> Iterator[str]:
    yield "## Status and time\n"
    yield "Processor time of the fit alone, one core, beside other work of the machine.\n"
    yield from _header(
        "condition", "rows", "half", "fits", "AVERAGED", "seconds, mean", "most", f"above {LIMIT} s", "MB"
    )
    for (condition, rows), here in _cells(results.filter(pl.col("method") == "credo")):
        for half, own in _halves(here):
            averaged = (own["status"] == "AVERAGED").sum()
            seconds, memory = own["seconds"], own["megabytes"].max()
            times = (f"{seconds.mean():.1f}", f"{seconds.max():.0f}", (seconds > LIMIT).sum())
            share = f"{averaged} ({averaged / len(own):.0%})"
            yield _row(condition, rows, half, len(own), share, *times, "–" if memory is None else f"{memory:.0f}")
    yield ""
    yield "Other methods, over all their trials; what they learned is `VIOLATED` where a statement does not hold.\n"
    yield from _header("method", "trials", "networks", "seconds, mean", "most", "VIOLATED", "REFUSED", "why")
    for method in METHODS[1:]:
        if len(own := results.filter(pl.col("method") == method)):
            counted = [(own["status"] == status).sum() for status in ("VIOLATED", "REFUSED")]
            known = own["message"].cast(pl.String).drop_nulls().value_counts(sort=True)
            why = str(known[0, 0])[:80].replace("|", "/") if len(known) else "–"
            times = (f"{own['seconds'].mean():.2f}", f"{own['seconds'].max():.1f}")
            yield _row(method, len(own), own["network"].n_unique(), *times, *counted, why)
    yield ""


def _named(results: pl.DataFrame) -> Iterator[str]:
    mine = results.filter(pl.col("method") == "credo")
    laplace = results.filter(pl.col("method") == "laplace")
    yield f"## Networks on which credo loses by more than {MUCH - 1:.0%}, weighted\n"
    yield "How many times the other's divergence credo's is, over all rows and draws of a condition.\n"
    for condition in _conditions(results):
        own = pl.col("condition") == condition
        yield f"- {condition}, than Laplace: {_losers(paired(mine.filter(own), laplace.filter(own)))}"
        for method in KNOWING:
            both = paired(mine.filter(own), results.filter(own, pl.col("method") == method))
            if len(both):
                yield f"- {condition}, than {method}: {_losers(both)}"
    for condition in _conditions(changed := _changed(mine)):
        worse = _losers(changed.filter(pl.col("condition") == condition))
        yield f"- {condition}, than without the statements: {worse}"
    yield ""


def _losers(both: pl.DataFrame) -> str:
    means = both.group_by("network").agg(pl.col("weighted", "weighted other").mean())
    ratios = means.with_columns((pl.col("weighted") / pl.col("weighted other")).alias("times"))
    worse = ratios.filter(pl.col("times") > MUCH).sort("times", descending=True)
    names = ", ".join(f"{row['network']} ({row['times']:.2f})" for row in worse.iter_rows(named=True))
    return f"{len(worse)} of {len(means)}{': ' * bool(names)}{names}"


def _troubles(results: pl.DataFrame) -> Iterator[str]:
    """The trials in which credo did not average."""
    bad = results.filter(pl.col("method").is_in(["credo", *FOR_DOUBT]) & (pl.col("status") != "AVERAGED"))
    if not len(bad):
        return
    yield "## Where credo did not mix, or refused\n"
    for row in bad.sort("condition", "rows", "network").iter_rows(named=True):
        trial = f"{row['network']}, {row['rows']} rows, draw {row['draw']}, {row['condition']}"
        trial += f", {row['method']}" * (row["method"] != "credo")
        yield f"- {trial}: {row['status']} {row['message'] or ''}".rstrip()
    yield ""


# Parts of tables ------------------------------------------------------------------------------------------------------


def _changed(mine: pl.DataFrame) -> pl.DataFrame:
    """credo's trials with statements, each beside the one without on the same rows."""
    found = []
    for condition in _conditions(mine):
        without = "none-missing" if condition.endswith("missing") else "none"
        if condition != without:
            own = mine.filter(pl.col("condition") == condition, pl.col("statements") > 0)
            found.append(paired(own, mine.filter(pl.col("condition") == without)))
    return pl.concat(found) if found else mine.clear()


def _conditions(frame: pl.DataFrame) -> list[str]:
    present = set(frame["condition"])
    return [name for name in CONDITIONS if name in present]


def _cells(frame: pl.DataFrame) -> Iterator[tuple[tuple[str, int], pl.DataFrame]]:
    for condition in _conditions(frame):
        own = frame.filter(pl.col("condition") == condition)
        for rows in sorted(own["rows"].unique()):
            yield (condition, rows), own.filter(pl.col("rows") == rows)


def _halves(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for half in HALVES:
        if len(own := frame.filter(pl.col("half") == half)):
            yield half, own
    if frame["half"].n_unique() > 1:
        yield "both", frame


def _count(both: pl.DataFrame, measure: str, times: float, ahead: bool = False) -> str:
    """On how many networks credo's mean is above so many times the other's, or below it."""
    means = both.group_by("network").agg(pl.col(measure, f"{measure} other").mean())
    own, bound = means[measure], times * means[f"{measure} other"]
    return f"{(own < bound if ahead else own > bound + 1e-6).sum()} of {len(means)}"


def _change(both: pl.DataFrame, measure: str) -> str:
    mean, error, _ = family_mean(both, f"{measure} change")
    text = f"{mean:+.4f} ± {error:.4f}"
    return f"**{text}**" if abs(mean) > 2 * error else text


def _figure(found: tuple[float, float, int]) -> str:
    mean, error, _ = found
    return f"{mean:.4f} ± {error:.4f}"


def _header(*names: str) -> Iterable[str]:
    return [_row(*names), "|---" * len(names) + "|"]


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
