"""More seeds for an undecided claim: which it is worth asking for, and only under a rule committed before."""

import shutil
import signal
from pathlib import Path

from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.files import read_json, write_csv
from tests.recording.conftest import CURVES, UPDATES, Checkout, curves


def seeds_of(results: Path, curve: str) -> list[int]:
    """The final seeds of a curve that are recorded."""
    records = [read_json(path) for path in (curves(results) / curve).glob("final-*/record.json")]
    return sorted(replica["seed"] for record in records for replica in record["replicas"])


def test_more_seeds_need_a_rule_that_was_committed_before(checkout: Checkout, undisturbed: Path, waiting):
    """The first call writes the rule; once it is committed, one block is trained and no more. Stopped after
    one curve, nothing of the block is recorded, so that nothing is judged on it."""
    shutil.copytree(undisturbed, checkout.folder / "more")
    results = checkout.folder / "more"
    claim = ("record", "--claim", "x1-3", "--seeds", "2")
    said = checkout.run("recorded", "--results", "more")
    judged = (results / "recorded" / "claims.csv").read_text()
    assert any("x1-3" in row and "undecided" in row for row in judged.splitlines()), judged
    code, said = checkout.run(*claim, results="more")
    assert code == 2
    assert "more/recorded/stopping.csv now says: x1-3: after 5 seeds, 2 more, once" in said
    assert "together in at most 10%" in said
    code, said = checkout.run(*claim, results="more")
    assert (code, "allowed once more/recorded/stopping.csv is committed" in said) == (2, True)
    checkout.git("add", "--force", "more/recorded/stopping.csv")
    checkout.git("commit", "--quiet", "--message", "a rule")
    code, said = checkout.run("record", "--claim", "x1-3", "--seeds", "3", results="more")
    assert code == 2
    assert "3 more seeds for x1-3 asked for; it is undecided (seeds: 5), and allowed is what" in said
    for lost in ("paper", "state"):
        shutil.rmtree(results / lost)
    recorder = checkout.start(*claim, results="more")
    waiting(lambda: [*results.glob("recorded/begun/made2024/addition/only/*/main/final-1/record.json")])
    recorder.send_signal(signal.SIGTERM)
    said, _ = recorder.communicate(timeout=120)
    assert "of 2 curves trained; the block is recorded whole, so none of it yet" in said
    assert "0 of 2 curves recorded, 0 failed" in said
    assert [seeds_of(results, curve) for curve in CURVES] == [[0, 1, 2, 3, 4]] * 2
    code, said = checkout.run(*claim, results="more")
    assert code == 0, said
    assert "2 of 2 curves recorded, 0 failed" in said
    assert not (results / "recorded/begun").exists()
    logs = {
        curve: (results / f"paper/logs/record/made2024/addition/{curve}.log").read_text() for curve in CURVES
    }
    # What was recorded is not trained again, but where a probe needs weights.
    assert ["--chunk 0" in logs[curve] for curve in CURVES] == [False, True]
    assert not any("--stage search" in log for log in logs.values())
    for curve in CURVES:
        assert seeds_of(results, curve) == list(range(7))
        first = curves(undisturbed) / curve / "final-0" / "metrics.csv"
        assert (curves(results) / curve / "final-0" / "metrics.csv").read_bytes() == first.read_bytes()
    code, said = checkout.run(*claim, results="more")
    assert code == 2
    assert "2 more seeds for x1-3 asked for" in said
    assert "(seeds: 7), " in said
    _, said = checkout.run("status", results="more")
    assert said.splitlines()[1].split()[1:3] == ["2", "2"]


def test_status_lists_undecided_claims_with_the_cost_of_the_seeds_they_lack(
    checkout: Checkout, undisturbed: Path, tmp_path: Path
):
    """Cheapest first; neither what is decided nor what no number of seeds decides, but what is reproduced by
    so few seeds that they could not have refuted it."""
    shutil.copytree(undisturbed / "recorded" / "runs", tmp_path / "recorded" / "runs")
    given = {
        "x1-3": ("undecided", "p = 0.2; about 15 seeds would decide"),
        "x1-1": ("undecided", "about 8 seeds would decide"),
        "x1-2": ("undecided", "no number of seeds decides at this difference"),
        "x1-4": ("reproduced", "about 9 seeds would decide"),
    }

    def write(given: dict[str, tuple[str, str]]) -> None:
        rows = [
            dict.fromkeys(CLAIMS, "")
            | {"claim": claim, "verdict": verdict, "reason": reason, "statement": "Words."}
            for claim, (verdict, reason) in given.items()
        ]
        write_csv(tmp_path / "recorded" / "claims.csv", rows, CLAIMS, "recorded")

    write(given)
    rules = "claim,before,seeds\nx1-3,3,2\nx1-1,5,5\n"
    (tmp_path / "recorded" / "stopping.csv").write_text(rules)
    code, said = checkout.run("status", "--undecided", results=str(tmp_path))
    assert code == 0, said
    first, *lines = said.splitlines()
    assert first.split() == ["claim", "seeds", "decide", "core-h"]
    # A cohort of five takes 1 ms an update for the TGU, 2 for the GRU.
    hours = {more: more * UPDATES * 3e-3 / 5 / 3600 for more in (3, 10)}
    assert [" ".join(line.split()) for line in lines] == [
        f"x1-1 5 8 {hours[3]:.2g} Words.",
        f"x1-3 5 15 {hours[10]:.2g} Words. (its stopping rule is used up)",
    ]
    write({"x1-1": ("reproduced", "no outcome of 5 seeds could refute it, one of 19 could")})
    code, said = checkout.run("status", "--undecided", results=str(tmp_path))
    assert said.splitlines()[1].split()[:3] == ["x1-1", "5", "19"]
    code, said = checkout.run("status", "--undecided", "--curves", "*", results=str(tmp_path))
    assert (code, "allowed is either" in said) == (2, True)
    (tmp_path / "none").mkdir()
    code, said = checkout.run("status", "--undecided", results=str(tmp_path / "none"))
    assert (code, "claims.csv is not there, allowed after: make recorded" in said) == (2, True)


def test_a_decided_or_unknown_claim_gets_no_seeds(checkout, undisturbed):
    """The search has three seeds a point: with fewer no claim on what it chose is decided."""
    code, said = checkout.run("record", "--claim", "x1-2", results="whole")
    assert code == 2
    assert "5 more seeds for x1-2 asked for; it is " in said
    assert "allowed are claims undecided or that these could not refute" in said
    code, said = checkout.run("record", "--claim", "x1-9", results="whole")
    assert code == 2
    assert "claim 'x1-9' asked for; allowed are" in said
