"""How quickly the studio answers, in Chromium: `python -m benchmarks.studio`.

The first page; diagnostics of Alarm with thirty statements a node, from the last keystroke to the underlined mistake;
evidence, from the click to the moved bars, with intervals from the draws of a posterior; and how many frames a second
Andes shows while it is panned and zoomed. Times are what a user waits: the studio runs in a process of its own, and the
browser is on the same machine. On a machine that is busy with other things they say little, so that the load and, on
Linux, the processor time that the studio and its processes spent on one action stand beside them; `chrt -r 1 python -m
benchmarks.studio` keeps the others waiting. The networks are read
from `../shared/networks`, or made up in the same size.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

import credo
from benchmarks.recording import record
from credo.io.network_files import write_network
from credo.model.network import Network
from credo.shipped import example
from credo.studio.opening import fit_file
from credo.testing import alarm_like_network, andes_like_network, true_statements

NETWORKS = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
STATEMENTS = 30  # a variable
ROWS = 1000
REPEATS = 10
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
GOALS = {"first page": 2.0, "mistakes": 0.2, "signs": 0.2, "evidence": 0.1}  # seconds


def main() -> None:
    """Print every time beside its goal."""
    print(f"Processors: {os.cpu_count()}; load: {' '.join(f'{each:.1f}' for each in os.getloadavg())}", flush=True)
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if executable is None:
        print("There is no Chromium here: nothing was measured.")
        return
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        folder = Path(name)
        measure_first_page(browser, folder)
        measure_alarm(browser, folder)
        measure_andes(browser, folder)
        browser.close()


def network_or(name: str, otherwise: Network) -> Network:
    """A network of the repository beside this one, or a made-up one of its size."""
    path = NETWORKS / f"{name}.bif"
    return credo.read_network(path) if path.exists() else otherwise


@contextmanager
def studio(*arguments: Path) -> Iterator[tuple[str, int]]:
    """A studio in a process of its own; gives its address and the number of its process."""
    command = [sys.executable, "-m", "credo", "studio", "--no-browser", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                yield found[0], process.pid
                return
        raise RuntimeError("the studio did not start")
    finally:
        process.kill()
        process.wait()


def processor_time(process: int) -> float:
    """Seconds that a process and those that it started have spent so far; NaN where the system does not tell."""
    family, total = {process}, 0.0
    try:
        numbers = sorted(int(each) for each in os.listdir("/proc") if each.isdigit())
    except OSError:
        return float("nan")
    for number in numbers:  # a process has a higher number than the one that started it, nearly always
        with suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if number in family or int(fields[1]) in family:
                family.add(number)
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def page_time(session: CDPSession | None) -> float:
    """Seconds of processor time that the page's own thread has spent so far."""
    if session is None:
        return float("nan")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next((each["value"] for each in metrics if each["name"] == "TaskDuration"), float("nan")))


