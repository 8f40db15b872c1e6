"""How many inputs each kind of file was tried with, printed at the end; FUZZ_INPUTS=100000 tries as many, all
new."""

import os

import pytest

FUZZED = "fuzzed inputs"


@pytest.fixture
def inputs(request: pytest.FixtureRequest):
    """Notes for the last lines how many inputs of a kind were tried, and how many of them were refused."""

    def note(kind: str, tried: int, refused: int) -> None:
        request.node.user_properties.append((FUZZED, (kind, tried, refused)))

    return note


@pytest.fixture(scope="session")
def share() -> float:
    """The inputs to try, as a multiple of those of a plain run."""
    return int(os.environ.get("FUZZ_INPUTS", "10000")) / 10_000


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for all kinds; the reports of xdist's workers carry what they found."""
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == FUZZED and getattr(report, "when", "") == "call"
    ]
    if rows:
        told = ", ".join(f"{kind} {tried:,} ({refused:,} refused)" for kind, tried, refused in sorted(rows))
        terminalreporter.line(f"fuzzed with {sum(row[1] for row in rows):,} inputs: {told}")
