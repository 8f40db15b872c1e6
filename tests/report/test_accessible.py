"""Readable by everybody: axe-core finds nothing, keys reach what the mouse does, paper shows it all."""

import base64
import re
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.report.conftest import HOME, shown_as

browser_test = pytest.mark.browser
PRINTED = 1031
"""Pixels across what is printed on a sheet of A4, landscape, between margins of 12 mm."""
UNDECIDED = {"bgOverlap", "elmPartiallyObscured", "elmPartiallyObscuring", "nonBmp", "shortTextContent"}
"""Why axe leaves a contrast open: a cell over several rows, a symbol; the palette is measured below."""
RUN = """
  const [rules, done] = arguments;
  document.querySelectorAll("details").forEach((box) => (box.open = true));
  const asked = rules.length ? {runOnly: rules} : {rules: {"target-size": {enabled: true}}};
  axe.run(document, asked).then(done, (error) => done({error: String(error)}));
"""
SHOWN = {
    (1280, "light"): [],
    (1280, "dark"): ["color-contrast"],
    (400, "light"): ["target-size", "scrollable-region-focusable", "color-contrast"],
}
"""How a page is shown, and the rules that may come out otherwise than wide and light, where all are asked."""


def checked(browser, rules: list[str]) -> dict:
    """What axe-core says of the page by `rules` (none: all), all of it unfolded."""
    if not browser.execute_script("return Boolean(window.axe)"):
        browser.execute_script(
            files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        )
    return browser.execute_async_script(RUN, rules)


def found(result: dict) -> Iterator[str]:
    """The violations, and what is left open for another reason than those that are known."""
    for rule in result["violations"]:
        yield f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:200]}"
    for rule in result["incomplete"]:
        reasons = {(check["data"] or {}).get("messageKey") for node in rule["nodes"] for check in node["any"]}
        if rule["id"] != "color-contrast" or not reasons <= UNDECIDED:
            yield f"open: {rule['id']}, {reasons}: {rule['nodes'][0]['html'][:200]}"


@browser_test
def test_axe_finds_no_violation_on_any_kind_of_page(browser, report, site):
    """Light and dark, wide and narrow; a page with a missing label is found (the check can fail)."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= 9
    problems = []
    browser.set_script_timeout(120)
    for path, ((width, scheme), rules) in product(pages, SHOWN.items()):
        shown_as(browser, width, scheme)
        if not rules:
            browser.get(path.as_uri())
        result = checked(browser, rules)
        assert len(result["passes"]) > (0 if rules else 20)
        problems += [f"{path.name} {width} {scheme}: {problem}" for problem in found(result)]
    assert problems == []
    browser.get(report("pages/claims.html"))
    browser.execute_script(
        "document.querySelector('.filter label').replaceWith(document.createElement('input'))"
    )
    assert "label" in [rule["id"] for rule in checked(browser, [])["violations"]]


def press_tab_to(browser, selector: str, most: int = 80) -> None:
    """Press Tab until what has the focus is `selector`."""
    for _ in range(most):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        if browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
            return
    pytest.fail(f"{selector} was not reached by {most} presses of Tab")


def rows_shown(browser) -> int:
    return len(
        [row for row in browser.find_elements(By.CSS_SELECTOR, ".numbers tbody tr[id]") if row.is_displayed()]
    )


@browser_test
@pytest.mark.parametrize("by_keyboard", [False, True])
def test_a_number_leads_to_its_runs_and_they_to_their_curves(browser, report, by_keyboard):
    """As many runs are shown as the claim counts; a small curve becomes large, and small again."""
    browser.get(report("pages/claims.html"))
    row = browser.find_element(By.XPATH, "//tr[.//a[text()='made-1']]")
    number, n = row.find_elements(By.CSS_SELECTOR, "td.n a")
    count, address = int(n.text), n.get_attribute("href")
    assert number.get_attribute("href") == address
    if by_keyboard:
        press_tab_to(browser, "td.n a")
        assert browser.switch_to.active_element == number
        browser.switch_to.active_element.send_keys(Keys.ENTER)
    else:
        number.click()
    WebDriverWait(browser, 10).until(lambda driver: "addition.html" in driver.current_url)
    assert rows_shown(browser) == count
    button = next(filter(WebElement.is_displayed, browser.find_elements(By.CSS_SELECTOR, "button.curve")))
    assert re.match("train loss from .* to", button.accessible_name)
    small = button.size
    for expanded in ("true", "false"):
        if not by_keyboard:
            button.click()
        elif expanded == "true":
            press_tab_to(browser, "button.curve")
            assert browser.switch_to.active_element == button
        if by_keyboard:
            button.send_keys(Keys.ENTER)
        assert button.get_attribute("aria-expanded") == expanded
        large = button.size["width"] > 4 * small["width"] and button.size["height"] > 4 * small["height"]
        assert large == (expanded == "true")
    assert browser.get_log("browser") == []


@browser_test
def test_the_skip_link_is_first_and_leads_past_the_navigation(browser, report):
    browser.get(report("pages/claims.html"))
    ActionChains(browser).send_keys(Keys.TAB).perform()
    first = browser.switch_to.active_element
    assert first.text == "Skip to the results"
    assert first.rect["x"] >= 0
    first.send_keys(Keys.ENTER)
    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert browser.execute_script("return document.querySelector('main').contains(document.activeElement)")


@browser_test
def test_the_focus_goes_through_a_page_in_its_order_and_is_seen(browser, report):
    """Each stop is lower or further right in the document than the one before, and has an outline."""
    browser.get(report("pages/claims.html"))
    browser.execute_script("window.stops = []")
    for _ in range(30):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        browser.execute_script("stops.push(document.activeElement)")
    order, outlined = browser.execute_script("""
        const after = (a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
        const seen = stops.filter((stop) => stop !== document.body);
        stops.at(-1).focus();
        return [seen.slice(1).map((stop, k) => after(seen[k], stop)),
                getComputedStyle(document.activeElement).outlineStyle];
    """)
    assert len(order) > 25
    assert all(order)
    assert outlined == "solid"


@browser_test
@pytest.mark.latex
def test_paper_shows_what_is_folded_and_nothing_is_cut(browser, report, site, tmp_path):
    """Claims behind a fold are on paper, controls are not, and each page is as wide as its sheet."""
    address = report("pages/made2016/addition.html")
    browser.get(address)
    browser.execute_script("document.querySelectorAll('details').forEach((box) => (box.open = false))")
    sheet = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(sheet["data"]))
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    )
    words = " ".join(text.stdout.split())
    assert "made-1" in words
    assert "50 % of <b>" in words
    assert "Filter the runs" not in words
    assert "all claims" not in words
    for path in sorted(site.rglob("*.html")):
        shown_as(browser, PRINTED, media="print")
        browser.get(path.as_uri())
        page = "document.documentElement"
        assert browser.execute_script(f"return {page}.scrollWidth - {page}.clientWidth") <= 0, path


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG 2 has it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_of_a_text_stands_out_from_every_ground():
    """At least 4.5 to 1, in light and in dark; the measure gives 21 for black on white."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    style = (Path(HOME) / "report" / "templates" / "style.css").read_text(encoding="utf-8")
    palettes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    light, dark, _ = palettes
    for palette in (light, dark):
        for text, ground in product(
            ("text", "soft", "link", "good", "bad", "open", "none"), ("page", "card", "head")
        ):
            assert contrast(palette[text], palette[ground]) >= 4.5, (text, ground)
