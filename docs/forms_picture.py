"""Draw the pictures of the page about large CPTs: one for each form. Run: python docs/forms_picture.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from credo.model.ranked_nodes import interpolated_cpt, ranked_cpt

INK, LIGHT, FIRST, SECOND, THIRD = "#37474f", "#cfd8dc", "#b2dfdb", "#4db6ac", "#00695c"
FOLDER = Path("docs/images")


def main() -> None:
    """Write a picture for gates, one for noisy families, and one for the CPTs of ranked and interpolated families."""
    gates = [
        *_box(20, 20, "pump_a"), *_box(20, 60, "pump_b"), *_box(20, 100, "pump_c"), *_box(20, 150, "filter"),
        *_box(200, 60, "2 of 3"), *_box(360, 100, "or", THIRD), *_box(500, 100, "cooling"),
        *_arrow(130, 34, 200, 70), *_arrow(130, 74, 200, 74), *_arrow(130, 114, 200, 80), *_arrow(310, 74, 360, 108),
        *_arrow(130, 164, 360, 120), *_arrow(470, 114, 500, 114),
    ]  # fmt: skip
    _write("form-gate.svg", gates, 630, 200)
    noisy = [
        *_box(20, 20, "flu"), *_box(20, 70, "cold"), *_box(20, 120, "leak", LIGHT), *_box(200, 20, "fever by flu"),
        *_box(200, 70, "fever by cold"), *_box(380, 70, "any", THIRD), *_box(520, 70, "fever"),
        *_arrow(130, 34, 200, 34), *_arrow(130, 84, 200, 84), *_arrow(310, 34, 380, 78), *_arrow(310, 84, 380, 84),
        *_arrow(130, 134, 380, 92), *_arrow(490, 84, 520, 84),
    ]  # fmt: skip
    _write("form-noisy.svg", noisy, 650, 170)
    ranked = ranked_cpt("mean", (3.0, 1.0), (3, 3), 3, 0.15)
    between = interpolated_cpt((3.0, 1.0), (3, 3), np.array([0.7, 0.2, 0.1]), np.array([0.05, 0.15, 0.8]))
    for name, cpt in (("form-ranked.svg", ranked), ("form-interpolated.svg", between)):
        _write(name, _bars(cpt), 560, 170)


def _bars(cpt: np.ndarray) -> list[str]:
    """A column for each configuration of two parents, low to high, cut by the child's states."""
    parts = []
    for number, (staff, budget) in enumerate(np.ndindex(3, 3)):
        x, y = 30 + 58 * number, 120.0
        for state, colour in enumerate((FIRST, SECOND, THIRD)):
            height = 100 * float(cpt[staff, budget, state])
            y -= height
            parts.append(f'<rect x="{x}" y="{y:.1f}" width="40" height="{height:.1f}" fill="{colour}"/>')
        words = f"{('low', 'medium', 'high')[staff]} staff", f"{('low', 'medium', 'high')[budget]} budget"
        for line, text in enumerate(words):
            parts.append(f'<text x="{x + 20}" y="{136 + 13 * line}" text-anchor="middle" font-size="8">{text}</text>')
    return parts


def _box(x: int, y: int, text: str, colour: str = FIRST) -> list[str]:
    ink = "#ffffff" if colour == THIRD else INK
    return [
        f'<rect x="{x}" y="{y}" width="110" height="28" rx="4" fill="{colour}"/>',
        f'<text x="{x + 55}" y="{y + 18}" text-anchor="middle" fill="{ink}">{text}</text>',
    ]


def _arrow(x: int, y: int, to_x: int, to_y: int) -> list[str]:
    return [f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="{INK}" marker-end="url(#end)"/>']


def _write(name: str, parts: list[str], width: int, height: int) -> None:
    marker = (
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    body = f'{head} font-family="sans-serif" font-size="13" fill="{INK}">\n{marker}\n' + "\n".join(parts) + "\n</svg>\n"
    (FOLDER / name).write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main()
