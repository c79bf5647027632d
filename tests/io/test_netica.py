"""DNE files of Netica, written after its published grammar, with what real files hold beside the network."""

from __future__ import annotations

from pathlib import Path

import pytest

import credo

CHEST = r"""// ~->[DNET-1]->~

// File created by somebody using Netica 6.04 on Aug 23, 2018 at 16:39:10 UTC.

bnet Chest_Clinic {
autoupdate = TRUE;
comment = "See http://example.org; it runs \
over \"two\" lines { and braces";
visual V1 {
    defdispform = BELIEFBARS;
    nodefont = font {shape= "Arial"; size= 9;};
    NodeSet Node {BuiltIn = 1; Color = 0x00e1e1e1;};
    };

node Smoking {
    kind = NATURE;
    discrete = TRUE;
    chance = CHANCE;
    states = (Smoker, NonSmoker);
    parents = ();
    probs =
        // Smoker       NonSmoker
          (0.5,         0.5);
    belief = (0.5, 0.5);
    title = "Smoking";
    visual V1 { center = (186, 60); height = 1; };
    };

node Age {
    kind = NATURE;
    discrete = FALSE;
    chance = CHANCE;
    levels = (0, 40, 60, INFINITY);
    probs = (0.2, 0.3, 0.5);
    };

node Cancer {
    kind = NATURE;
    discrete = TRUE;
    states = (Present, Absent);
    inputs = (, Years);
    parents = (Smoking, Age);
    probs =
        // Present      Absent          // Smoking   Age
          (((0.1,       0.9),           // Smoker    0 to 40
            (0.2,       0.8),
            (0.3,       0.7)),
           ((@imposs,   1),
            (0.01,      0.99),
            (0.02,      0.98)));
    numcases = 1;
    };

node TbOrCa {
    kind = NATURE;
    discrete = TRUE;
    chance = DETERMIN;
    states = (True, False);
    parents = (Cancer, Smoking);
    functable =
          ((True,               // Present   Smoker
            True),
           (#1,
            False));
    };
node TITLE1 {
    kind = CONSTANT;
    discrete = TRUE;
    title = "A network";
    };
NodeSet Extra {Nodes = (Age);};
};
"""


def read(folder: Path, text: str) -> credo.Network:
    path = folder / "net.dne"
    path.write_text(text)
    return credo.read_network(path)


def test_nodes_states_and_numbers(tmp_path: Path) -> None:
    network = read(tmp_path, CHEST)
    assert network.name == "Chest_Clinic"
    assert network.names == ("Smoking", "Age", "Cancer", "TbOrCa")
    assert network.parents["Cancer"] == ("Smoking", "Age")
    assert network.states("Age") == ("<40", "40-60", "60+")
    assert network.variable("Age").cuts == credo.CutPoints((40, 60))
    assert network.cpt_array("Cancer").tolist() == [
        [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]],
        [[0, 1], [0.01, 0.99], [0.02, 0.98]],
    ]
    assert network.cpt_array("TbOrCa").tolist() == [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "kind = NATURE;\n    discrete = TRUE;\n    chance = CHANCE;\n    states",
            "kind = UTILITY;\n    states",
            "line 15: Node Smoking is of kind UTILITY",
        ),
        (
            "parents = (Smoking, Age)",
            "parents = (Smoking, Aeg)",
            'names "Aeg", which is not a node. Did you mean "Age"',
        ),
        ("(0.02,      0.98)", "(0.02)", "Node Cancer has 11 values in probs; it needs 12"),
        ("(0.02,      0.98)", "(0.02,      0.95)", "sums to 0.97"),
        ("@imposs", "@undef", "A probability of Cancer is not finite"),
        ("@imposs", "impossible", "Expected a number in probs of Cancer, not `impossible`"),
        ("#1", "Maybe", 'The functable of TbOrCa has "Maybe"'),
        ("levels = (0, 40, 60, INFINITY);", "", "Node Age is continuous and has no levels: discretise it"),
        ("bnet", "net", "Expected `bnet`"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CHEST
    with pytest.raises(credo.FormatError) as caught:
        read(tmp_path, CHEST.replace(old, new, 1))
    assert message in str(caught.value)


def test_it_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(credo.FormatError, match="read, not written. BIF"):
        credo.write_network(read(tmp_path, CHEST), tmp_path / "other.dne")


def test_distributions_that_are_undefined_are_not_given(tmp_path: Path) -> None:
    with pytest.warns(credo.errors.IncompleteCPTWarning, match=r"P\(Cancer \| .*\), one configuration of 6, is NaN"):
        network = read(tmp_path, CHEST.replace("(0.02,      0.98)", "(@undef, @undef)"))
    assert "Cancer" not in network.cpts


def test_an_equation_without_its_table_is_said_not_to_be_read(tmp_path: Path) -> None:
    node = 'node Old { kind = NATURE; states = (yes, no); parents = (Age); equation = "Old (Age) = Age > 50"; };\n'
    with pytest.warns(credo.errors.IncompleteCPTWarning, match="Node Old has an equation and no table"):
        network = read(tmp_path, CHEST.replace("node Cancer", node + "node Cancer"))
    assert "Old" not in network.cpts


def test_a_table_of_numbers_chooses_intervals(tmp_path: Path) -> None:
    node = """node Dose { kind = NATURE; discrete = FALSE; chance = DETERMIN; levels = (0, 10, 20, 30);
        parents = (Smoking); functable = (10, 25.5); };\n"""
    network = read(tmp_path, CHEST.replace("node Cancer", node + "node Cancer"))
    assert network.cpt_array("Dose").tolist() == [[0, 1, 0], [0, 0, 1]]


def test_titles_in_the_encoding_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "net.dne"
    path.write_bytes(CHEST.replace("node Cancer {", 'node Cancer { title = "für";').encode("latin-1"))
    assert credo.read_network(path).names == ("Smoking", "Age", "Cancer", "TbOrCa")
