"""What the boxes of variables hold, and how their names are written."""

from __future__ import annotations

import pytest

from credo import Network
from credo.drawing.network_boxes import MOST_ROWS, Bar, far_lines, network_boxes
from credo.probability_texts import short_percent


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.0, "0%"),
        (0.0001, "0.01%"),
        (0.004, "0.4%"),
        (0.0994, "9.9%"),
        (0.0996, "10%"),
        (0.5, "50%"),
        (0.989, "99%"),
        (0.9964, "99.6%"),
        (0.99999, ">99.9%"),
        (1.0, "100%"),
    ],
)
def test_percentages_have_a_decimal_near_the_ends(probability: float, text: str) -> None:
    assert short_percent(probability) == text


def test_of_many_states_the_most_probable_are_shown_in_their_order() -> None:
    network = Network({"a": [f"s{k}" for k in range(10)]})
    bars = [Bar(f"s{k}", [0.01, 0.3][k % 2]) for k in range(10)]
    box = network_boxes(network, {"a": bars})["a"]
    assert [bar.state for bar in box.rows] == ["s1", "s3", "s5", "s7", "s9"]
    assert len(box.rows) == MOST_ROWS - 1
    assert box.omitted == 5
    few = network_boxes(network, {"a": bars[:MOST_ROWS]})["a"]
    assert len(few.rows) == MOST_ROWS
    assert few.omitted == 0
    assert network_boxes(network)["a"].height < few.height


def test_names_seen_from_afar_are_divided_between_their_words() -> None:
    network = Network(dict.fromkeys(["severe_headaches_today", "PrtStatPaper", "coma"], ("no", "yes")))
    boxes = network_boxes(network, {name: [Bar("no", 0.5), Bar("yes", 0.5)] for name in network.names})
    lines = {name: far_lines(box)[0] for name, box in boxes.items()}
    assert lines["severe_headaches_today"] == ["severe_", "headaches_today"]
    assert lines["PrtStatPaper"] == ["PrtStat", "Paper"]
    assert lines["coma"] == ["coma"]


def test_an_interval_is_part_of_what_the_pointer_shows() -> None:
    assert str(Bar("yes", 0.124, 0.08, 0.17)) == "yes 12% (8.0% to 17%)"
    assert str(Bar("yes", 0.124)) == "yes 12%"
