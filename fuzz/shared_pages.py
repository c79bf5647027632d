"""Shared pages of random networks: their script answers what credo answers, names stay text, nothing is loaded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import credo
from credo.errors import CredoError
from credo.knowledge.query import Query
from credo.model.expansion import expand
from credo.questions.question_draws import draws_for
from credo.sharing.page import share_page
from credo.statistics.questions import answer, marginal_factors
from fuzz.kind import Input, Kind
from fuzz.names import network_from
from fuzz.statements import quoted

CLOSE = 1e-9
SMALLEST = np.log(1e-250)  # P of what is known, under a draw
DRAWN = 0.1  # of the inputs: with draws, so that there are intervals
FEW = credo.PosteriorOptions(chains=2, draws=15, warmup=15, max_draws=15)
RUNNER = Path(__file__).with_name("page_runner.js")
PART = re.compile(r'<script[^>]*id="(content|numbers)"[^>]*>(.*?)</script>', re.DOTALL)
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
LOADS = re.compile(r"""(?:src|href|action)\s*=\s*["']?(?!data:|#)[^"'\s>]+|@import|url\((?!['"]?data:)""", re.I)

_node: subprocess.Popen[str] | None = None


def make(choose: Random) -> Input:
    """A network, what is known in some cases, and some decisions."""
    network = network_from(choose, (1, 5), odd=0.3, complete=1.0)
    decision = choose.choice(network.names)
    cases = []
    for _ in range(4):
        known, do, soft = {}, {}, {}
        for name in network.names:
            states, how = list(network.states(name)), choose.random()
            if how < 0.25:
                known[name] = choose.choice(states)
            elif how < 0.35:
                do[name] = choose.choice(states)
            elif how < 0.45:
                soft[name] = {state: round(choose.uniform(0.1, 1), 2) for state in states}
        cases.append([known, do, soft])
    return {
        "states": {name: list(network.states(name)) for name in network.names},
        "parents": {name: list(network.parents[name]) for name in network.names},
        "cpts": {name: network.cpt_array(name).tolist() for name in network.names},
        "cases": cases,
        "title": choose.choice(("", "A <b>title</b>", "</script><script>alert(1)</script>", "é")),
        "decision": decision if len(network.states(decision)) > 1 and choose.random() < 0.3 else None,
        "is drawn": choose.random() < DRAWN,
    }


def check(given: Input, folder: Path) -> str:
    """The page has one script and loads nothing; its answers and decisions are those of credo to nine digits."""
    assert isinstance(given, dict)
    network = credo.Network(given["states"], given["parents"], given["cpts"])
    lines = []
    if given["decision"] is not None:
        name = given["decision"]
        states = network.states(name)
        lines = [f"decision {quoted(name)}: {', '.join(map(quoted, states))}"]
        lines += [f"utility of {quoted(name)}={quoted(states[0])} is -3.5"]
        lines += [
            f"utility of {quoted(each)}={quoted(network.states(each)[0])} is 10"
            for each in network.names
            if each != name
        ]
    if given["is drawn"]:
        structure = network.without_cpts()
        fit = credo.fit(structure, network.sample(20, seed=0), lines, posterior=FEW, progress=False)
    else:
        fit = credo.fit(network, network.sample(1, seed=0), lines, fixed=network.names, method="ml", progress=False)
    page = share_page(fit, title=given["title"])
    parts = dict(PART.findall(page))
    scripts = SCRIPT.findall(page)
    assert len(scripts) == 1, f"{len(scripts)} scripts"
    assert page.count("<script") == 3, "a name that is a script"
    rest = SCRIPT.sub("", PART.sub("", page))
    assert not LOADS.search(rest), "a page that loads something"
    decided: list[dict[str, str]] = [{}] if lines else []
    found = _answers(scripts[0], parts["content"], parts["numbers"], given["cases"], decided)
    assert "failed" not in found, f"the script fails; {found.get('failed', '')[:300]}"
    for (known, do, soft), answers in zip(given["cases"], found["answers"], strict=True):
        _require_equal(fit, known, do, soft, answers)
    for known, decision in zip(decided, found["decisions"], strict=True):
        expected = fit.decide(known)
        assert "error" not in decision, f"no decision; {decision}"
        values = [each["utility"] for each in decision["options"]]
        wanted = expected.options["utility"].to_list()
        assert all(abs(a - b) < 1e-7 for a, b in zip(values, wanted, strict=True)), "another expected utility"
    return "drawn" if given["is drawn"] else "decided" if lines else "equal"


def _require_equal(fit: credo.Fit, known: dict[str, str], do: dict[str, str], soft: dict[str, Any], found: Any) -> None:
    if _is_lost(fit, known, do):
        return
    try:
        expected = fit.marginals(known, interventions=do, soft=soft)
    except CredoError:
        expected = None
    if expected is None:
        assert isinstance(found, dict), "the page answers what credo refuses"
        return
    assert isinstance(found, list), f"the page refuses what credo answers; {found}"
    wanted = {(row[0], row[1]): row[2:] for row in expected.iter_rows()}
    assert {(name, state) for name, state, *_ in found} == set(wanted), "other states"
    for name, state, *numbers in found:
        for one, other in zip(numbers, wanted[name, state], strict=True):
            assert (one is None) == (other is None), "an interval that only one of both has"
            assert one is None or abs(one - other) < CLOSE, f"another answer; {name}={state}: {one} for {other}"


def _is_lost(fit: credo.Fit, known: dict[str, str], do: dict[str, str]) -> bool:
    """Whether evidence is next to impossible under some draws: which of these count is a matter of rounding."""
    network = expand(fit.network).network
    draws, _ = draws_for(fit, network, marginal_factors(network, known, do))
    if draws is None:
        return False
    _, log_evidence = answer(network, draws, Query({}, {name: (state,) for name, state in known.items()}, do))
    return bool((log_evidence < SMALLEST).any())


def _answers(script: str, content: str, numbers: str, cases: list[Any], decisions: list[Any]) -> dict[str, Any]:
    global _node
    if _node is None or _node.poll() is not None:
        program = shutil.which("node")
        assert program is not None, "Node.js runs the script of pages, and is not installed"
        _node = subprocess.Popen(
            [program, RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=_without_limits
        )
    assert _node.stdin is not None
    assert _node.stdout is not None
    given = {"script": script, "content": content, "numbers": numbers, "cases": cases, "decisions": decisions}
    _node.stdin.write(json.dumps(given) + "\n")
    _node.stdin.flush()
    return json.loads(_node.stdout.readline())


def _without_limits() -> None:
    """Node.js reserves more addresses than inputs may have, and lives longer than one."""
    import resource

    for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.getrlimit(which)[1]))
    os.setpgrp()


PAGES = Kind("pages", make, check, ".json", seconds=30.0)
