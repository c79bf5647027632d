"""The page of a fit and of a check: complete, safe, self-contained and small."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
import pytest

import credo
from credo import FileError, Network
from credo.drawing.network_boxes import Bar, cut_text, network_boxes
from credo.drawing.svg import tornado_svg
from credo.probability_texts import count_digits, percent_digits, short_percent
from credo.questions.marginals import fit_marginals
from credo.report.check_page import check_page
from credo.report.fit_page import fit_page
from credo.shipped import example
from credo.testing import made_up_network, true_statements
from tests.helpers.pages import anchors, demo, large_page
from tests.helpers.published import PUBLISHED_NETWORKS

EVIL = '<script>alert("x")</script>'
LIMIT = 2_000_000  # bytes of a page
BOLD = r"<b>(How much it matters|Largest change|Probability|Where|Before|After|Ratio|[\d.]+)</b>"  # our own


def page(fit: credo.Fit) -> str:
    return fit_page(fit, fit.explain())


class Tags(HTMLParser):
    """The tags of a page, and the attributes that run or load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return demo()


def test_the_page_of_the_demo_shows_what_mattered_what_is_probably_wrong_and_how_certain_it_is(fit: credo.Fit) -> None:
    text = page(fit)
    assert text.count("<li>", text.index("<ol"), text.index("</ol>")) == 5
    assert "shaped the result" in text
    assert "95% credible interval" in text
    headings = re.findall("<h2[^>]*>(.*?)</h2>", text)
    assert headings == [
        "What you should know",  # in which order states were taken
        "The network",
        "How probable each state is",
        "Every conditional probability",
        "What each statement did",
        "Did the knowledge help?",
        "What to observe next",
        "Where it comes from",
        "Details",
    ]
    wrong, summary = text.index("The one statement that may be wrong is probably wrong."), text.index('class="summary"')
    assert wrong < summary < text.index('<svg class="net"')
    for name in fit.network.names:
        assert f'data-name="{name}"' in text
    for each in fit.explain().statements:
        assert f"<tr id=s{each.statement.number} " in text
        for name, index in each.configurations:
            assert f"<a href=#t{fit.network.names.index(name)}r{index}>" in text


def test_what_the_data_contradict_comes_before_the_summary() -> None:
    folder = example("brain-tumour")
    network = credo.read_network(folder / "brain-tumour.bif").without_cpts()
    certain = (folder / "brain-tumour.credo").read_text(encoding="utf-8").replace(" with confidence 0.7", "")
    text = page(credo.fit(network, folder / "patients.csv", certain, method="cmap"))
    contradicted, summary = text.index("The data contradict one statement."), text.index('class="summary"')
    assert contradicted < summary < text.index('<svg class="net"')
    assert text.count("severe_headaches=yes in 13 of 27 rows") == 1
    assert "By the data alone, it is true with a probability below 0.01%. <a href=#s" in text


JARGON = ("log-likelihood", "nats", "block", "posterior", "likelihood", "interior", "closed form", "multiplier")


def first_sentences(html: str) -> str:
    """The text before the second paragraph, list or heading of what follows the title."""
    body = html.partition("</h1>")[2] or html.partition("</style>")[2] or html
    first = re.search(r"<(ol|p|ul)\b.*?</\1>", body, flags=re.DOTALL)
    assert first is not None
    return re.sub("<[^>]*>", " ", first.group())


def test_the_first_sentences_need_no_statistics(fit: credo.Fit) -> None:
    check = credo.check(fit.network, "brain_tumour raises ct_scan", data=example("brain-tumour") / "patients.csv")
    plain = credo.fit(fit.network.without_cpts(), example("brain-tumour") / "patients.csv", method="map")
    firsts = [
        *(first_sentences(text) for text in (page(fit), page(plain), check_page(check))),
        *(first_sentences(each._repr_html_()) for each in (fit, plain, fit.network, fit.explain())),
        *(str(each).splitlines()[0] for each in (fit, plain, check, fit.explain(), fit.query("P(coma=yes)"))),
    ]
    for first in firsts:
        assert not [word for word in JARGON if word in first.lower()], first
        assert len(first) > 20


def test_the_picture_shows_how_probable_each_state_is(fit: credo.Fit) -> None:
    text = page(fit)
    assert text.count("class=v ") == 6
    frame = fit.predict({})
    for state, probability, low, high in frame.select("state", "probability", "low", "high").iter_rows():
        bar = Bar(state, probability, low, high)
        assert f"{bar}\n" in text or f"{bar}<" in text  # the title of a box
        assert f"{short_percent(probability)}</tspan>" in text
    assert "the line across a bar is its 95% credible interval" in text


