"""Draw the picture on the start page: the data's estimates, what the notes allow, and what is learned.

Run from the repository's folder: python docs/picture.py
"""

from __future__ import annotations

from pathlib import Path

import credo
from credo.explain.explanation import ConfigurationExplanation

SHOWN = (
    ("metastatic_cancer", 0),
    ("brain_tumour", 0),
    ("brain_tumour", 1),
    ("coma", 0),
    ("coma", 2),
    ("ct_scan", 0),
    ("severe_headaches", 1),
)
LEFT, WIDTH, TOP, STEP = 330, 400, 62, 40
INK, DATA, ALLOWED, LEARNED = "#37474f", "#c2571a", "#b2dfdb", "#00695c"


def main() -> None:
    """Learn the example network and write the picture."""
    folder = Path("examples/brain-tumour")
    network = credo.read_network(folder / "brain-tumour.bif").without_cpts()
    knowledge = credo.read_knowledge(network, folder / "brain-tumour.credo")
    fit = credo.fit(network, folder / "patients.csv", knowledge)
    explained = fit.explain().configurations
    lines = [_line(network, explained[name][index], TOP + STEP * i) for i, (name, index) in enumerate(SHOWN)]
    Path("docs/images/two-sources.svg").write_text(_page(lines, TOP + STEP * len(SHOWN)), encoding="utf-8")


def _line(network: credo.Network, shown: ConfigurationExplanation, y: float) -> str:
    assert shown.interval is not None
    assert shown.frequencies is not None
    configuration = network.configuration(shown.variable, shown.index)
    given = ", ".join(f"{parent}={state}" for parent, state in configuration.items())
    event = f"{shown.variable}={network.states(shown.variable)[1]}"
    upper, lower = (f"P({event} |", f"{given})") if given else (f"P({event})", "")
    low, high = _x(shown.low[1]), _x(shown.high[1])
    least, most = _x(shown.interval[0][1]), _x(shown.interval[1][1])
    data, learned = _x(shown.frequencies[1]), _x(shown.learned[1])
    return f"""<text x="{LEFT - 14}" y="{y - 1}" text-anchor="end">{upper}</text>
<text x="{LEFT - 14}" y="{y + 13}" text-anchor="end">{lower}</text>
<rect x="{low:.1f}" y="{y - 9}" width="{high - low:.1f}" height="18" rx="3" fill="{ALLOWED}"/>
<path d="M{least:.1f} {y}H{most:.1f}" stroke="{LEARNED}" stroke-width="2.5"/>
<path d="M{data:.1f} {y - 8}l8 8l-8 8l-8 -8z" fill="none" stroke="{DATA}" stroke-width="2"/>
<circle cx="{learned:.1f}" cy="{y}" r="5" fill="{LEARNED}"/>
<text x="{LEFT + WIDTH + 16}" y="{y + 4}">{shown.observations:.0f}</text>"""


def _page(lines: list[str], bottom: float) -> str:
    grid = "\n".join(
        f'<path d="M{_x(value):.1f} {TOP - 16}V{bottom - 16}" stroke="#e0e0e0"/>'
        f'<text x="{_x(value):.1f}" y="{bottom + 2}" text-anchor="middle">{value}</text>'
        for value in (0, 0.25, 0.5, 0.75, 1)
    )
    body = "\n".join(lines)
    width, height = LEFT + WIDTH + 70, bottom + 18
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-size="11.5"
 font-family="system-ui, sans-serif" fill="{INK}">
<title>Seven probabilities: estimates from the data, ranges that the notes allow, and what credo learns</title>
<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>
<path d="M{LEFT} 18l7 7l-7 7l-7 -7z" fill="none" stroke="{DATA}" stroke-width="2"/>
<text x="{LEFT + 14}" y="29">data alone</text>
<rect x="{LEFT + 95}" y="17" width="26" height="16" rx="3" fill="{ALLOWED}"/>
<text x="{LEFT + 128}" y="29">what the notes allow</text>
<path d="M{LEFT + 262} 25H{LEFT + 290}" stroke="{LEARNED}" stroke-width="2.5"/>
<circle cx="{LEFT + 276}" cy="25" r="5" fill="{LEARNED}"/>
<text x="{LEFT + 298}" y="29">both, 95% interval</text>
<text x="{LEFT + WIDTH + 16}" y="46">rows</text>
{grid}
{body}
</svg>
"""


def _x(value: float) -> float:
    return LEFT + WIDTH * value


if __name__ == "__main__":
    main()
