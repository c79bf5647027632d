"""The page writes percentages as everything else does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from credo.probability_texts import short_percent

WORDS = Path(__file__).resolve().parents[2] / "frontend" / "src" / "share" / "words.js"
WRITTEN = """async ([source, values]) => {
  const { percent } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return values.map(percent);
}"""


def test_the_page_and_the_terminal_write_the_same_percentages(chromium: Browser) -> None:
    shares = [k / whole for whole in (800, 1000, 1024, 10_000) for k in range(whole + 1)]  # with halves to be rounded
    small = (10.0 ** -np.random.default_rng(1).uniform(0, 14, 2000)).tolist()
    values = [*shares, *small, *(1.0 - each for each in small)]
    with chromium.new_context() as context:
        written = context.new_page().evaluate(WRITTEN, [WORDS.read_text(), values])
    assert written == [short_percent(value) for value in values]