def test_where_probabilities_are_too_costly_the_page_says_so(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.report.fit_page.fit_marginals", lambda fit: fit_marginals(fit, most_cells=10))
    text = page(fit)
    assert "is not shown: in a network like this it would take too long to compute" in text
    assert "class=d>" not in text
    assert "How probable each state is</h2>" not in text


def test_technical_findings_are_among_the_details() -> None:
    rows = pl.DataFrame({"a": ["no", "yes"] * 20, "b": ["no", "yes"] * 20})
    soft = "P(a=yes) <= 0.2 with confidence 0.8"
    fit = credo.fit(Network(dict.fromkeys("ab", ("no", "yes")), {"b": ["a"]}), rows, soft, method="cmap")
    text = page(fit)
    weight = next(str(finding) for finding in fit.findings if finding.kind == "soft weight")
    assert text.index('id="details"') < text.index(weight)
    never = pl.DataFrame({"a": ["no", "no"], "b": ["no", "yes"]})
    unseen = credo.fit(Network(dict.fromkeys("ab", ("no", "yes")), {"b": ["a"]}), never, method="ml")
    text = page(unseen)
    assert text.index("What you should know") < text.index("have no data") < text.index('<svg class="net"')


def test_every_link_leads_somewhere(fit: credo.Fit) -> None:
    places, links = anchors(page(fit))
    assert links
    assert links <= places


def test_nothing_is_loaded_from_elsewhere(fit: credo.Fit) -> None:
    text = page(fit)
    found = Tags(text)
    assert {"link", "img", "iframe", "object"} & set(found.tags) == {"link"}  # of an empty icon
    targets = [value or "" for name, value in found.attributes if name in ("src", "href", "action")]
    assert all(target.startswith(("#", "data:,")) for target in targets)
    assert not re.search(r"https?://|url\((?!#)|@import", text)
    assert "default-src 'none'" in text


def test_names_and_states_are_escaped(tmp_path: object) -> None:
    names = (EVIL, "“quoted” \"double\" 'single' & more", "tür↑ 変数")
    states = {name: [f"no {EVIL}", 'yes "&<b>'] for name in names}
    network = Network(states, {names[1]: [names[0]], names[2]: [names[0], names[1]]}, name=f"net {EVIL}")
    data = pl.DataFrame({name: [own[k % 2] for k in range(12)] for name, own in states.items()})
    know = credo.Knowledge(network, [credo.raises(names[0], names[1])])
    result = credo.fit(network, data, know)
    check = credo.check(network, [credo.raises(names[0], names[1]), credo.lowers(names[0], names[1])])
    for text in (page(result), check_page(check), result._repr_html_(), network._repr_html_(), check._repr_html_()):
        assert EVIL not in text
        assert "<b>" not in re.sub(
            r"<b>(How much it matters|Largest change|Probability|Where|Before|After|Ratio|[\d.]+)</b>", "", text
        )
        assert Tags(text).tags.count("script") == text.count("<!doctype")
        assert not any(name.startswith("on") for name, _ in Tags(text).attributes)
    assert "変数" in page(result)


def test_no_character_that_may_not_stand_in_a_page_or_reverses_it_reaches_one() -> None:
    odd = "\x1b[2J\x07\x08\x7f\x9b31m\u202e\u2066"
    states = {f"a{odd}": [f"no{odd}", "yes"], f"b{odd}": [f"no{odd}", "yes"], "שלום e\u0301": ["👩\u200d🔬", "yes"]}
    first, second, third = states
    network = Network(states, {second: [first], third: [second]}, name=f"net{odd}")
    data = pl.DataFrame({name: [own[k % 2] for k in range(12)] for name, own in states.items()})
    result = credo.fit(network, data, [credo.raises(first, second)])
    check = credo.check(network, [credo.raises(first, second), credo.lowers(first, second)])
    answer, views = result.query(f'P("b{odd}"=yes)'), (result, network, check, result.knowledge)
    texts = [page(result), check_page(check), answer._repr_html_(), *(each._repr_html_() for each in views)]
    for text in texts:
        assert not set(odd) & set(text) - set("[2J31m")
    assert "a\\x1b[2J\\x07\\x08\\x7f\\x9b31m\\u202e\\u2066" in texts[0]
    assert {"שלום e\u0301", "👩\u200d🔬"} <= set(re.split("[<>]", texts[0]))


def test_a_page_as_large_as_that_of_andes_is_small_and_folded() -> None:
    text = large_page()
    assert len(text.encode()) < LIMIT
    places, links = anchors(text)
    assert links <= places
    assert text.count("<tr id=s") == 6_690
    in_sight = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert in_sight.count("<tr id=s") <= 30


def test_large_cpts_show_the_most_informative_configurations() -> None:
    parents = [f"p{k}" for k in range(10)]
    network = Network(dict.fromkeys([*parents, "child"], ("no", "yes")), {"child": parents}).without_cpts()
    given = ", ".join(f"{name}=yes" for name in parents)
    data = pl.DataFrame({name: ["no", "yes"] for name in network.names})
    text = page(credo.fit(network, data, f"P(child=yes | {given}) <= 0.2", method="cmap"))
    assert "Showing 256 of 1,024 configurations, the most informative; all are in the table below." in text
    every = text.partition("All 1,024 configurations")[2].partition("</table>")[0]
    assert every.count("<tr>") == 1 + 1_024
    assert f"<tr id=t10r{2**10 - 1}>" in text
    places, links = anchors(text)
    assert links <= places


def test_a_page_without_knowledge_and_one_with_missing_values() -> None:
    network = Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    data = pl.DataFrame({"a": ["no", "yes", None, "no"], "b": ["no", "yes", "yes", None]})
    plain = page(credo.fit(network, data.drop_nulls(), method="map"))
    assert "What each statement did" not in plain
    assert "Did the knowledge help" not in plain
    incomplete = page(credo.fit(network, data, "a raises b"))
    assert "is not computed" in incomplete
    assert "How learning went" in incomplete


def test_where_a_page_cannot_be_written(fit: credo.Fit, tmp_path: object) -> None:
    with pytest.raises(FileError, match="is a folder"):
        fit.report(str(tmp_path))
    with pytest.raises(FileError, match="There is no folder"):
        fit.report(f"{tmp_path}/nowhere/report.html")


def test_the_page_of_a_check_draws_each_conflict() -> None:
    network = demo().network
    text = (
        "P(ct_scan=positive | brain_tumour=yes) <= 0.4\n"
        "P(ct_scan=positive | brain_tumour=yes) >= P(severe_headaches=yes | brain_tumour=yes)\n"
        "P(severe_headaches=yes | brain_tumour=yes) >= 0.5"
    )
    check = credo.check(network, text)
    (conflict,) = check.conflicts
    assert conflict.configurations == (
        ("P(ct_scan | brain_tumour=yes)",),
        ("P(severe_headaches | brain_tumour=yes)", "P(ct_scan | brain_tumour=yes)"),
        ("P(severe_headaches | brain_tumour=yes)",),
    )
    html = check_page(check)
    assert "The knowledge contradicts itself" in html
    assert html.count('class="statement"') == 3
    assert html.count('class="distribution"') == 2
    assert html.count('class="edge"') == 4
    assert html.count("in conflict") == 3
    places, links = anchors(html)
    assert links <= places
    assert check.to_dict()["conflicts"][0]["configurations"][0] == ["P(ct_scan | brain_tumour=yes)"]
    assert "The knowledge is consistent" in check_page(credo.check(network, "brain_tumour raises ct_scan"))


@pytest.mark.slow
def test_the_page_of_andes_with_thirty_statements_a_variable() -> None:
    path = PUBLISHED_NETWORKS / "andes.bif"
    if not path.exists():
        pytest.skip("Andes is not beside the project")
    network = credo.read_network(path)
    know = credo.Knowledge(network, true_statements(network, 30, seed=2))
    text = page(credo.fit(network, network.sample(1_000, seed=3), know))
    assert len(text.encode()) < LIMIT
    places, links = anchors(text)
    assert links <= places


def test_the_page_shows_where_numbers_are_cut_into_states() -> None:
    age = credo.Variable("age", ("young", "middle", "old"), cuts=credo.CutPoints((40, 60.5)))
    network = Network([age, credo.Variable("ill", ("no", "yes"))], {"ill": ["age"]})
    data = pl.DataFrame({"age": [18.0, 40.0, 60.0, 61.0, 93.5], "ill": ["no", "no", "yes", "yes", "yes"]})
    text = page(credo.fit(network, data, method="map"))
    states = "young is below 40; middle is from 40 to below 60.5; old is from 60.5 on."
    assert text.count(f"age is a number with cut points: {states}") == 3  # in the picture, and for two CPTs
    many = credo.Variable("dose", tuple(f"d{k}" for k in range(9)), cuts=credo.CutPoints(range(1, 9), 0.5, 12))
    assert cut_text(many) == (
        "dose is a number with the cut points 1, 2, 3, 4, 5, 6, 7, 8. The data have numbers from 0.5 to 12."
    )


def hidden_cause() -> credo.Fit:
    """A table with a column without a name, missing values and many roots, one CPT of which has 32 configurations."""
    rng = np.random.default_rng(0)
    roots = [f"pump{k}" for k in range(6)]
    rows = {name: np.array(["ok", "failed"])[(rng.random(120) < 0.2).astype(int)] for name in [*roots, "top"]}
    rows["stage"] = rng.choice(["a", "b", "c", ""], 120, p=[0.4, 0.3, 0.2, 0.1])
    data = pl.DataFrame({"": list(range(120)), "npreg": [1] * 120, **rows})
    text = f"variables {', '.join(roots)}, top: ok, failed\nvariable stage: a, b, c\n"
    return credo.fit(f"{text}top depends on {', '.join(roots[:4])}, stage\n", data, method="map")


def test_long_cpts_are_folded_roots_share_a_table_and_expected_counts_have_few_digits() -> None:
    fit = hidden_cause()
    text = page(fit)
    assert "36 more configurations</summary>" in text
    roots = text[text.index("variables without parents") : text.index("</section>")]
    assert roots.count("<tr id=") == 6
    assert roots.count("P(pump") == 6
    assert "P(top" not in roots
    assert "Columns not used, because the knowledge does not mention them: (without a name), npreg." in text
    observed = re.findall(r"<tr id=t\d+r\d+><td>\d+<td>[^<]*<td>([^<]*)<td>", text)
    assert len(observed) > 40
    assert any("." in each for each in observed)
    assert all(re.fullmatch(r"\d+|\d\d?\.\d|0\.0?\d{1,2}|&lt;0.01|<0.01", each) for each in observed), observed


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (5, "5"),
        (1204, "1,204"),
        (1204.4, "1,204"),
        (37.52, "37.5"),
        (2.34, "2.3"),
        (0.02658, "0.027"),
        (1e-5, "<0.01"),
    ],
)
def test_expected_counts_have_as_many_digits_as_matter(count: float, text: str) -> None:
    assert count_digits(count) == text


