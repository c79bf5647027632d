"""Sentences that physicians write: each is read, or answered with the line to write."""

from __future__ import annotations

import polars as pl
import pytest

import credo

HEAD = """
variable smoke: no, yes
variable sex: f, m
variable "Age (years)": young, middle, old
variable bmi: slim, heavy, obese
variable glu: low, mid, high
variable bp: low, normal, high
variable type: No, Yes
variable cough: no, yes
variable xray: negative, positive
type depends on glu, bmi, "Age (years)", smoke
cough depends on type, smoke
xray depends on type
glu depends on bmi
bp depends on sex
"""
READ = {
    "P(type=Yes given glu=high) is at least 40%": "0.4 <= P(type=Yes | glu=high)",
    "P(type=Yes | glu=high) at least 40%": "0.4 <= P(type=Yes | glu=high)",
    "P(type=Yes | glu=high) exceeds 40%": "0.4 <= P(type=Yes | glu=high)",
    "P(type=Yes | glu=low) is less than 1%": "P(type=Yes | glu=low) <= 0.01",
    "P(type=Yes | glu=low) is no more than 1%": "P(type=Yes | glu=low) <= 0.01",
    "P(type=Yes | glu=low) is below 1%": "P(type=Yes | glu=low) <= 0.01",
    "P(type=Yes | glu=high) between 30% and 50%": "0.3 <= P(type=Yes | glu=high) <= 0.5",
    "P(type=Yes | glu=high) about 60%": "0.52 <= P(type=Yes | glu=high) <= 0.68",
    "P(type=Yes | glu=high) is roughly 60 %": "0.52 <= P(type=Yes | glu=high) <= 0.68",
    "if glu=high and bmi=obese then type=Yes is very likely": "0.9 <= P(type=Yes | glu=high, bmi=obese)",
    "Age (years) raises type": '"Age (years)" raises type',
    "P(type=Yes | Age (years)=old) >= 0.3": 'P(type=Yes | "Age (years)"=old) >= 0.3',
    "P(type=Yes | glu=high) >= P(type=Yes | glu!=high)": ("P(type=Yes | glu=high) >= P(type=Yes | glu in {low, mid})"),
}
WRITE = {
    "P(type=Yes | glu=mid or glu=high) >= 30%": "P(type=Yes | glu in {mid, high}) >= 30%",
    "P(type=Yes | glu=mid or high, smoke=yes) >= 30%": "P(type=Yes | glu in {mid, high}, smoke=yes) >= 30%",
    "P(type=Yes | glu in (mid, high)) >= 30%": "P(type=Yes | glu in {mid, high}) >= 30%",
    "type=Yes is 50% more likely with smoke=yes than with smoke=no": (
        "type=Yes is 1.5 times as likely with smoke=yes than with smoke=no"
    ),
    "type=Yes is 30% less likely with smoke=no than with smoke=yes": (
        "type=Yes is 0.7 times as likely with smoke=no than with smoke=yes"
    ),
    "type=Yes is 4 times less likely with smoke=no than with smoke=yes": (
        "type=Yes is 0.25 times as likely with smoke=no than with smoke=yes"
    ),
    "type=Yes is 2 to 4 times as likely with smoke=yes as with smoke=no": (
        "type=Yes is between 2 and 4 times as likely with smoke=yes as with smoke=no"
    ),
    "type=Yes is more than twice as likely with smoke=yes as with smoke=no": (
        "type=Yes is at least 2 times as likely with smoke=yes as with smoke=no"
    ),
    "type=Yes is as likely with smoke=yes as with smoke=no": "P(type=Yes | smoke=yes) = P(type=Yes | smoke=no)",
    "type=Yes is more likely than type=No": "P(type=Yes) >= P(type=No)",
    "patients with smoke=yes are twice as likely to have type=Yes": (
        "type=Yes is twice as likely given smoke=yes as given smoke=no"
    ),
    "smoke=yes increases the risk of type=Yes by 20%": (
        "type=Yes is 1.2 times as likely given smoke=yes as given smoke=no"
    ),
    "smoke=yes increases the risk of type=Yes by 20 percentage points": (
        "P(type=Yes | smoke=yes) = P(type=Yes | smoke=no) + 0.2"
    ),
    "smoke raises type by 10%": "smoke raises type by at least 10%",
    "smoke=yes raises type=Yes by at least 0.1": "P(type=Yes | smoke=yes) >= P(type=Yes | smoke=no) by at least 0.1",
    "smoke strongly raises type": "smoke raises type",
    "smoke probably raises type": "smoke raises type with confidence 0.8",
    "bmi is positively correlated with glu": "bmi raises glu",
    "bmi is irrelevant for glu": "bmi does not affect glu",
    "glu and bmi act synergistically on type": "glu and bmi synergize on type",
    "glu incraeses type": "glu raises type",
    "the more glu, the more type": "glu raises type",
    "most patients with glu=high have type=Yes": "P(type=Yes | glu=high) is more likely than not",
    "30% to 50% of patients with glu=high have type=Yes": "P(type=Yes | glu=high) is between 30% and 50%",
    "one in five patients with glu=low has type=Yes": "P(type=Yes | glu=low) is about one in five",
    "P(type=Yes | glu=high) is close to 60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes | glu=high) is ~60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes | glu=high) ≈ 60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes | glu=high) is from 50% to 70%": "P(type=Yes | glu=high) is between 50% and 70%",
    "P(type=Yes | glu=high) is in [0.5, 0.7]": "P(type=Yes | glu=high) is between 0.5 and 0.7",
    "P(type=Yes | glu=high) is 7 out of 10": "P(type=Yes | glu=high) is 7/10",
    "P(type=Yes | glu=high) is about two thirds": "P(type=Yes | glu=high) is about 2/3",
    "P(type=Yes | glu=high) should be at least 70%": "P(type=Yes | glu=high) is at least 70%",
    "P(type=Yes | glu=high) is never above 90%": "P(type=Yes | glu=high) is at most 90%",
    "P(type=Yes | glu=low) is impossible": "P(type=Yes | glu=low) = 0",
    "P(type=Yes | glu=low) is rare": "P(type=Yes | glu=low) is very unlikely",
    "P(type=Yes) given glu=high is about 60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes; glu=high) = 0.6": "P(type=Yes | glu=high) = 0.6",
    "P(type=Yes | glu=high) is 20 points higher than P(type=Yes | glu=low)": (
        "P(type=Yes | glu=high) = P(type=Yes | glu=low) + 0.2"
    ),
    "P(type=Yes | glu=high) is about twice P(type=Yes | glu=low)": (
        "type=Yes is about 2 times as likely given glu=high as given glu=low"
    ),
    "P(type=Yes | glu=high) is similar to P(type=Yes | glu=mid)": (
        "P(type=Yes | glu=high) ~ P(type=Yes | glu=mid) within 0.05"
    ),
    "RR of type=Yes for glu=high vs glu=low is 2": "relative risk of type=Yes for glu=high against glu=low is 2",
    "odds ratio of type=Yes for glu=high against glu=low is 3,1, 95% CI 1,8 to 5,4": (
        "odds ratio of type=Yes for glu=high against glu=low is 3.1, 95% CI 1.8 to 5.4"
    ),
    "AGE (YEARS) raises type": '"Age (years)" raises type',
    "type=Yes is twice as likely if glu=high": "type=Yes is twice as likely given glu=high as given glu!=high",
    "type=Yes is 3 times more likely given glu=high": (
        "type=Yes is 3 times as likely given glu=high as given glu!=high"
    ),
    "if smoke=yes then cough=yes is 3 times more likely": (
        "cough=yes is 3 times as likely given smoke=yes as given smoke=no"
    ),
    "cough=yes is half as likely when smoke=no than when smoke=yes": (
        "cough=yes is half as likely given smoke=no as given smoke=yes"
    ),
    "P(type=Yes | glu=high) is 3 times more likely than P(type=Yes | glu=low)": (
        "P(type=Yes | glu=high) = 3 * P(type=Yes | glu=low)"
    ),
    "smoke=yes makes cough=yes twice as likely": "cough=yes is twice as likely given smoke=yes as given smoke=no",
    "the risk of cough=yes doubles with smoke=yes": "cough=yes is twice as likely given smoke=yes as given smoke=no",
    "type increases with glu": "glu raises type",
    "the risk of cough decreases with smoke": "smoke lowers cough",
    "xray=positive is twice as likely": "xray=positive is twice as likely given type=Yes as given type=No",
    "smoke doubles the risk of cough": "cough=yes is twice as likely given smoke=yes as given smoke=no",
    "P(type=Yes | glu=high) is twice as likely as P(type=Yes | glu=low)": (
        "P(type=Yes | glu=high) = 2 * P(type=Yes | glu=low)"
    ),
    "P(cough=yes | smoke=yes) = 2 x P(cough=yes | smoke=no)": "P(cough=yes | smoke=yes) = 2 * P(cough=yes | smoke=no)",
    "P(type=Yes | glu=high) is abuot 60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes | glu=high) is betwen 10% and 20%": "P(type=Yes | glu=high) is between 10% and 20%",
    "P(type=Yes | glu=high) ~ 0.6": "P(type=Yes | glu=high) is about 0.6",
    "glu rasies type": "glu raises type",
    "glu raises type with confidance 0.8": "glu raises type with confidence 0.8",
    "smoke causes cough": "smoke raises cough",
    "smoking causes cough": "smoke raises cough",
    "smoke=yes raises cough": "smoke raises cough",
    "smoke protects against cough": "smoke lowers cough",
    "bmi increases the risk of type": "bmi raises type",
    "bmi is a risk factor for type": "bmi raises type",
    "the higher the glu the higher the risk of type=Yes": "glu raises type",
    "smoke=yes makes cough=yes more likely": "smoke raises cough",
    "glu and bmi together raise type": "glu and bmi synergize on type",
    "P(type=Yes | glu=high) is about 0,6": "P(type=Yes | glu=high) is about 0.6",
    "P(type=Yes | glu=high) >= 12,5%": "P(type=Yes | glu=high) >= 12.5%",
    "P(type=Yes | glu=high) is between 0,3 and 0,5": "P(type=Yes | glu=high) is between 0.3 and 0.5",
    "60% of patients with glu=high have type=Yes": "P(type=Yes | glu=high) is about 60%",
    "at least 12,5 % of those with glu=high have type=Yes": "P(type=Yes | glu=high) is at least 12.5 %",
    "1 in 10 smokers have a cough": "P(cough=yes | smoke=yes) is about 1 in 10",
    "when smoke=yes, cough=yes in 30% of cases": "P(cough=yes | smoke=yes) is about 30%",
    "a positive xray is found in 90% of patients with type=Yes": "P(xray=positive | type=Yes) is about 90%",
    "prevalence of type is 10%": "prevalence of type=Yes is 10%",
    "sensitivity of xray for type is 90%": "sensitivity of xray=positive for type=Yes is 90%",
    "P(cough=yes | smoke=yes) has median 12%, quartiles 9% and 16%": (
        "P(cough=yes | smoke=yes) has median 12%, half between 9% and 16%"
    ),
    "P(cough=yes | smoke=yes): median 12%, half between 9% and 16%": (
        "P(cough=yes | smoke=yes) has median 12%, half between 9% and 16%"
    ),
    "P(cough=yes | smoke=yes) median is 12% (IQR 9%-16%)": (
        "P(cough=yes | smoke=yes) has median 12%, half between 9% and 16%"
    ),
    "odds ratio of smoke for cough is 2": "odds ratio of cough=yes for smoke=yes against smoke=no is 2",
    "type=Yes is rare": "P(type=Yes) is very unlikely",
    "type=Yes is unlikely if glu=low": "P(type=Yes | glu=low) is unlikely",
    "if smoke=yes, cough=yes is likely": "P(cough=yes | smoke=yes) is likely",
    "obese patients are more likely to have type=Yes than slim patients": (
        "P(type=Yes | bmi=obese) >= P(type=Yes | bmi=slim)"
    ),
    "cough is less common among smokers": "P(cough=yes | smoke=yes) <= P(cough=yes | smoke=no)",
    "The risk of type is higher with high glu": "P(type=Yes | glu=high) >= P(type=Yes | glu!=high)",
    "type=Yes never occurs with glu=low": "P(type=Yes | glu=low) = 0",
    "P(type | glu=high) = 60%": "P(type=Yes | glu=high) = 60%",
    "P(type=Yes if glu=high) = 60%": "P(type=Yes | glu=high) = 60%",
    "P(type=Yes | not smoke) = 10%": "P(type=Yes | smoke=no) = 10%",
    "P(cough | smoke) = 10%": "P(cough=yes | smoke=yes) = 10%",
    "glu high => type Yes 60%": "P(type=Yes | glu=high) is about 60%",
    "P(type=Yes | glu=high) is about 60% (95% sure)": "P(type=Yes | glu=high) is about 60% with confidence 0.95",
    "I am 90% sure that glu raises type": "glu raises type with confidence 0.9",
    "cough=yes is twice as likely with smoke=yes": "cough=yes is twice as likely given smoke=yes as given smoke=no",
    "Age (years) increases the risk of type": '"Age (years)" raises type',
}
NETWORK = credo.declared_network(HEAD).network


