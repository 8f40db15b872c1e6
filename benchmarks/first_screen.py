"""How long the first screen of a report takes in Chromium, opened from disk:

python -m benchmarks.first_screen results/laptop/report

prints, as medians over fresh loads, the milliseconds from the start until the text is painted, until the page
can be used (its tables sort and filter) and until all is loaded, with the size of index.html.
"""

import argparse
import shutil
from pathlib import Path
from statistics import median

from selenium import webdriver

LOADS = 7
MEASURE = """
  const done = arguments[0];
  const {navigationStart, domContentLoadedEventEnd, loadEventEnd} = performance.timing;
  new PerformanceObserver((list) => done({
    painted: list.getEntries().at(-1).startTime, usable: domContentLoadedEventEnd - navigationStart,
    loaded: loadEventEnd - navigationStart, nodes: document.querySelectorAll("*").length,
  })).observe({type: "paint", buffered: true});
"""


def measure(browser: webdriver.Chrome, page: Path, loads: int = LOADS) -> dict[str, float]:
    """Medians over `loads` of `painted`, `usable`, `loaded`, in milliseconds; `nodes`; `bytes` of `page`."""
    found = []
    for _ in range(loads):
        browser.get("about:blank")
        browser.get(page.as_uri())
        found.append(browser.execute_async_script(MEASURE))
    return {key: median(one[key] for one in found) for key in found[0]} | {"bytes": page.stat().st_size}


def main() -> None:
    """Measure the report that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="the folder that holds index.html")
    page = parser.parse_args().report.resolve() / "index.html"
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--window-size=1280,800"):
        options.add_argument(flag)
    # Named, so that selenium asks no server for them.
    options.binary_location = shutil.which("chromium")
    browser = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        found = measure(browser, page)
    finally:
        browser.quit()
    print("painted {painted:.0f} ms, usable {usable:.0f} ms, loaded {loaded:.0f} ms; "
          "{nodes:.0f} elements, {bytes:,} bytes".format(**found))  # fmt: skip


if __name__ == "__main__":
    main()