def test_a_report_takes_at_most_half_of_the_time_of_its_fit(tmp_path: Path) -> None:
    network = made_up_network(20, seed=1)
    knowledge = true_statements(network, 3, seed=2)
    rows = network.sample(300, seed=3)
    credo.fit(network, rows[:20]).report(tmp_path / "imports.html")  # which are loaded once
    began = process_time()
    fit = credo.fit(network, rows, knowledge)
    learned = process_time()
    fit.report(tmp_path / "report.html")
    assert process_time() - learned <= 0.5 * (learned - began)


def test_small_probabilities_keep_their_digits_and_nothing_is_held_out_where_there_are_no_data() -> None:
    fit = credo.fit("variable valve: ok, stuck\nP(valve=stuck) is about 1e-6")
    text = page(fit)
    assert "allowed 5e-7–1.5e-6, mean " in text
    assert "allowed 0.00" not in text
    assert "held out" not in text
    assert fit.explain().leave_one_out is None
    network = fit.network
    boxes = network_boxes(network, {"valve": [Bar("ok", 0.99999), Bar("stuck", 9.5e-7)]})
    usual = network_boxes(network, {"valve": [Bar("ok", 0.6), Bar("stuck", 0.4)]})
    assert boxes["valve"].bar_width == usual["valve"].bar_width
    assert boxes["valve"].width > usual["valve"].width
    drawn = tornado_svg(7.7e-7, [("valve", 2.8e-7, 0.51)], percent_digits)
    assert drawn.index("2.8e-7") < drawn.index("7.7e-7")
    middle = re.search(r'x="([\d.]+)"[^>]*text-anchor="middle"', drawn)
    assert middle is not None
    assert float(middle[1]) > 70.0  # beside the label of the least value