def mistakes(text: str) -> tuple[credo.Mistake, ...]:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.check(HEAD + text)
    return caught.value.mistakes


@pytest.mark.parametrize(("sentence", "meaning"), READ.items())
def test_is_read(sentence: str, meaning: str) -> None:
    statement = credo.Knowledge(NETWORK, sentence + "\n").statements[0]
    assert credo.Knowledge(NETWORK, statement).statements == credo.Knowledge(NETWORK, meaning + "\n").statements
    assert len(credo.check(HEAD + sentence).statements) == 1


@pytest.mark.parametrize(("sentence", "line"), WRITE.items())
def test_is_answered_with_the_line_to_write(sentence: str, line: str) -> None:
    (mistake,) = mistakes(sentence)
    assert mistake.write == line
    assert mistake.suggestion == f"Write: {line}"
    assert "expected: " not in str(mistake)
    assert credo.knowledge.corrections(mistake, NETWORK)[0] == line
    assert credo.check(HEAD + line)


def test_a_comment_stays_beside_the_line_to_write() -> None:
    (mistake,) = mistakes("glu rasies type  # Smith 2020")
    assert credo.knowledge.corrections(mistake, NETWORK)[0] == "glu raises type  # Smith 2020"


@pytest.mark.parametrize("sentence", ["smoke has no effect on bp", "bp is independent of smoke"])
def test_an_effect_that_no_arrow_allows_needs_no_denial(sentence: str) -> None:
    (mistake,) = mistakes(sentence)
    assert "Leave it out: without an arrow from smoke, bp does not depend on it directly." in mistake.suggestion


