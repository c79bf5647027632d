"""Somebody without a mouse: every step is a key, and after each it is seen where the focus is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

MOST_STEPS = 150  # with the Tab key, from one thing to another

# What has the focus, and why somebody could not see that; empty where everybody can.
UNSEEN = """() => {
  const active = document.activeElement;
  if (!active || active === document.body) return 'nothing has the focus';
  const name = active.getAttribute('aria-label') ?? active.textContent.trim().slice(0, 40) ?? '';
  const what = `${active.tagName} ${active.className?.baseVal ?? active.className} “${name}”`;
  const box = active.getBoundingClientRect();
  const isInside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  if (!isInside) return `${what} is out of sight`;
  if (active.matches('.skip, dialog')) return '';
  const halo = active.querySelector('.react-flow__edge-interaction'); // of an arrow
  if (halo) return parseFloat(getComputedStyle(halo).strokeOpacity) > 0.2 ? '' : `${what} has no halo`;
  const outlined = active.closest('.cm-editor') ?? active;
  const style = getComputedStyle(outlined);
  return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 ? '' : `${what} has no outline`;
}"""


@dataclass(frozen=True)
class Keyboard:
    """The keys of one page."""

    page: Page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def to(self, target: Locator, key: str = "Tab") -> None:
        """Press a key until something has the focus; whatever has it on the way is seen to have it."""
        target.first.wait_for(state="attached")
        for _ in range(MOST_STEPS):
            if self.has_focus(target):
                self.is_seen()
                return
            self.press(key)
            self.is_seen()
        raise AssertionError(f"{MOST_STEPS} times {key} do not lead to {target}")

    def back_to(self, target: Locator) -> None:
        self.to(target, "Shift+Tab")

    def use(self, target: Locator, key: str = "Enter") -> None:
        """Go to something and press a key there."""
        self.to(target)
        self.press(key)

    def has_focus(self, target: Locator) -> bool:
        return bool(target.count()) and bool(target.first.evaluate("(each) => each === document.activeElement"))

    def is_seen(self) -> None:
        """Wait until the focus is somewhere, and seen there: what takes it may follow an answer of the studio."""
        for _ in range(500):
            if not (unseen := self.page.evaluate(UNSEEN)):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(unseen)

    def choose(self, target: Locator, option: str) -> None:
        """Choose from a list, by the first letters of an option."""
        self.to(target)
        self.type(option)
        expect(target.locator("option:checked")).to_have_text(re.compile(f"^{re.escape(option)}"))

    def part(self, target: Locator) -> None:
        """Go to a part of the page: F6 leads from each to the next, which a tablet shows with the next frame."""
        for _ in range(4):
            if self.has_focus(target):
                return
            self.press("F6")
            self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        raise AssertionError(f"F6 does not lead to {target}")

    def panel(self, name: str) -> None:
        """Go to a panel: F6 leads to the answers from everywhere, Shift+Tab to the tabs, arrow keys through them."""
        self.part(self.page.get_by_role("tabpanel"))
        self.press("Shift+Tab")
        tab = self.page.get_by_role("tab", name=name)
        self.to(tab, "ArrowRight")
        expect(tab).to_have_attribute("aria-selected", "true")
