"""A large network in Chromium: readable as a whole, a variable found, and a table that is not written as usual."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import credo
from credo import write_network
from credo.testing import made_up_network
from tests.helpers.published import PUBLISHED_NETWORKS
from tests.studio.harness import Tab, opened_tab

WINDOW = {"viewport": {"width": 1280, "height": 800}}

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('.far-names span')].map((each) => each.getBoundingClientRect());
  const covers = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.filter((a, i) => boxes.some((b, j) => j > i && covers(a, b))).length;
}"""


@pytest.mark.slow
def test_a_large_network_is_readable_as_a_whole_and_a_variable_is_found(chromium: Browser, tmp_path: Path) -> None:
    network = made_up_network(120, (2, 3), (0.2, 0.6, 0.2), seed=3)  # thin enough for exact bars
    write_network(network, tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page = tab.page
        names = page.locator(".far-names span")
        expect(names.first).to_be_visible()
        assert names.count() > 30
        assert page.evaluate(OVERLAPS) == 0
        heights = page.evaluate(
            "() => [...document.querySelectorAll('.far-names span')].map((each) => each.getBoundingClientRect().height)"
        )
        assert min(heights) >= 8  # pixels on the screen, however far away the network is
        wanted = network.names[77]
        page.get_by_label("Find a variable in the network").fill(wanted)
        page.keyboard.press("Enter")
        box = page.get_by_role("group", name=f"Variable {wanted}", exact=True)
        expect(box.locator(".state").first).to_be_in_viewport()
        expect(page.locator(".far-names")).to_have_count(0)  # near enough for bars
        expect(page.get_by_role("combobox", name="How probable is")).to_have_value(wanted)
        expect(page.locator(".react-flow__minimap")).to_be_visible()
        assert tab.complaints == []


CUT_OFF = """() => {
  const room = document.querySelector('.canvas').getBoundingClientRect();
  const isOutside = (own) => own.left < room.left || own.right > room.right;
  const found = [...document.querySelectorAll('.far-names span, .node .name span')];
  const names = found.filter((each) => each.offsetParent);
  const isCut = (each) => each.textContent.includes('…') || each.scrollWidth > each.clientWidth + 1;
  const cut = names.filter((each) => isCut(each) || isOutside(each.getBoundingClientRect()));
  return [names.length, cut.map((each) => each.textContent)];
}"""


@pytest.mark.parametrize("width", [820, 1280, 1600])
def test_names_are_whole_and_inside(chromium: Browser, tmp_path: Path, width: int) -> None:
    """From afar, in as many lines as that takes; nothing else of a box is seen then."""
    names = ["STROKEVOLUME", "DieFromVaccineAssociatedTTS", "Covid19AssociatedCSVT", "LVFAILURE"]
    names.insert(3, "VesselNavigationOperationManagement")
    names = [f"{name}{number}" for number in range(width // 130) for name in names]
    parents = {name: names[max(0, place - 6) : max(0, place - 4)] for place, name in enumerate(names)}
    network = credo.Network({name: ["no", "yes"] for name in names}, parents)
    write_network(network, tmp_path / "long.bif")
    window = {"viewport": {"width": width, "height": 900}}
    with opened_tab(chromium, tmp_path.resolve(), window, "long.bif", None) as tab:
        expect(tab.page.locator(".far-names span").first).to_be_visible()
        tab.page.wait_for_timeout(300)  # the network comes into sight
        assert tab.page.evaluate(CUT_OFF) == [len(names), []]
        tab.page.get_by_label("Find a variable in the network").fill(names[1])
        tab.page.keyboard.press("Enter")
        expect(tab.page.locator(".far-names")).to_have_count(0)
        box = tab.page.get_by_role("group", name=f"Variable {names[1]}", exact=True)
        name, states = box.locator(".name span").bounding_box(), box.locator(".states").bounding_box()
        assert name is not None
        assert states is not None
        assert name["y"] + name["height"] <= states["y"] + 2


WORDS = [
    "Reliability",
    "of_the",
    "Propulsion",
    "System",
    "Copy_2",
    "Environmental",
    "constraint",
    "AUV",
    "Failure",
    "salvage",
]


@pytest.mark.parametrize(("width", "height"), [(800, 1100), (1440, 900)])
def test_long_names_of_many_variables_have_a_place_of_their_own(
    chromium: Browser, tmp_path: Path, width: int, height: int
) -> None:
    long = _long_network(80)
    write_network(long, tmp_path / "long.bif")
    window = {"viewport": {"width": width, "height": height}}
    with opened_tab(chromium, tmp_path.resolve(), window, "long.bif", None) as tab:
        expect(tab.page.locator(".far-names span").first).to_be_visible()
        tab.page.wait_for_timeout(300)  # the network comes into sight
        assert tab.page.evaluate(CUT_OFF) == [len(long), []]
        assert_names_are_whole_at_every_zoom(tab.page, long.names)


WHOLE_NAMES = """() => {
  const zoom = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a;
  const lettersOf = (each) => zoom * parseFloat(getComputedStyle(each).fontSize);
  const nameOf = (each) => [...each.querySelectorAll('b')].map((line) => line.textContent).join('');
  const names = [...document.querySelectorAll('.far-names span')];
  return Object.fromEntries(names.map((each) => [nameOf(each), lettersOf(each)]));
}"""

UNNAMED = """() => {
  const rectOf = (each) => each.getBoundingClientRect();
  const nameOf = (each) => [...each.querySelectorAll('b')].map((line) => line.textContent).join('');
  const spans = new Map([...document.querySelectorAll('.far-names span')].map((each) => [nameOf(each), rectOf(each)]));
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const isNamed = (box) => spans.has(box.dataset.id) && meet(spans.get(box.dataset.id), rectOf(box));
  const boxes = [...document.querySelectorAll('.react-flow__node')];
  return boxes.filter((box) => !isNamed(box)).map((box) => box.dataset.id);
}"""

CUT_IN_BOXES = """() => {
  const isCut = (each) => each.scrollWidth > each.clientWidth + 1 || each.textContent.includes('…');
  return [...document.querySelectorAll('.node .name span')].filter(isCut).map((each) => each.textContent);
}"""


def assert_names_are_whole_at_every_zoom(page: Page, names: Sequence[str]) -> None:
    """From the smallest zoom on, until boxes show their names themselves: none is missing, cut, tiny or covered."""
    page.locator(".canvas").focus()
    for _ in range(30):
        if page.get_by_role("button", name="Zoom Out").is_disabled():
            break
        page.keyboard.press("-")
        page.wait_for_timeout(50)
    expect(page.get_by_role("button", name="Zoom Out")).to_be_disabled()
    for _ in range(30):
        if not page.locator(".far-names").count():
            break
        seen = page.evaluate(WHOLE_NAMES)
        assert set(seen) == set(names)
        assert min(seen.values()) >= 6.49  # pixels, of their letters
        assert page.evaluate(OVERLAPS) == 0
        assert page.evaluate(UNNAMED) == []
        page.keyboard.press("+")
        page.wait_for_timeout(100)
    expect(page.locator(".far-names")).to_have_count(0)
    assert page.locator(".node .name span").count() > 0
    assert page.evaluate(CUT_IN_BOXES) == []


def _long_network(variables: int) -> credo.Network:
    """A made-up network, every fourth name of which is longer than 35 letters."""
    network = made_up_network(variables, (2, 4), (0.3, 0.5, 0.2), seed=3)
    called = {
        name: "_".join(WORDS[(3 * k + j) % len(WORDS)] for j in range(1 + k % 4)) + str(k)
        for k, name in enumerate(network.names)
    }
    assert max(map(len, called.values())) > 35
    return credo.Network(
        {called[name]: network.states(name) for name in network.names},
        {called[name]: [called[parent] for parent in network.parents[name]] for name in network.names},
    )


SIZES = {"alarm": 37, "hailfinder": 56, "andes": 223, "diabetes": 413, "link": 724}


@pytest.mark.slow
@pytest.mark.parametrize("width", [800, 1200, 1440])
@pytest.mark.parametrize("name", SIZES)
def test_no_name_of_a_published_network_vanishes(chromium: Browser, tmp_path: Path, name: str, width: int) -> None:
    """Where they are not there, of a network that is as large."""
    files = [PUBLISHED_NETWORKS / f"{name}.bif", PUBLISHED_NETWORKS / f"{name}.bif.gz"]
    found = next((file for file in files if file.exists()), None)
    network = _long_network(SIZES[name]) if found is None else credo.read_network(found)
    write_network(network, tmp_path / "large.bif")
    dark = "dark" if width == 1200 else "light"
    window = {"viewport": {"width": width, "height": 900}, "color_scheme": dark}
    with opened_tab(chromium, tmp_path.resolve(), window, "large.bif", None) as tab:
        expect(tab.page.locator(".far-names span").first).to_be_visible()
        tab.page.wait_for_timeout(500)
        assert_names_are_whole_at_every_zoom(tab.page, network.names)
        assert tab.complaints == []


def test_what_is_not_seen_as_a_whole_begins_around_the_chosen_variable(chromium: Browser, tmp_path: Path) -> None:
    network = _long_network(260)
    write_network(network, tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page = tab.page
        expect(page.locator(".far-names span").first).to_be_visible()
        page.wait_for_timeout(300)
        selected = page.locator(".far-names .selected")
        expect(selected).to_be_in_viewport()
        canvas, minimap = page.locator(".canvas").bounding_box(), page.locator(".react-flow__minimap")
        own, of_map = selected.bounding_box(), minimap.bounding_box()
        assert canvas is not None
        assert own is not None
        assert of_map is not None
        assert canvas["y"] <= own["y"]
        assert own["x"] >= of_map["x"] + of_map["width"] or own["y"] + own["height"] <= of_map["y"]
        frame = page.evaluate(VIEWPORT)
        minimap.click(position={"x": of_map["width"] * 0.5, "y": of_map["height"] * 0.9})
        page.wait_for_timeout(500)
        assert page.evaluate(VIEWPORT) != frame  # a click on the map goes there
        page.get_by_role("button", name="Fit View").click()
        page.wait_for_timeout(300)
        expect(page.get_by_role("button", name="Zoom Out")).to_be_disabled()
        assert set(page.evaluate(WHOLE_NAMES)) == set(network.names)
        assert tab.complaints == []


VIEWPORT = "() => document.querySelector('.react-flow__viewport').style.transform"


def test_a_box_that_is_moved_over_another_one_keeps_its_name(chromium: Browser, tmp_path: Path) -> None:
    network = _long_network(40)
    write_network(network, tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page = tab.page
        expect(page.locator(".far-names span").first).to_be_visible()
        page.wait_for_timeout(300)
        one, other = (page.locator(".react-flow__node").nth(place).bounding_box() for place in (5, 20))
        assert one is not None
        assert other is not None
        page.mouse.move(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2)
        page.mouse.down()
        page.mouse.move(other["x"] + other["width"] / 2 + 4, other["y"] + other["height"] / 2 + 3, steps=4)
        page.mouse.up()
        page.wait_for_timeout(300)
        assert set(page.evaluate(WHOLE_NAMES)) == set(network.names)


OUT_OF_SIGHT = """() => {
  const room = document.querySelector('.canvas').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.react-flow__node')].map((each) => each.getBoundingClientRect());
  const isWide = (own) => own.left < room.left || own.right > room.right;
  const isHigh = (own) => own.top < room.top || own.bottom > room.bottom;
  return boxes.filter((own) => isWide(own) || isHigh(own)).length;
}"""


def test_slices_of_time_are_all_in_the_first_picture(chromium: Browser, tmp_path: Path) -> None:
    slices = range(70)
    parents = {
        f"{name}_{k}": [f"{before}_{k}"] if before else [f"c_{k - 1}"] * (k > 0)
        for k in slices
        for name, before in (("a", ""), ("b", "a"), ("c", "b"))
    }
    network = credo.Network({name: [str(k) for k in range(8)] for name in parents}, parents)
    write_network(network, tmp_path / "slices.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "slices.bif", None) as tab:
        page = tab.page
        expect(page.locator(".far-names span").first).to_be_visible()
        page.wait_for_timeout(300)
        expect(page.locator(".react-flow__node")).to_have_count(len(network))
        assert page.evaluate(OUT_OF_SIGHT) == 0
        box = page.locator(".react-flow__node").first.bounding_box()
        assert box is not None
        assert box["width"] >= 6  # pixels
        assert tab.complaints == []


def test_a_moved_box_stays_where_a_stretched_picture_has_it(chromium: Browser, tmp_path: Path) -> None:
    network = made_up_network(60, (2, 3), (0.3, 0.7), seed=3)
    write_network(network, tmp_path / "large.bif")
    name = network.names[30]
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page = tab.page
        node = page.locator(f'.react-flow__node[data-id="{name}"]')
        expect(page.locator(".far-names span").first).to_be_visible()
        page.wait_for_timeout(300)
        box = node.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 40, box["y"] + 25, steps=4)
        with page.expect_response("**/api/**"):
            page.mouse.up()
        page.wait_for_timeout(300)
        before = node.evaluate("(each) => each.style.transform")
        page.reload()
        expect(page.locator(".far-names span").first).to_be_visible()
        page.wait_for_timeout(300)
        one, other = (
            [float(x) for x in re.findall(r"-?[\d.]+(?=px)", text)]
            for text in (before, node.evaluate("(each) => each.style.transform"))
        )
        assert other == pytest.approx(one, abs=1.5)


def test_a_name_is_whole_where_the_pointer_is(chromium: Browser, tmp_path: Path) -> None:
    names = [f"HowOftenTheWindBlowsOverTheSeaFromTheNorthAndTheEast{number}" for number in range(60)]
    network = credo.Network({name: ["no", "yes"] for name in names}, {names[k]: [names[k // 4]] for k in range(1, 60)})
    write_network(network.with_cpts({each: _even(network, each) for each in names}), tmp_path / "wide.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "wide.bif", None) as tab:
        page = tab.page
        expect(page.locator(".far-names span").first).to_be_visible()
        page.locator(".react-flow__node", has_text=names[20]).hover()
        pointed = page.locator(".far-names .pointed")
        expect(pointed).to_have_text(f"{names[20]}yes 50%")
        room, own = page.locator(".canvas").bounding_box(), pointed.bounding_box()
        assert room is not None
        assert own is not None
        assert room["x"] <= own["x"] <= own["x"] + own["width"] <= room["x"] + room["width"]
        page.mouse.move(room["x"] + 5, room["y"] + 300)
        expect(pointed).to_have_count(0)
        assert tab.complaints == []


def _even(network: credo.Network, name: str) -> list[list[float]] | list[float]:
    return [[0.5, 0.5]] * 2 if network.parents[name] else [0.5, 0.5]


COUNT_STATES = """() => {
  window.drawnStates = 0;
  const count = (changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((each) => {
    window.drawnStates += each.querySelectorAll?.('.node .state').length ?? 0;
  }));
  new MutationObserver(count).observe(document, { childList: true, subtree: true });
}"""


@pytest.mark.slow
def test_a_very_large_network_is_drawn_without_what_nobody_can_see(chromium: Browser, tmp_path: Path) -> None:
    network = made_up_network(450, (2, 3), (0.3, 0.7), seed=3)
    write_network(network, tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page = tab.page
        expect(page.locator(".far-arrows path").first).to_be_attached()
        assert 20 < page.locator(".react-flow__node").count() < 450  # what is in sight
        expect(page.locator(".react-flow__minimap-node")).to_have_count(450)
        assert page.locator(".state").count() == page.locator(".react-flow__edge").count() == 0
        page.add_init_script(f"({COUNT_STATES})()")
        page.reload()
        expect(page.locator(".far-names span").first).to_be_visible()
        assert page.evaluate("() => window.drawnStates") == 0  # not even at first
        wanted = network.names[77]
        page.get_by_label("Find a variable in the network").fill(wanted)
        page.keyboard.press("Enter")
        box = page.get_by_role("group", name=f"Variable {wanted}", exact=True)
        expect(box.locator(".state").first).to_be_in_viewport()
        expect(page.locator(".far-arrows")).to_have_count(0)
        expect(page.locator(".react-flow__edge").first).to_be_attached()
        assert tab.complaints == []


@pytest.mark.slow
def test_a_table_that_is_not_written_as_usual_is_opened(tab: Tab) -> None:
    (tab.folder / "fever.csv").write_bytes("grippé|fever\nno|37,1\nyes|38,5\nno|36,8\nyes|39,0\n".encode("cp1252"))
    page = tab.page
    page.reload()
    page.get_by_role("button", name="Open …").click()
    page.get_by_role("combobox", name="Table").select_option("fever.csv")
    page.get_by_label("Between cells").select_option("|")
    page.get_by_label("Encoding").select_option("cp1252")
    page.get_by_label("Decimals").select_option(",")
    rows = page.get_by_role("region", name="The first rows of fever.csv")
    expect(rows).to_contain_text("grippé")
    expect(rows).to_contain_text("37.1")
    page.get_by_role("button", name="Open these").click()
    expect(page.get_by_role("group", name="Variable grippé")).to_be_visible()


@pytest.mark.slow
def test_a_sheet_of_a_workbook_is_chosen(tab: Tab) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for title, cells in (("2025", ("no", "no")), ("2026", ("no", "yes"))):
        sheet = book.create_sheet(title)
        for cell in ("flu", *cells):
            sheet.append([cell])
    book.save(tab.folder / "flu.xlsx")
    page = tab.page
    page.get_by_role("button", name="Open …").click()
    page.get_by_role("combobox", name="Table").select_option("flu.xlsx")
    expect(page.get_by_text("several sheets")).to_be_visible()
    expect(page.get_by_role("button", name="Open these")).to_be_disabled()
    page.get_by_label("Sheet").select_option("2026")
    expect(page.get_by_role("region", name="The first rows of flu.xlsx")).to_contain_text("yes")
    page.get_by_role("button", name="Open these").click()
    expect(page.get_by_role("group", name="Variable flu")).to_contain_text("yes")


@pytest.mark.slow
def test_findings_are_grouped_and_one_that_the_data_contradict_is_left_out(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("button", name=re.compile("leave this one out: line 17, sensitivity")).click()
    expect(page.locator(".cm-content")).to_contain_text("# left out: sensitivity of ecg")
    expect(page.get_by_text("Contradicted by the data (1)")).to_have_count(0)
    page.get_by_text(re.compile(r"Consistent with the others \(7\)")).click()
    expect(page.locator(".statements li")).to_have_count(7)
    page.get_by_role("button", name="12: age raises disease").click()
    expect(page.locator(".cm-activeLine")).to_have_text("age raises disease")
