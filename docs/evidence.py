"""`python docs/evidence.py` writes docs/evidence.md: for every promise of the README a figure that supports it.

A promise is marked in the README by `<!-- evidence: key -->`; a row here has the same key. Figures are read from the
files of results, whose age is noted beside them (`versions.json`, `benchmarks/results.json`). What tests show has no
figure.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
EXPERIMENTS, BENCHMARKS = ROOT / "experiments", ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "evidence.md"
PRIOR_CHANGED = "2026-11-18"  # `posterior` has since then the prior and the sampler that it has now
MARKER = re.compile(r"<!-- evidence: ([a-z ,-]+) -->")


@dataclass(frozen=True, slots=True)
class Figures:
    """Ours, and what the rival of the same run reached."""

    own: str
    rival: str


NOT_RECORDED = Figures("not recorded yet", "")


@dataclass(frozen=True, slots=True)
class Row:
    """A promise, what supports it, and the command that repeats it."""

    key: str
    claim: str
    command: str
    source: str  # a file of results, a benchmark (`bench:learn`), or a file or folder of tests
    figures: Callable[[], Figures] | None = None  # None: tests show it
    changed: str = ""  # the day of the last change of the method that should move the figures


def results(name: str) -> pl.DataFrame:
    """A file of results of an experiment."""
    return pl.read_csv(EXPERIMENTS / name, infer_schema_length=None)


def benchmark(name: str) -> dict[str, dict[str, dict[str, float]]]:
    """The cases of a benchmark; empty if it was not recorded."""
    kept = json.loads(BENCHMARKS.read_text(encoding="utf-8")) if BENCHMARKS.exists() else {}
    return kept.get(name, {}).get("cases", {})


# Figures --------------------------------------------------------------------------------------------------------------


def accuracy() -> Figures:
    names = ("posterior", "qmapc", "ml")
    draws = results("guo/results/kl.csv").pivot(on="method", index=["network", "cell", "draw"], values="kl")
    cells = draws.drop_nulls(names).group_by("network", "cell").agg(pl.col(names).mean())
    ahead = int((cells["posterior"] < cells["qmapc"]).sum())
    means = {name: cells[name].mean() for name in names}
    return Figures(
        f"mean divergence from the truth {means['posterior']:.3f}; ahead in {ahead} of {len(cells)} cells",
        f"best published method (qMAP with constraints) {means['qmapc']:.3f}, data alone {means['ml']:.3f}",
    )


def published_networks() -> Figures:
    from experiments.published.report import read_trials

    every = read_trials(EXPERIMENTS / "published" / "results" / "trials.csv").filter(pl.col("rows") <= 100)
    found = every.filter(pl.col("condition") == "none")
    credo, laplace, bdeu = (found.filter(pl.col("method") == name) for name in ("credo", "laplace", "bdeu10"))

    def held(kind: str) -> str:
        return f"{credo[f'{kind} within 95%'].sum() / credo[kind].sum():.0%}"

    own, rival = "", ""
    for condition, what in (("five", "five statements a variable"), ("wrong-20", "a fifth of five wrong")):
        if means := with_statements(every, condition):
            best = min((name for name in means if name != "credo"), key=lambda name: means[name])
            own += f"; with {what} {means['credo']:.4f}"
            rival += f"; with {what} the best of {len(means) - 1} published methods {means[best]:.4f} ({best})"
    return Figures(
        f"weighted divergence {credo['weighted'].mean():.4f} over {credo['network'].n_unique()} networks, 30 and 100 "
        f"rows; 95% intervals hold {held('numbers')} of CPT numbers, {held('shares')} of shares, {held('answers')} of "
        f"answers{own}",
        f"Laplace {laplace['weighted'].mean():.4f}, BDeu(10) {bdeu['weighted'].mean():.4f}{rival}",
    )


def with_statements(every: pl.DataFrame, condition: str) -> dict[str, float]:
    """Mean weighted divergence of credo and of published methods that know statements, on trials that all ran."""
    from experiments.published.trials import KNOWING

    methods = ["credo", *KNOWING]
    found = every.filter(pl.col("condition") == condition, pl.col("method").is_in(methods)).drop_nulls("weighted")
    trial = ["network", "rows", "draw"]
    found = found.filter(pl.col("method").count().over(trial) == len(methods))
    return dict(found.group_by("method").agg(pl.col("weighted").mean()).iter_rows())


def sites() -> Figures:
    found = results("sites/results/trials.csv").filter(pl.col("rows") == 20)
    mean = {tuple(key): d for *key, d in found.group_by("alike", "method").agg(pl.col("divergence").mean()).iter_rows()}
    kinds = sorted({kind for kind, _ in mean})

    def each(method: str) -> str:
        return ", ".join(f"{mean[kind, method]:.3f}" for kind in kinds)

    return Figures(
        f"divergence at sites of 20 rows that are more or less alike ({'; '.join(kinds)}): {each('credo')}",
        f"rows pooled {each('pooled')}, alone {each('alone')}, related data sets {each('related')}",
    )


def questions() -> Figures:
    found = results("questions/results/answers.csv").filter(pl.col("expert") == "right", pl.col("answers") == 3)
    first = results("questions/results/answers.csv").filter(pl.col("expert") == "right", pl.col("answers") == 0)
    share = {
        (target, strategy): found.filter(pl.col("target") == target, pl.col("strategy") == strategy)["error"].mean()
        / first.filter(pl.col("target") == target, pl.col("strategy") == strategy)["error"].mean()
        for target in found["target"].unique()
        for strategy in found["strategy"].unique()
    }

    def left(strategy: str) -> str:
        one, all_of_it = share["probability", strategy], share["whole network", strategy]
        return f"{one:.0%} of the error of a probability, {all_of_it:.0%} of the network's"

    return Figures(
        f"three answers leave {left('credo')}",
        "; ".join(f"{name} {left(name)}" for name in ("by weight", "random")),
    )


def statements_hold() -> Figures:
    found = results("guo/results/kl.csv").group_by("method").agg(pl.col("violated").sum(), pl.len())
    at = {row["method"]: row for row in found.iter_rows(named=True)}
    own = sum(at[name]["violated"] for name in ("posterior", "cml", "cme", "qmapc"))
    fits = sum(at[name]["len"] for name in ("posterior", "cml", "cme", "qmapc"))
    return Figures(
        f"{own:g} statements violated in {fits:,} fits",
        f"without constraints (MAP) {at['map']['violated'] / at['map']['len']:,.0f} in each fit",
    )


def few_data() -> Figures:
    found = results("prior/results/kl.csv").filter(pl.col("share") == 0)
    both = found.pivot(on="method", index=["network", "rows", "draw"], values="kl").drop_nulls(
        ["posterior", "hierarchical", "backing_off"]
    )
    return Figures(
        f"without statements: divergence {both['posterior'].mean():.3f}, mean of {both['network'].n_unique()} networks",
        f"hierarchical model {both['hierarchical'].mean():.3f}, HDP smoothing {both['backing_off'].mean():.3f}",
    )


def contradictions() -> Figures:
    found = results("doubt/results/trials.csv")
    auc, least = found["auc"].mean(), found["auc"].min()
    treatments = ("doubt", "as given", "left out")
    wide = found.pivot(on="treatment", index=["network", "draw", "wrong"], values="kl").drop_nulls(treatments)
    means = {share: wide.filter(pl.col("wrong") == share).select(treatments).mean().row(0) for share in (10, 20)}
    names = wide.filter(pl.col("wrong").is_in([10, 20]))["network"].n_unique()

    def each(place: int) -> str:
        return " and ".join(f"{means[share][place]:.3f}" for share in means)

    return Figures(
        f"wrong statements found with AUC {auc:.3f} (at least {least:.3f}); divergence with a tenth and a fifth wrong, "
        f"mean of {names} networks, {each(0)}",
        f"taken as given {each(1)}; knowing which are wrong {each(2)}",
    )


def _coverage(pattern: str) -> str:
    found = results("calibration/results/trials.csv").filter(pl.col("case").str.contains(pattern))
    share = found["within 95%"].sum() / found["probabilities"].sum()
    return f"{share:.1%} of {found['probabilities'].sum():,} true probabilities in their 95% intervals"


def intervals() -> Figures:
    return Figures(_coverage(".*"), "95% would be exact")


def missing_values() -> Figures:
    found = results("liao/results/missing.csv").group_by("share").agg(pl.col("kl").mean())
    mean = dict(found.iter_rows())
    return Figures(
        f"{_coverage('missing|hidden')}; EM with knowledge: divergence {mean[100]:.3f}",
        f"95% would be exact; EM without knowledge {mean[0]:.3f}",
    )


def noisy_families() -> Figures:
    found = results("yang/results/curves.csv").filter(pl.col("rows") == 40)
    auc = {tuple(key): a for *key, a in found.group_by("group", "learner").agg(pl.col("auc").mean()).iter_rows()}
    return Figures(
        f"AUC at 40 rows, binary features {auc['posterior', 'synergy + noisy-OR']:.3f}",
        f"logistic regression on the same features {auc['peers', 'logistic regression']:.3f}, on raw numbers "
        f"{auc['peers', 'logistic regression, raw']:.3f}",
    )


def ties() -> Figures:
    found = results("yao/results/rivals.csv")
    mean = {tuple(key): f for *key, f in found.group_by("learner", "share").agg(pl.col("f").mean()).iter_rows()}
    few, many = 0.2, 0.6
    return Figures(
        "; ".join(
            f"F of clusters with ties for {share:.0%} of rows {mean['credo', share]:.3f}, merged "
            f"{mean['credo, merged', share]:.3f}"
            for share in (few, many)
        ),
        f"COP-KMeans {mean['COP-KMeans', few]:.3f} and {mean['COP-KMeans', many]:.3f}; StepMix, without ties, "
        f"{mean['StepMix', few]:.3f}",
    )


def classifier() -> Figures:
    from experiments.classifier.report import lead, tuned_rivals, usual_rivals

    found = results("classifier/results/trials.csv")
    sizes = ("20", "40", "80", "160")
    own, rival = [], []
    for title, rows in (("seventeen tables", usual_rivals(found)), ("29 tables, tuned rivals", tuned_rivals(found))):
        for measure, name in (("auc", "AUC"), ("log_loss", "log-loss")):
            leads = [lead(rows, measure, size) for size in sizes]
            own.append(f"mean {name} at {', '.join(sizes)} rows, {title}: {', '.join(f'{x.own:.3f}' for x in leads)}")
            rival.append(", ".join(f"{x.rival} {x.other:.3f} (± {x.error:.3f})" for x in leads))
    held = (
        results("classifier/results/coverage.csv")
        .group_by("learner")
        .agg(pl.col("within 95%").sum() / pl.col("points").sum(), pl.col("error").mean())
    )
    shares = {name: (share, error) for name, share, error in held.iter_rows()}
    own.append(
        f"95% intervals hold {shares['credo'][0]:.0%} of true probabilities in simulated tables, of nine kinds of "
        f"truth, three of them not additive; mean error {shares['credo'][1]:.3f}"
    )
    bootstrap = shares["logistic regression, bootstrap"]
    rival.append(f"bootstrap of logistic regression {bootstrap[0]:.0%}, {bootstrap[1]:.3f}")
    return Figures("; ".join(own), "; ".join(rival))


def checks() -> Figures:
    cases = list(benchmark("checks").values())
    if not cases:
        return NOT_RECORDED
    found = cases[0]
    return Figures(
        f"verdict right for {found['right']:.0f} of {found['knowledges']:.0f} random knowledge files, "
        f"{found['contradictory']:.0f} of them contradictory; {found['smallest']:.0f} of {found['conflicts']:.0f} "
        f"named conflicts are as small as they claim to be; {found['credo']:.1f} s of processor time",
        f"a linear program (HiGHS), the judge, names no statement; {found['HiGHS']:.1f} s",
    )


def report() -> Figures:
    found = benchmark("explain").get("andes, cmap")
    if not found:
        return NOT_RECORDED
    return Figures(
        f"Andes with {found['statements']:,} statements: one page of {found['bytes'] / 1e6:.1f} MB that loads "
        f"{found['loads']} things from elsewhere; explained and written in {found['explain'] + found['page']:.1f} s of "
        "processor time",
        "none known",
    )


def much_data() -> Figures:
    cases = benchmark("scale")
    both = {
        title.removesuffix(", workers"): (cases[title], cases[title.replace("workers", "threads")])
        for title in cases
        if title.endswith("workers") and title.replace("workers", "threads") in cases
    }
    if not both:
        return NOT_RECORDED
    title = max(both, key=lambda each: (each.startswith("em"), both[each][0]["busy"]))
    workers, threads = both[title]
    own = (
        f"an iteration of EM on {title.removeprefix('em, ')} by two workers of a cluster {workers['busy']:.2f} s of "
        f"processor time, by two threads {threads['busy']:.2f} s: {threads['busy'] / workers['busy']:.0%} efficient"
    )
    slow = [each for each in cases if each.endswith("group-by")]
    ratio = cases[slow[-1]]["busy"] / cases[slow[-1].replace("group-by", "workers")]["busy"] if slow else 0.0
    return Figures(own, f"counting by Dask's group-by: {ratio:.0f} times credo's processor time" if slow else "–")


def files() -> Figures:
    cases = {name: each for name, each in benchmark("read_bif").items() if each.get("apart")}
    if not cases:
        return NOT_RECORDED
    texts = {}
    for program in ("credo", "pyAgrum", "pgmpy"):
        own = [each["apart"][program] for each in cases.values()]
        exact = sum(each["read"] == 0 and each["written"] == 0 for each in own)
        off, failed = max((each["read"] or 0 for each in own), default=0), sum(each["read"] is None for each in own)
        times = [each[program] for each in cases.values() if isinstance(each[program], float)]
        texts[program] = f"{exact} of {len(own)} published networks exact, read and written again"
        texts[program] += f", others off by up to {off:.0e}" if off else ""
        texts[program] += f", {failed} not read" if failed else ""
        texts[program] += f"; {sum(times):.2g} s to read them"
    return Figures(texts["credo"], "; ".join(f"{name} {texts[name]}" for name in ("pyAgrum", "pgmpy")))


def speed() -> Figures:
    cases = [each for title, each in benchmark("learn").items() if title.startswith("From the CSV file")]
    if not cases:
        return NOT_RECORDED
    own = cases[0]["credo_from_csv"]
    rivals = {name: cases[0][f"{name.lower()}_from_csv"] for name in ("pyAgrum", "pgmpy")}
    return Figures(
        f"{own['processor']:.1f} s of processor time, {own['peak']:,.0f} MB",
        "; ".join(f"{name} {each['processor']:.1f} s, {each['peak']:,.0f} MB" for name, each in rivals.items()),
    )


ROWS = (
    Row("accuracy", "learns CPTs from data and knowledge together", "python -m experiments.guo",
        "experiments/guo/results/kl.csv", accuracy, changed=PRIOR_CHANGED),
    Row("statements hold", "learns CPTs that satisfy the statements", "python -m experiments.guo",
        "experiments/guo/results/kl.csv", statements_hold),
    Row("few data", "made for few data", "python -m experiments.prior", "experiments/prior/results/kl.csv", few_data,
        changed=PRIOR_CHANGED),
    Row("contradictions", "says which statements the data contradict", "python -m experiments.doubt",
        "experiments/doubt/results/trials.csv", contradictions, changed=PRIOR_CHANGED),
    Row("intervals", "answers have credible intervals", "python -m experiments.calibration",
        "experiments/calibration/results/trials.csv", intervals, changed=PRIOR_CHANGED),
    Row("checks", "checks the statements against each other and against the data", "make bench JSON=1 ONLY=checks",
        "bench:checks", checks),
    Row("report", "a report that loads nothing from elsewhere", "make bench JSON=1 ONLY=explain", "bench:explain",
        report),
    Row("published networks", "close to the truth on published networks, with intervals that hold it",
        "python -m experiments.published", "experiments/published/results/trials.csv", published_networks),
    Row("studies", "takes an expert's numbers and published studies", "pytest tests/test_evidence_statements.py",
        "tests/test_evidence_statements.py"),
    Row("updates", "an update gives what learning from all rows gives", "pytest tests/test_updating.py",
        "tests/test_updating.py"),
    Row("sites", "sites that differ learn from each other", "python -m experiments.sites",
        "experiments/sites/results/trials.csv", sites),
    Row("fault trees", "gates and fault trees, exactly", "pytest tests/test_gates.py tests/io/test_open_psa.py",
        "tests/io/test_open_psa.py"),
    Row("questions", "asks an expert what helps most", "python -m experiments.questions",
        "experiments/questions/results/answers.csv", questions),
    Row("decisions", "decides as influence diagrams do, with how sure it is", "pytest tests/questions/test_decide.py",
        "tests/questions/test_decide.py"),
    Row("shared pages", "a shared page answers as credo does", "pytest tests/sharing", "tests/sharing"),
    Row("pictures", "pictures of CPTs, networks, knowledge, history and conflicts", "pytest tests/plot", "tests/plot"),
    Row("draws", "draws for ArviZ, and how far they can be trusted", "pytest tests/questions/test_labelled_draws.py",
        "tests/questions/test_labelled_draws.py"),
    Row("missing values", "missing values and hidden variables", "python -m experiments.liao.missing",
        "experiments/liao/results/missing.csv", missing_values),
    Row("noisy families", "noisy families with statements", "python -m experiments.yang",
        "experiments/yang/results/curves.csv", noisy_families, changed=PRIOR_CHANGED),
    Row("tied rows", "tied rows, clusters and topics", "python -m experiments.yao rivals",
        "experiments/yao/results/rivals.csv", ties),
    Row("much data", "tables larger than memory, or on a cluster, with the same result", "make bench JSON=1 ONLY=scale",
        "bench:scale", much_data),
    Row("classifier", "a classifier that takes knowledge about its features", "python -m experiments.classifier",
        "experiments/classifier/results/trials.csv", classifier),
    Row("files", "reads and writes the files of other programs, BIF exactly", "make bench JSON=1 ONLY=read_bif",
        "bench:read_bif", files),
    Row("silence", "nothing happens silently", "make fuzz", "tests/fuzz"),
    Row("mistakes", "mistakes are explained in your own words", "pytest tests/knowledge", "tests/knowledge"),
    Row("speed", "a million rows from the CSV file to the learned network", "make bench JSON=1 ONLY=learn",
        "bench:learn", speed),
)  # fmt: skip


# The page -------------------------------------------------------------------------------------------------------------


def age_of(row: Row) -> dict[str, str] | None:
    """When and with which version the oldest of its figures was made; None for tests, and if nothing is recorded.

    What was made again since, all rows of one method, is said by `again`.
    """
    if row.figures is None:
        return None
    if row.source.startswith("bench:"):
        kept = json.loads(BENCHMARKS.read_text(encoding="utf-8")) if BENCHMARKS.exists() else {}
        return kept.get(row.source.removeprefix("bench:"))
    file = ROOT / row.source
    notes = json.loads(file.with_name("versions.json").read_text(encoding="utf-8"))
    again = notes[file.name].get("again")
    return {**notes[file.name]["first"], **({"again": again["date"]} if again else {})}


def promises(readme: str) -> list[str]:
    """The keys that the README marks, in order."""
    return [key.strip() for found in MARKER.findall(readme) for key in found.split(",")]


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Evidence\n",
        "For every promise of the README the figure that supports it, and the figure of a rival on the same run. "
        "`python docs/evidence.py` writes this page from files of results; the pages of experiments have details, and "
        "say what did not come out as hoped: [accuracy](../experiments/guo/results/README.md), [the prior](prior.md), "
        "[published networks](published.md), [wrong statements](../experiments/doubt/results/README.md), [calibration]"
        "(../experiments/calibration/results/README.md), [missing values](../experiments/liao/results/missing.md), "
        "[noisy families](../experiments/yang/results/README.md), [ties](../experiments/yao/results/rivals.md), "
        "[topics](../experiments/yao/results/topic_rivals.md), [the classifier]"
        "(../experiments/classifier/results/README.md) and [its intervals]"
        "(../experiments/classifier/results/coverage.md). Divergences are in nats. Where tests show a "
        "promise, `make test` runs them at every change.\n",
        "| promise | credo | rival, same run | command | made |",
        "|---|---|---|---|---|",
    ]
    for row in ROWS:
        if row.figures is None:
            lines.append(f"| {row.claim} | tested | – | `{row.command}` | at every change |")
            continue
        found, age = row.figures(), age_of(row)
        made = f"{age['date']}, {age['version']}" if age else "–"
        if age and "again" in age:
            made += f"; credo's own figures {age['again']}"
        if age and age.get("again", age["date"]) < row.changed:
            made += ", before the last change of the method"
        lines.append(f"| {row.claim} | {found.own} | {found.rival} | `{row.command}` | {made} |")
    machine = (json.loads(BENCHMARKS.read_text(encoding="utf-8")) if BENCHMARKS.exists() else {}).get("learn", {})
    if machine:
        lines.append(f"\nTimes: {machine['machine']}, a machine with other work on it.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
