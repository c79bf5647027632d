"""A shared page answers as credo does, in any browser, without a connection and without rows of data."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

import credo
from credo.cli.app import app
from credo.sharing import compiled as compiled_module
from credo.sharing.page import share_page
from credo.shipped import example
from credo.testing import made_up_network
from tests.helpers.chromium import TIMEOUT
from tests.helpers.published import PUBLISHED_NETWORKS

CLOSE = 1e-9
PUBLISHED = ("asia", "cancer", "child", "earthquake", "sachs", "survey", "alarm")
NAMED = """\
label disease=1: "present"
label disease=0: "absent"
label disease: "coronary heart disease", source "the ward's <b>register</b>"
label age: "age", unit "years"
"""


@pytest.fixture(scope="module")
def heart() -> credo.Fit:
    text = (example("heart") / "heart.credo").read_text(encoding="utf-8") + NAMED
    return credo.fit(text, example("heart") / "patients.csv")


@contextmanager
def opened(chromium: Browser, path: Path, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page from a file, what it complained about, and every request that it made."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True, **options) as context:
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.get_by_role("heading", name="How probable is").wait_for()
        yield page, complaints


def cases(network: credo.Network, generator: random.Random, count: int) -> Iterator[tuple[dict[str, Any], ...]]:
    """Random evidence, interventions and uncertain findings; first nothing at all."""
    yield {}, {}, {}
    for number in range(count):
        names = generator.sample(network.names, min(len(network.names), 1 + number))
        evidence, do, soft = {}, {}, {}
        for place, name in enumerate(names):
            states = network.states(name)
            if number > 1 and place == 1:
                do[name] = generator.choice(states)
            elif number > 2 and place == 2:
                soft[name] = {state: round(generator.uniform(0.1, 1), 2) for state in states}
            else:
                evidence[name] = generator.choice(states)
        yield evidence, do, soft


def require_equal(page: Page, source: credo.Fit | credo.Network, seed: int, count: int = 5) -> None:
    """The page gives the numbers of credo for random cases, to nine digits."""
    network = source if isinstance(source, credo.Network) else source.network
    for evidence, do, soft in cases(network, random.Random(seed), count):
        try:
            if isinstance(source, credo.Network):
                from credo.questions.marginals import marginals_of_network

                expected = marginals_of_network(network, evidence, interventions=do, soft=soft)
            else:
                expected = source.marginals(evidence, interventions=do, soft=soft)
        except credo.QueryError:
            with pytest.raises(Exception, match="Impossible|Error"):
                page.evaluate("([known, set, soft]) => credo.answer(known, { set, soft })", [evidence, do, soft])
            continue
        found = page.evaluate("([known, set, soft]) => credo.answer(known, { set, soft })", [evidence, do, soft])
        wanted = {(row[0], row[1]): row[2:] for row in expected.iter_rows()}
        assert {(name, state) for name, state, *_ in found} == set(wanted)
        for name, state, *numbers in found:
            for one, other in zip(numbers, wanted[name, state], strict=True):
                assert (one is None) == (other is None)
                assert one is None or abs(one - other) < CLOSE, (name, state, evidence, do, soft)


# Equal answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))])
def test_answers_are_those_of_credo(chromium: Browser, tmp_path: Path, seed: int) -> None:
    network = made_up_network(3 + seed % 7, seed=seed)
    rows = network.sample(20 + 10 * seed, seed=seed)
    knowledge = None
    if seed % 2 and (child := next((name for name in network.names if network.parents[name]), None)):
        knowledge = f"{network.parents[child][0]} raises {child}"
    fit = credo.fit(network, rows, knowledge, seed=seed)
    with opened(chromium, fit.share(tmp_path / "page.html")) as (page, complaints):
        require_equal(page, fit, seed)
        assert complaints == []


def test_a_noisy_family_answers_alike(chromium: Browser, tmp_path: Path) -> None:
    text = "variables a, b, c, d: no, yes\nd is noisy-or of {a}, {b, c} with leak\n"
    generator = random.Random(1)
    rows = pl.DataFrame({name: [generator.choice(["no", "yes"]) for _ in range(60)] for name in "abcd"})
    fit = credo.fit(text, rows)
    with opened(chromium, fit.share(tmp_path / "page.html")) as (page, _):
        require_equal(page, fit, 3)


DECISION = """
decision treat: no, yes
utility of disease=1, treat=no is -100
utility of treat=yes is -30
"""
TRIAL = """
variables disease, cured: no, yes
variable drug: none, old, new
cured depends on disease, drug
decision drug: none, old, new
utility of disease=yes, cured=no is -100
utility of drug=old is -5
utility of drug=new is -20
"""


def require_same_decision(page: Page, fit: credo.Fit, evidence: dict[str, str]) -> None:
    expected = fit.decide(evidence)
    found = page.evaluate("known => credo.decide(known)", evidence)
    rows = expected.options.rows()
    assert [each["option"] for each in found["options"]] == [row[0] for row in rows]
    for each, row in zip(found["options"], rows, strict=True):
        assert [each["utility"], *each["ends"], each["best"]] == pytest.approx(list(row[1:]), abs=1e-7)
    assert [found["gain"], *found["gainEnds"]] == pytest.approx(
        [expected.gain, *(expected.gain_interval or ())], abs=1e-7
    )


def test_a_decision_is_that_of_credo(chromium: Browser, tmp_path: Path) -> None:
    text = (example("heart") / "heart.credo").read_text(encoding="utf-8") + NAMED + DECISION
    heart = credo.fit(text, example("heart") / "patients.csv")
    generator = random.Random(1)
    rows = pl.DataFrame(
        {
            name: [generator.choice(states) for _ in range(90)]
            for name, states in {
                "disease": ["no", "yes"],
                "drug": ["none", "old", "new"],
                "cured": ["no", "yes"],
            }.items()
        }
    )
    trial = credo.fit(TRIAL, rows)
    cases: list[tuple[credo.Fit, list[dict[str, str]]]] = [
        (heart, [{}, {"ecg": "abnormal"}, {"age": "old", "smoker": "yes", "pressure": "high"}, {"disease": "1"}]),
        (trial, [{}, {"disease": "yes"}, {"disease": "no"}]),
    ]
    for fit, known in cases:
        with opened(chromium, fit.share(tmp_path / "page.html")) as (page, complaints):
            for evidence in known:
                require_same_decision(page, fit, evidence)
            expect(page.get_by_role("heading", name="What to do in this case")).to_be_visible()
            expect(page.get_by_role("list", name="Expected utility of each option")).to_contain_text(fit.decide().best)
            assert complaints == []
    with opened(chromium, trial.share(tmp_path / "page.html")) as (page, _):
        page.get_by_role("group", name="cured").get_by_role("radio", name="yes").check()
        expect(page.get_by_text("What to do cannot be said: cured depends on the decision")).to_be_visible()


def test_without_draws_there_are_numbers_and_no_intervals(chromium: Browser, tmp_path: Path, heart: credo.Fit) -> None:
    network = made_up_network(6, seed=5)
    fit = credo.fit(network, network.sample(100, seed=1), method="cmap")
    with opened(chromium, fit.share(tmp_path / "page.html")) as (page, _):
        require_equal(page, fit, 1)
        expect(page.get_by_text("There is no interval: the method cmap gives one estimate")).to_be_visible()
    (tmp_path / "network.html").write_text(share_page(network), encoding="utf-8")
    with opened(chromium, tmp_path / "network.html") as (page, _):
        require_equal(page, network, 2)


def test_evidence_that_is_impossible_under_some_draws_or_all(chromium: Browser, tmp_path: Path) -> None:
    network = credo.Network(
        {"a": ["no", "yes"], "b": ["no", "yes"], "c": ["x", "y"]}, {"b": ["a"]},
        {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.4, 0.6]], "c": [0.1, 0.9]},
    )  # fmt: skip
    (tmp_path / "page.html").write_text(share_page(network), encoding="utf-8")
    with opened(chromium, tmp_path / "page.html") as (page, _):
        require_equal(page, network, 0, 8)
        page.get_by_role("group", name="a").get_by_role("radio", name="no", exact=True).check()
        page.get_by_role("group", name="b").get_by_role("radio", name="yes").check()
        expect(page.locator(".result")).to_contain_text("cannot all be true together")
        assert page.locator(".big").count() == 0
        page.get_by_role("button", name="Start over").click()
        expect(page.locator(".big")).to_be_visible()


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED_NETWORKS.is_dir(), reason="the published networks are not here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks_answer_alike(chromium: Browser, tmp_path: Path, name: str) -> None:
    network = credo.read_network(PUBLISHED_NETWORKS / f"{name}.bif")
    fit = credo.fit(network, network.sample(200, seed=1))
    with opened(chromium, fit.share(tmp_path / "page.html")) as (page, _):
        require_equal(page, fit, 1, 4)


# What the page is -----------------------------------------------------------------------------------------------------


def test_a_physician_asks_it(chromium: Browser, tmp_path: Path, heart: credo.Fit) -> None:
    with opened(chromium, heart.share(tmp_path / "risk.html")) as (page, complaints):
        expect(page.get_by_role("heading", level=1)).to_have_text("Coronary heart disease")
        before = page.locator(".big").inner_text()
        page.get_by_role("group", name="age").get_by_label("age as a number").fill("70")
        expect(page.get_by_role("group", name="age").get_by_role("radio", name="old")).to_be_checked()
        page.get_by_role("group", name="ecg").get_by_role("radio", name="abnormal", exact=True).check()
        expect(page.locator(".big")).not_to_have_text(before)
        answer = heart.query("P(disease=1 | age=old, ecg=abnormal)").probability
        expect(page.locator(".big")).to_have_text(f"{100 * answer:.0f}%")
        expect(page.locator(".sentence")).to_contain_text(f"about {100 * answer:.0f}")
        expect(page.locator("p.chosen")).to_have_text("age is old · ecg is abnormal")
        page.get_by_role("button", name=re.compile("smoker: yes")).press("Enter")  # in the picture
        expect(page.locator("p.chosen")).to_contain_text("smoker is yes")
        page.get_by_text("What it rests on").click()
        assert heart.origin is not None
        expect(page.locator("dl")).to_contain_text(heart.origin.fingerprint)
        page.get_by_text("What experts stated").click()
        expect(page.locator("pre")).to_contain_text("age raises disease")
        assert complaints == []


def test_it_holds_no_rows_and_allows_nothing_but_itself(heart: credo.Fit) -> None:
    page = share_page(heart)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == 1
    for text in (scripts[0], style):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy[1]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    content = json.loads(re.findall(r'id="content">(.*?)</script>', page, re.DOTALL)[0])
    assert set(content) == {
        *(
            "title",
            "inputs",
            "targets",
            "target",
            "about",
            "text",
            "kind",
            "note",
            "draws",
            "plan",
            "variables",
            "picture",
        )
    }
    numbers = re.findall(r'id="numbers">(.*?)</script>', page, re.DOTALL)[0]
    cells = sum(heart.network.cpt_array(name).size for name in heart.network.names)
    assert len(base64.b64decode(numbers)) == 8 * cells * (
        content["draws"] + 3
    )  # draws, means and ends of intervals, and nothing else


def test_names_are_text_everywhere(chromium: Browser, tmp_path: Path) -> None:
    odd = "</script><img src=x onerror=alert(1)>"
    network = credo.Network({odd: ["__proto__", odd], "constructor": ["a", "b"]}, {"constructor": [odd]}, name=odd)
    full = network.with_cpts({odd: [0.25, 0.75], "constructor": [[0.5, 0.5], [0.1, 0.9]]})
    (tmp_path / "page.html").write_text(share_page(full), encoding="utf-8")
    with opened(chromium, tmp_path / "page.html") as (page, complaints):
        require_equal(page, full, 1, 2)
        assert page.locator("img").count() == 0
        assert complaints == []


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(0.25, "Of 100 cases like this one, about 25 have"), (8.5e-5, "Of 100,000 cases like this one, about 9 have")],
)
def test_rare_states_are_counted_in_enough_cases(
    chromium: Browser, tmp_path: Path, value: float, sentence: str
) -> None:
    network = credo.Network({"failure": ["no", "yes"]}, {}).with_cpts({"failure": [1 - value, value]})
    (tmp_path / "page.html").write_text(share_page(network), encoding="utf-8")
    with opened(chromium, tmp_path / "page.html") as (page, _):
        expect(page.get_by_text(f"{sentence} failure: yes.")).to_be_visible()


def test_long_names_are_whole_and_inside_their_boxes(chromium: Browser, tmp_path: Path) -> None:
    names = [
        "disease",
        "AZVaccineDoses",
        "DieFromBackgroundCSVT",
        "VesselNavigationOperationManagement",
        "no_sign_" * 4,
    ]
    names.append("RiskOfInfection" * 5)
    network = credo.Network({name: ["no", "yes"] for name in names}, {})
    full = network.with_cpts({name: [0.25, 0.75] for name in names})
    (tmp_path / "page.html").write_text(share_page(full), encoding="utf-8")
    with opened(chromium, tmp_path / "page.html") as (page, complaints):
        shown = page.locator(".picture .name")
        assert sorted(shown.all_text_contents()) == sorted(names)
        for name in shown.all():
            text, box = name.bounding_box(), name.locator("xpath=..").locator(".box").bounding_box()
            first = name.locator("xpath=..").locator(".state").first.bounding_box()
            assert text is not None
            assert box is not None
            assert first is not None
            assert text["x"] + text["width"] <= box["x"] + box["width"]
            assert text["y"] >= box["y"]
            assert text["y"] + text["height"] <= first["y"] + 3
        assert complaints == []


def test_nothing_serious_for_people_with_assistive_technology(
    chromium: Browser, tmp_path: Path, heart: credo.Fit
) -> None:
    axe_module = pytest.importorskip("axe_playwright_python")
    axe = Path(axe_module.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        with opened(chromium, heart.share(tmp_path / "risk.html"), color_scheme=scheme) as (page, _):
            page.get_by_role("group", name="ecg").get_by_role("radio", name="abnormal", exact=True).check()
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
            page.set_viewport_size({"width": 420, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= 420


# Large networks, inputs and targets -----------------------------------------------------------------------------------


def test_only_what_matters_for_chosen_inputs_is_in_the_page(
    chromium: Browser, tmp_path: Path, heart: credo.Fit
) -> None:
    path = heart.share(tmp_path / "form.html", inputs=["age", "smoker"], targets=["disease"], title="A form")
    with opened(chromium, path) as (page, _):
        assert page.locator("fieldset").count() == 2
        page.get_by_role("group", name="smoker").get_by_role("radio", name="yes").check()
        answer = heart.query("P(disease=1 | smoker=yes)").probability
        expect(page.locator(".big")).to_have_text(f"{100 * answer:.0f}%")
        assert {each["name"] for each in page.evaluate("credo.variables")} == {"age", "smoker", "pressure", "disease"}


def test_a_large_network_is_refused_with_figures_or_becomes_a_form(
    chromium: Browser, tmp_path: Path, heart: credo.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_module, "MOST_WORK", 1000)
    with pytest.raises(credo.TooLargeError, match=r"steps \(at most 1,000\).*--input and --target"):
        heart.share(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    path = heart.share(tmp_path / "form.html", inputs=["age", "ecg"], targets=["disease", "smoker"])
    with opened(chromium, path) as (page, complaints):
        for age in (None, "young", "old"):
            for ecg in (None, "abnormal"):
                known = {name: state for name, state in (("age", age), ("ecg", ecg)) if state}
                expected = heart.marginals(known)
                found = {
                    (name, state): numbers
                    for name, state, *numbers in page.evaluate("(known) => credo.answer(known)", known)
                }
                for name, state, *numbers in expected.filter(
                    pl.col("variable").is_in(["disease", "smoker"])
                ).iter_rows():
                    assert found[name, state] == pytest.approx(numbers, abs=CLOSE)
        page.get_by_role("group", name="ecg").get_by_role("radio", name="abnormal", exact=True).check()
        expect(page.locator("p.chosen")).to_have_text("ecg is abnormal")
        assert complaints == []
    wide = made_up_network(40, seed=1)
    with pytest.raises(credo.TooLargeError, match="cases to compute beforehand"):
        share_page(wide, inputs=wide.names[:30], targets=wide.names[-1:])


def test_mistakes(heart: credo.Fit, tmp_path: Path) -> None:
    with pytest.raises(credo.CredoError, match="disese"):
        heart.share(tmp_path / "a.html", targets=["disese"])
    with pytest.raises(credo.OptionError, match="both an input and a target"):
        heart.share(tmp_path / "a.html", inputs=["age"], targets=["age"])
    with pytest.raises(credo.CredoError, match="html"):
        heart.share(tmp_path / "a.pdf")
    assert list(tmp_path.iterdir()) == []


def test_the_command(heart: credo.Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heart.save(tmp_path / "heart.fit")
    arguments = ["share", str(tmp_path / "heart.fit"), "-o", str(tmp_path / "risk.html"), "--title", "Risk"]
    app(args=arguments, standalone_mode=False)
    assert "It holds no rows of data" in capsys.readouterr().out
    assert "<title>Risk</title>" in (tmp_path / "risk.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_pictures(chromium: Browser, tmp_path: Path, heart: credo.Fit) -> None:
    """The pictures of docs/sharing.md; with `CREDO_SCREENSHOTS=docs/images/studio` they are kept beside that folder."""
    target = Path(os.environ.get("CREDO_SCREENSHOTS", tmp_path / "studio")).parent / "sharing"
    target.mkdir(parents=True, exist_ok=True)
    path = heart.share(tmp_path / "risk.html")
    for name, width, scheme in (("risk", 1280, "light"), ("phone", 420, "dark")):
        with opened(chromium, path, color_scheme=scheme) as (page, _):
            page.set_viewport_size({"width": width, "height": 900})
            page.get_by_role("group", name="age").get_by_role("radio", name="old").check()
            page.get_by_role("group", name="ecg").get_by_role("radio", name="abnormal", exact=True).check()
            page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
            page.screenshot(path=target / f"{name}.png")
    assert all((target / f"{name}.png").stat().st_size > 10_000 for name in ("risk", "phone"))
