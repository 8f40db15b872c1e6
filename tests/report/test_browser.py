"""In a real browser: tables sort and filter by mouse and keyboard, anchors are found, no error is logged."""

import json
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tensor_rnns.report.build import build
from tests.report.conftest import shown_as

pytestmark = pytest.mark.browser


def column(table, number: int) -> list[str]:
    return [
        row.find_elements(By.CSS_SELECTOR, "th, td")[number].text
        for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")
        if row.is_displayed()
    ]


def requests(browser) -> list[str]:
    sent = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        event["params"]["request"]["url"] for event in sent if event["method"] == "Network.requestWillBeSent"
    ]


def test_a_table_sorts_and_filters(browser, report):
    browser.get("about:blank")
    requests(browser)
    browser.get(report("pages/coverage.html"))
    table = browser.find_element(By.CSS_SELECTOR, "#coverage table")
    name, drawn = (table.find_elements(By.CSS_SELECTOR, "thead th button")[k] for k in (1, 3))
    before = column(table, 1)
    name.click()
    assert column(table, 1) == sorted(before)
    assert table.find_elements(By.TAG_NAME, "th")[1].get_attribute("aria-sort") == "ascending"
    name.click()
    assert column(table, 1) == sorted(before, reverse=True)
    drawn.send_keys(Keys.ENTER)
    assert column(table, 3) == sorted(column(table, 3))
    assert table.find_elements(By.TAG_NAME, "th")[1].get_attribute("aria-sort") is None

    box = browser.find_element(By.CSS_SELECTOR, "#coverage input[type=search]")
    box.send_keys("made TABLE")
    assert column(table, 1) == ["table-1"]
    assert browser.find_element(By.CSS_SELECTOR, "#coverage output").text == "1 of 7"
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys(Keys.DELETE)
    assert len(column(table, 1)) == 7

    assert requests(browser) == [report("pages/coverage.html")]
    assert browser.get_log("browser") == []


def test_every_page_shows_its_pictures_and_loads_nothing_else(browser, site):
    seen = []
    for path in sorted(site.rglob("*.html")):
        browser.get("about:blank")
        requests(browser)
        browser.get(path.as_uri())
        browser.execute_script(
            "document.querySelectorAll('img').forEach((image) => (image.loading = 'eager'))"
        )
        shown = browser.execute_async_script(
            "Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth)))"
            ".then(arguments[0])"
        )
        assert all(width > 500 for width in shown)
        first, *others = requests(browser)
        assert first == path.as_uri()
        assert all(other.startswith((site / "pages" / "pictures").as_uri()) for other in others)
        seen += others
        assert browser.get_log("browser") == []
    assert len(seen) == 2


def test_an_anchor_that_has_moved_is_followed(browser, report):
    browser.get(report("index.html#artefact-made2016-table-1"))
    WebDriverWait(browser, 10).until(lambda driver: "addition.html" in driver.current_url)
    assert browser.current_url == report("pages/made2016/addition.html#artefact-made2016-table-1")
    browser.get(report("index.html#claims"))
    WebDriverWait(browser, 10).until(lambda driver: "claims.html" in driver.current_url)


def test_a_count_of_the_board_leads_to_those_claims(browser, report):
    browser.get(report("index.html"))
    count = browser.find_element(By.CSS_SELECTOR, "a[href*='Verdict=not+judged']")
    number = int(count.text.split()[-1])
    count.click()
    assert browser.find_element(By.CSS_SELECTOR, "#claims select:last-of-type").is_displayed()
    chosen = browser.execute_script(
        "return [...document.querySelectorAll('#claims label')]"
        ".filter((l) => l.textContent.startsWith('Verdict')).map((l) => l.querySelector('select').value)"
    )
    assert chosen == ["not judged"]
    assert browser.find_element(By.CSS_SELECTOR, "#claims output").text == f"{number} of {number}"


def test_a_choice_of_holds_and_verdict_narrows_the_claims(browser, report):
    browser.get(report("pages/claims.html"))
    table = browser.find_element(By.CSS_SELECTOR, "#claims table")
    names = [heading.text.rstrip(" ↕") for heading in table.find_elements(By.CSS_SELECTOR, "thead th")]
    held = column(table, names.index("Holds"))
    choices = browser.find_elements(By.CSS_SELECTOR, "#claims select")
    asked = [choice.find_element(By.XPATH, "..").text.split()[0] for choice in choices]
    assert asked == ["Holds", "Verdict", "Source"]
    options = [option.text for option in choices[0].find_elements(By.TAG_NAME, "option")]
    assert options == ["all", *(f"{value} ({held.count(value)})" for value in sorted(set(held)))]
    choices[0].find_elements(By.TAG_NAME, "option")[1].click()
    assert set(column(table, names.index("Holds"))) == {min(held)}
    total = len(held)
    assert (
        browser.find_element(By.CSS_SELECTOR, "#claims output").text == f"{held.count(min(held))} of {total}"
    )
    browser.find_element(By.CSS_SELECTOR, "#claims input").send_keys("no such words")
    assert column(table, 0) == []