def report(what: str, measure: Callable[[int], float], process: int, session: CDPSession | None = None) -> None:
    """One line: the median and where nine of ten are, the goal, and what one of them cost the studio and the page."""
    goal, before, page_before = GOALS[what], processor_time(process), page_time(session)
    seconds = [measure(number) for number in range(REPEATS)]
    spent = (processor_time(process) - before) / REPEATS
    page_spent = (page_time(session) - page_before) / REPEATS
    middle, most, worst = (
        statistics.median(seconds),
        statistics.quantiles(seconds, n=10, method="inclusive")[-1],
        max(seconds),
    )
    verdict = "met" if middle <= goal else "MISSED"
    record("studio", what, {"median": middle, "90% within": most, "worst": worst, "goal": goal, "processor": spent})
    print(
        f"{what:<12}{1000 * middle:7.0f} ms (90% within {1000 * most:.0f}, worst {1000 * worst:.0f}); goal "
        f"{1000 * goal:.0f} ms: {verdict}; processor time of the studio {1000 * spent:.0f} ms, of the page "
        f"{1000 * page_spent:.0f} ms; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def measure_first_page(browser: Browser, folder: Path) -> None:
    """From the address to a network with its states."""
    for each in ("heart.credo", "patients.csv"):
        shutil.copyfile(example("heart") / each, folder / each)
    with studio(folder / "heart.credo", folder / "patients.csv") as (address, process):

        def first_page(_: int) -> float:
            with browser.new_context() as context:
                page = context.new_page()
                started = perf_counter()
                page.goto(address)
                page.locator(".node").first.wait_for()
                return perf_counter() - started

        report("first page", first_page, process)


def measure_alarm(browser: Browser, folder: Path) -> None:
    """Diagnostics and evidence, measured in the page: Playwright's own steps are not part of it."""
    alarm = network_or("alarm", alarm_like_network())
    write_network(alarm, folder / "alarm.bif")
    knowledge = credo.Knowledge(alarm, true_statements(alarm, STATEMENTS))
    (folder / "alarm.credo").write_text(knowledge.to_text() + "\n", encoding="utf-8")
    alarm.sample(ROWS, seed=1).write_csv(folder / "alarm.csv")
    credo.fit(alarm, folder / "alarm.csv", knowledge).save(fit_file(folder / "alarm.credo"))
    with studio(folder / "alarm.bif", folder / "alarm.csv") as (address, process), browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(300_000)
        page.goto(address)
        page.locator(".node").first.wait_for()
        page.locator(".chip.consistent").wait_for()
        page.evaluate(STOPWATCH)
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        while page.locator(".far").count():  # until the boxes show their bars
            page.get_by_role("button", name="Zoom In").click()
            page.wait_for_timeout(300)
        report("evidence", lambda number: evidence(page, number), process, session)
        page.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        report("mistakes", lambda _: mistakes(page), process, session)
        root = next(name for name in alarm.names if not alarm.parents[name])
        start = f"P({root}={alarm.states(root)[0]}) is at most"
        report("signs", lambda number: signs(page, f"{start} {90 + number / 10}%\n"), process, session)


STOPWATCH = """() => {
  // The time from an action to the first change that a condition accepts, in milliseconds; after the next frame.
  window.stopwatch = (action, done) => new Promise((resolve) => {
    const started = performance.now();
    const observer = new MutationObserver(() => {
      if (!done()) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - started));
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    action();
  });
}"""


def evidence(page: Page, number: int) -> float:
    """From a click on a state to bars that moved."""
    script = """(number) => {
      const nodes = [...document.querySelectorAll('.node')];
      const button = nodes[number % nodes.length].querySelectorAll('.state')[0];
      const shown = () => [...document.querySelectorAll('.node .number')].map((each) => each.textContent).join();
      const before = shown();
      return stopwatch(() => button.click(), () => shown() !== before);
    }"""
    return float(page.evaluate(script, number)) / 1000


def mistakes(page: Page) -> float:
    """From the last keystroke of a mistake to its underline; the mistake is then taken back."""
    page.evaluate(
        """() => { window.measured = stopwatch(() => {}, () => document.querySelector('.cm-lintRange-error')); }"""
    )
    page.keyboard.insert_text("nobody raises nothing")
    seconds = float(page.evaluate("() => window.measured")) / 1000
    page.keyboard.press("Control+z")
    page.locator(".cm-lintRange-error").wait_for(state="detached")
    return seconds


def signs(page: Page, line: str) -> float:
    """From the last keystroke of a statement to the sign that says whether it can hold with all the others."""
    page.evaluate(
        """() => {
          const shown = () => document.querySelector('.found .summary').textContent;
          const before = shown();
          window.measured = stopwatch(() => {}, () => shown() !== before);
        }"""
    )
    page.keyboard.insert_text(line)
    return float(page.evaluate("() => window.measured")) / 1000


def measure_andes(browser: Browser, folder: Path) -> None:
    """Frames while the network is zoomed out as a whole, panned, and zoomed in."""
    andes = network_or("andes", andes_like_network())
    write_network(andes, folder / "andes.bif")
    with studio(folder / "andes.bif") as (address, _), browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(address)
        page.locator(".node").first.wait_for()
        page.wait_for_timeout(1000)
        page.evaluate("""() => {
          window.frames_ = [];
          let last = performance.now();
          const tick = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(tick); };
          requestAnimationFrame(tick);
        }""")
        box = page.locator(".react-flow").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for what, act in (("pan", _pan), ("zoom", _zoom)):
            page.evaluate("() => { window.frames_.length = 0; }")
            act(page, x, y)
            frames = page.evaluate("() => window.frames_")
            slow = sorted(frames)[int(0.95 * len(frames))]
            rate = 1000 / statistics.mean(frames)
            record("studio", f"Andes, {what}", {"frames a second": rate, "95% of frames within": slow})
            print(f"Andes, {what:<6}{rate:8.0f} frames a second; 95% of frames within {slow:.0f} ms", flush=True)


def _pan(page: Page, x: float, y: float) -> None:
    page.mouse.move(x, y + 150)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x - 4 * step, y + 150 - 2 * step)
    page.mouse.up()


def _zoom(page: Page, x: float, y: float) -> None:
    page.mouse.move(x, y)
    for step in range(40):
        page.mouse.wheel(0, -60 if step < 20 else 60)
        page.wait_for_timeout(16)


if __name__ == "__main__":
    main()
