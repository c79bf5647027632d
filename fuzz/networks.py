"""Network files: written random networks with changes of tokens and bytes, in every format of `FORMATS`."""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import lru_cache, partial
from pathlib import Path
from random import Random

import numpy as np

from credo.errors import CredoError
from credo.io.network_files import read_network, write_network
from credo.model.network import Network
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.names import network_from, with_cut_points, with_noisy_family

WORDS = {
    ".bif": 'network variable probability type discrete table default property { } ( ) [ ] | , ; 0.5 [2] // /* */ " '
    "credo_cut_points credo_range_seen credo_states = ? 1e999 -0.0",
    ".xmlbif": "<BIF> </BIF> <NETWORK> <VARIABLE> <NAME> <OUTCOME> <DEFINITION> <FOR> <GIVEN> <TABLE> </TABLE> "
    "<!-- --> <![CDATA[ ]]> <!DOCTYPE x [<!ENTITY a 'b'>]> &a; &#x41; TYPE=\"nature\" <PROPERTY> <?xml version='1.0'?> "
    "credo_cut_points credo_range_seen credo_states = ?",
    ".xdsl": '<smile> <nodes> <cpt id="a"> <state id="b"/> <parents> <probabilities> </probabilities> <noisymax> '
    "<strengths> <parameters> <deterministic> <resultingstates> <decision> <utility> <extensions> <genie> a b 1 0 &lt; "
    '<property id="credo_cut_points"> <property id="credo_states"> </property> 1e999 ? [ ]',
    ".uai": "BAYES MARKOV 0 1 2 3 0.5 1.0 \n",
    ".net": 'net node potential data states label ( ) { } | = ; " ( ( 0.5 0.5 ) ) normal utility decision discrete %',
    ".dsl": 'net node NODE TYPE STATES = ; { } ( ) " ID NAME PARENTS DEFINITION PROBABILITIES NAMESTATES CPT 0.5 ,',
}
STARTS = 2000  # networks that inputs start from, written once a worker


def written(network: Network, ending: str) -> bytes | None:
    """The content of the file that credo writes for a network; None where the format cannot hold it."""
    handle, name = tempfile.mkstemp(suffix=ending)
    os.close(handle)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_network(network, name)
        return Path(name).read_bytes()
    except CredoError:
        return None
    finally:
        Path(name).unlink(missing_ok=True)


@lru_cache(maxsize=STARTS)
def start(ending: str, number: int) -> bytes:
    """The file of a random network; names are plain where the format has no others."""
    choose = Random(f"{ending} {number}")
    is_strict = ending in (".xdsl", ".net", ".dsl")  # identifiers only, and every CPT
    content = None
    while content is None:
        odd, complete = (0.0, 1.0) if is_strict else (choose.choice((0.0, 0.3)), 0.9)
        network = network_from(choose, odd=odd, complete=complete, plain=is_strict)
        if ending == ".xdsl" and choose.random() < 0.3:
            network = with_noisy_family(choose, network)
        if ending != ".uai" and choose.random() < 0.4:  # UAI keeps cut points in a second file
            network = with_cut_points(choose, network)
        content = written(network, ending)
    return content


def make(ending: str, choose: Random) -> Input:
    """One of many written networks, with a few changes."""
    words = tuple(word.encode() for word in WORDS[ending].split(" "))
    return mutated(choose, start(ending, choose.randrange(STARTS)), words)


def check(ending: str, exact: bool, given: Input, folder: Path) -> str:
    """A valid network, which reads back as it is written, or a CredoError."""
    assert isinstance(given, bytes)
    path = folder / f"any{ending}"
    path.write_bytes(given)
    network = read_network(path)
    check_network(network)
    again = folder / f"again{ending}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_network(network, again)
    except CredoError:
        return "valid, not writable"
    back = read_network(again)
    check_network(back)
    if exact:
        assert back == network, "a network that was read, written and read again is another one"
    return "valid"


def check_network(network: Network) -> None:
    """Names are distinct texts, parents come first, and every distribution sums to one."""
    assert len(set(network.names)) == len(network.names) > 0, "names of variables are not distinct"
    assert set(network.order) == set(network.names), "the order does not hold every variable"
    for name, cpt in network.cpts.items():
        assert cpt.shape == network.shape(name), "a CPT has another shape than its variables"
        assert np.isfinite(cpt).all(), "a CPT holds a number that is not finite"
        assert (cpt >= 0).all(), "a CPT holds a negative number"
        assert np.abs(cpt.sum(axis=-1) - 1).max() < 1e-5, "a distribution does not sum to one"
    assert str(network), "a network cannot be printed"


def kind_for(ending: str, exact: bool = True) -> Kind:
    """The kind for files of one format."""
    return Kind(ending.removeprefix("."), partial(make, ending), partial(check, ending, exact), ending)


BIF = kind_for(".bif")
XMLBIF = kind_for(".xmlbif")
XDSL = kind_for(".xdsl")
UAI = kind_for(".uai")
NET = kind_for(".net", exact=False)  # pyAgrum reads single precision
DSL = kind_for(".dsl", exact=False)