def test_numbers_sort_as_numbers_and_empty_cells_stay_last(browser, report):
    browser.get(report("pages/coverage.html"))
    browser.execute_script("""
        const body = document.querySelector('#coverage table').tBodies[0];
        const texts = ['−0.5 ± 0.1', '10', '', '9.5', '1\u202f000', '2e−03', '∞'];
        texts.forEach((text, k) => { body.rows[k].cells[3].textContent = text; });
    """)
    table = browser.find_element(By.CSS_SELECTOR, "#coverage table")
    button = table.find_elements(By.CSS_SELECTOR, "thead th button")[3]
    button.click()
    up = ["−0.5 ± 0.1", "2e−03", "9.5", "10", "1\u202f000", "∞"]
    assert column(table, 3) == [*up, ""]
    button.click()
    assert column(table, 3) == [*reversed(up), ""]


def test_a_link_to_a_claim_opens_its_table(browser, monkeypatch, checkout):
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    monkeypatch.setattr("tensor_rnns.report.html.MOST_OPEN", 0)
    home, *_ = build(checkout[0], "smoke", "embedded", checkout[1])
    browser.get((home.parent / "pages" / "claims.html").as_uri())
    browser.find_element(By.LINK_TEXT, "made-2").click()
    WebDriverWait(browser, 10).until(lambda driver: "addition.html" in driver.current_url)
    assert browser.find_element(By.ID, "claim-made2016-made-2").is_displayed()
    assert not browser.find_element(By.ID, "claim-made2016-made-1").is_displayed()


def test_a_failed_seed_leads_to_its_run(browser, report):
    browser.get(report("pages/runs.html"))
    browser.find_element(By.CSS_SELECTOR, "#failed a").click()
    assert browser.find_element(By.ID, "run-made2016-addition-T20-gru-main-final-0-2").is_displayed()


def test_many_runs_wait_until_they_are_asked_for(browser, monkeypatch, checkout):
    """Rows are made on opening, by an anchor, by a choice in the address and for print; then they filter."""
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    template = Path("report", "templates", "experiment.html")
    template.write_text(template.read_text().replace("length > 300", "length > 2"))
    home, *_ = build(checkout[0], "smoke", "embedded", checkout[1])
    page = (home.parent / "pages" / "made2016" / "addition.html").as_uri()
    runs, box = "#runs-made2016-addition", "#runs-made2016-addition details.held"

    def rows(address: str, then: str = "") -> int:
        browser.get("about:blank")
        browser.get(page + address)
        browser.execute_script(then)
        return len(browser.find_elements(By.CSS_SELECTOR, f"{runs} tbody tr"))

    assert rows("") == rows("#artefact-made2016-fig-1") == 0
    assert rows("", "window.dispatchEvent(new Event('beforeprint'))") == 6
    assert rows("#run-made2016-addition-T20-gru-main-final-0-2") == 6
    assert browser.find_element(By.ID, "run-made2016-addition-T20-gru-main-final-0-2").is_displayed()
    assert rows(f"?Variant=gru{runs}") == 6
    assert browser.find_element(By.CSS_SELECTOR, f"{runs} output").text == "3 of 6"
    assert rows("") == 0
    browser.find_element(By.CSS_SELECTOR, f"{box} summary").click()
    WebDriverWait(browser, 10).until(
        lambda driver: driver.find_element(By.CSS_SELECTOR, f"{runs} output").text == "6 of 6"
    )
    browser.find_element(By.CSS_SELECTOR, f"{runs} input").send_keys("failed")
    assert browser.find_element(By.CSS_SELECTOR, f"{runs} output").text == "1 of 6"
    assert browser.get_log("browser") == []


def test_the_board_shows_each_verdict_on_a_narrow_screen(browser, report):
    shown_as(browser, 390)
    browser.get(report("index.html"))
    board = browser.find_element(By.CSS_SELECTOR, "table.board")
    box = board.find_element(By.XPATH, "..")
    assert browser.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", box) == 0
    assert [cell.text for cell in board.find_elements(By.CSS_SELECTOR, "thead th")][-1] == "not judged"


@pytest.mark.parametrize("width", [390, 1300])
def test_what_holds_and_whole_figures_are_seen_without_scrolling(browser, report, width):
    """Holds and Verdict begin and end inside the box of the claims, at the width of a phone too."""
    shown_as(browser, width)
    browser.get(report("pages/claims.html"))
    table = browser.find_element(By.CSS_SELECTOR, "#claims table")
    box = table.find_element(By.XPATH, "..").rect
    heads = table.find_elements(By.CSS_SELECTOR, "thead th")
    assert [head.text.split()[0] for head in heads][-9:-7] == ["Holds", "Verdict"]
    for head in heads[-9:-7]:
        assert box["x"] <= head.rect["x"]
        assert head.rect["x"] + head.rect["width"] <= box["x"] + box["width"]
    browser.get(report("pages/made2016/addition.html"))
    card = browser.find_element(By.CSS_SELECTOR, ".card")
    assert browser.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", card) == 0


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_figures_stay_on_white(browser, report, site, width, scheme):
    shown_as(browser, width, scheme)
    for path in sorted(site.rglob("*.html")):
        browser.get(path.as_uri())
        page = "document.documentElement"
        assert browser.execute_script(f"return {page}.scrollWidth - {page}.clientWidth") == 0, path
        assert browser.execute_script("return window.innerWidth") == width
    browser.get(report("pages/made2016/addition.html"))
    card = browser.find_element(By.CSS_SELECTOR, ".card").value_of_css_property("background-color")
    page = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert card == "rgba(255, 255, 255, 1)"
    assert page == {"light": "rgba(251, 250, 247, 1)", "dark": "rgba(22, 24, 28, 1)"}[scheme]
