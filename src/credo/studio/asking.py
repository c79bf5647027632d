"""Questions of a page to what was learned, and their answers as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credo.errors import CredoError, QueryError
from credo.knowledge.query import Query
from credo.questions.marginals import marginals_given, marginals_of_network
from credo.questions.question_draws import why_no_interval
from credo.statistics.network_comparison import compare_networks
from credo.studio.opening import Opened
from credo.studio.result_data import MOST_CONFIGURATIONS
from credo.user_results import Fit

MOST_CHANGES = 50  # of numbers, between two fits
MOST_NUMBERS = 12  # that an answer is most sensitive to


def given_of(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """Evidence, interventions and soft evidence of a request."""
    evidence, do, soft = (request.get(kind) or {} for kind in ("evidence", "do", "soft"))
    if not all(isinstance(each, Mapping) for each in (evidence, do, soft)):
        raise QueryError("Evidence is a mapping from variables to states.")
    return evidence, do, soft


def bars_data(opened: Opened, request: Mapping[str, Any]) -> dict[str, Any]:
    """The bars of all variables under evidence, of the fit or of a network that has its CPTs."""
    evidence, do, soft = given_of(request)
    if opened.fit is not None:
        frame = marginals_given(opened.fit, evidence, interventions=do, soft=soft)
        source, note = "fit", why_no_interval(opened.fit)
    else:
        network = opened.given
        if network is None or not network.is_complete:
            return {"source": None, "bars": {}, "note": "Learn first: there are no probabilities yet."}
        frame = marginals_of_network(network, evidence, interventions=do, soft=soft)
        source, note = "network", "These are the numbers of the network file; learn, and they have intervals."
    bars: dict[str, list[list[float | None]]] = {}
    for variable, _, probability, low, high in frame.iter_rows():
        bars.setdefault(variable, []).append([probability, low, high])
    answer: dict[str, Any] = {"source": source, "bars": bars, "note": note}
    if request.get("before") is True and (before := _bars_before(opened, evidence, do, soft)):
        answer["before"] = before
    return answer


def _bars_before(
    opened: Opened, evidence: Mapping[str, Any], do: Mapping[str, Any], soft: Mapping[str, Any]
) -> dict[str, list[float]]:
    """The same bars under the fit before; none where there is none, or it was of other variables."""
    if opened.fit is None or opened.previous is None or not opened.previous.same_structure(opened.fit.network):
        return {}
    try:
        frame = marginals_of_network(opened.previous, evidence, interventions=do, soft=soft)
    except CredoError:  # such as evidence that was impossible then
        return {}
    bars: dict[str, list[float]] = {}
    for variable, _, probability, _, _ in frame.iter_rows():
        bars.setdefault(variable, []).append(probability)
    return bars


def sensitivity_data(fit: Fit, request: Mapping[str, Any]) -> dict[str, Any]:
    """Which numbers and which evidence the probability of a state depends on most."""
    evidence, do, soft = given_of(request)
    query = Query(
        {str(request.get("variable")): (str(request.get("state")),)},
        {name: (str(state),) for name, state in evidence.items()},
        {name: str(state) for name, state in do.items()},
    )
    found = fit.sensitivity(query, soft=soft)
    return {
        "query": found.query,
        "probability": found.probability,
        "parameters": found.parameters.head(MOST_NUMBERS).to_dicts(),
        "evidence": found.evidence.to_dicts(),
    }


def comparison_data(opened: Opened) -> dict[str, Any] | None:
    """What changed from the fit before to this one; None where there is none, or it was of other variables."""
    if opened.previous is None or opened.fit is None:
        return None
    try:
        found = compare_networks(opened.fit.network, opened.previous)
    except CredoError:
        return None
    largest = found.parameters.head(MOST_CHANGES)
    before = opened.previous
    return {
        "parameters": [{**row, "difference": abs(row["difference"])} for row in largest.iter_rows(named=True)],
        "cpts": {
            name: before.cpt_array(name).reshape(-1, len(before.states(name)))[:MOST_CONFIGURATIONS].tolist()
            for name in before.cpts
        },
    }