def test_an_influence_without_an_arrow_names_the_line_to_add() -> None:
    (mistake,) = mistakes("smoke causes bp")
    assert "“smoke raises bp”" in mistake.suggestion
    assert "add the line bp depends on smoke" in mistake.suggestion


@pytest.mark.parametrize(
    ("sentence", "example"),
    [
        ("P(type=Yes | ) >= 0.1", "bmi=obese"),
        ("type is a disease", "glu is noisy-or of {bmi}"),
        ("glu", "bmi raises glu"),
    ],
)
def test_examples_have_the_names_of_the_text(sentence: str, example: str) -> None:
    (mistake,) = mistakes(sentence)
    assert example in mistake.suggestion
    assert "lung" not in str(mistake)
    assert "attack" not in str(mistake)


def test_columns_need_no_quotes() -> None:
    table = pl.DataFrame({"Age (years)": ["young", "old"] * 20, "type": ["No", "Yes"] * 20})
    text = "variable type: No, Yes\ntype depends on Age (years)\nP(type=Yes | Age (years)=old) >= 0.3\n"
    found = credo.declared_network(text, data=table)
    assert set(found.network.names) == {"type", "Age (years)"}


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ("Age (years) is cut at 40, 60", '"Age (years)" is cut at 40, 60'),
        ("type depends on Age (years)", 'type depends on "Age (years)"'),
        ("variable Age (years): young, old", 'variable "Age (years)": young, old'),
        ("P(Age (years)=young) >= 0.2", 'P("Age (years)"=young) >= 0.2'),
    ],
)
def test_a_name_with_a_unit_gets_quotes_where_no_table_names_it(line: str, write: str) -> None:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.check(f"variable type: No, Yes\n{line}\n")
    assert [mistake.write for mistake in caught.value.mistakes] == [write]


