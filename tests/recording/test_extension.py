"""Proves which claims may get more seeds; the rule itself is proved where seeds are trained."""

from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.verdicts import REPRODUCED, Judgement
from tensor_rnns.recording import extension


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no outcome of 5 seeds could refute it, one of 19 could", "x: after 5 seeds, 14 more, once"),
        ("", "allowed are claims undecided or that these could not refute"),
    ],
)
def test_a_reproduced_claim_gets_seeds_where_so_few_could_not_refute_it(monkeypatch, tmp_path, reason, said):
    judged = {"x": Judgement("yes", REPRODUCED, reason=reason)}
    monkeypatch.setattr(extension, "judge_claims", lambda *_: judged)
    catalogue = SimpleNamespace(claims=[], experiments={})
    with pytest.raises(ValueError, match=said):
        extension.granted(catalogue, "x", 5, 14, tmp_path)
    assert (tmp_path / extension.FILE).exists() == bool(reason)