def test_a_state_that_begins_with_a_sign_gets_quotes() -> None:
    text = "bmi is cut at 25, 30\nvariable type: No, Yes\ntype depends on bmi\nP(type=Yes | bmi=<25) <= 0.2\n"
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.check(text)
    (mistake,) = caught.value.mistakes
    assert mistake.write == 'P(type=Yes | bmi="<25") <= 0.2'


def test_what_means_nothing_gets_no_line() -> None:
    assert all(not mistake.write for mistake in mistakes("nobody knows what this says"))


def test_a_digit_behind_a_state_in_quotation_marks_is_a_mistake_like_any_other() -> None:
    with pytest.raises(credo.KnowledgeError):
        credo.Knowledge(credo.declared_network(HEAD).network, 'P(bmi="slim"2.0 is 10%')


def test_what_looks_like_a_mark_is_a_mistake_like_any_other() -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, parents={"b": ["a"]})
    with pytest.raises(credo.KnowledgeError):
        credo.fit(network, None, "@E7 doubles the risk of @V3")


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("diabetes is likely given high glu", '"diabetes" is not a variable of the network.'),
        ("glu shapes type", "Write, for instance, bmi raises glu, or P(glu=high | bmi=obese) >= 0.3."),
        ("age raises type", 'Did you mean "Age (years)"?'),
    ],
)
def test_without_a_line_to_write_the_advice_is_about_what_is_wrong(line: str, suggestion: str) -> None:
    network = credo.declared_network(HEAD).network
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.Knowledge(network, line)
    assert caught.value.mistakes[0].suggestion == suggestion


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("type is caused by glu and bmi", "Write type depends on glu, bmi."),
        ("type depends on glu bmi", "Write type depends on glu, bmi."),
        ("type ~ glu + bmi", "Write type depends on glu, bmi."),
        ("glu raises type", "Name a parent of type, or add the line type depends on glu."),
    ],
)
def test_arrows_in_other_words_get_the_line_that_declares_them(line: str, suggestion: str) -> None:
    rows = pl.DataFrame({"glu": [1, 2] * 5, "bmi": [1, 1, 2, 2, 1] * 2, "type": ["no", "yes"] * 5})
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.fit(line, rows)
    assert caught.value.mistakes[0].suggestion == suggestion


@pytest.mark.parametrize("verb", ["affects", "influences", "has an effect on", "matters for"])
def test_a_verb_without_a_direction_asks_for_it(verb: str) -> None:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.declared_network(f"{HEAD}glu {verb} type")
    (mistake,) = caught.value.mistakes
    assert mistake.message == "How glu affects type is not said."
    assert mistake.expected == "glu raises type, or glu lowers type"
    assert mistake.suggestion.endswith("For an arrow alone write type depends on glu.")


@pytest.mark.parametrize(
    "line", ["P(type=Yes | glu=high or smoke=yes) >= 0.3", "if glu=high or smoke=yes then type=Yes is likely"]
)
def test_or_between_conditions_is_named(line: str) -> None:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.declared_network(f"{HEAD}{line}")
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "condition-with-or"
    assert "a statement for each" in mistake.suggestion
