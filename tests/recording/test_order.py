"""Which curves come first, on needs and hours whose best order is known by hand."""

import itertools
from types import SimpleNamespace

import pytest

from tensor_rnns.experiments import Catalogue, ledger
from tensor_rnns.recording import order, record
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.order import needs, next_units, ordered
from tensor_rnns.recording.record import Settings
from tensor_rnns.recording.units import chosen, estimate, units

HOURS = {"p/a/1": 1.0, "p/a/2": 3.0, "p/a/3": 2.0, "p/b/1": 5.0, "p/b/2": 0.5}


def need(*places, weight=1.0):
    return frozenset(places), weight


def test_most_statements_an_hour_come_first_over_all_experiments():
    """b/1 gives 5 in 5 hours, a/1 with a/2 gives 3 in 4; alone a/1 gives 0.5 an hour."""
    found = [need("p/b/1", weight=5.0), need("p/a/1", weight=0.5), need("p/a/1", "p/a/2", weight=2.5)]
    assert ordered(found, HOURS, []) == ["p/b/1", "p/a/1", "p/a/2", "p/b/2", "p/a/3"]


def test_what_is_recorded_makes_its_neighbours_cheap():
    found = [need("p/a/1", "p/a/2"), need("p/a/1", "p/a/3")]
    assert ordered(found, HOURS, ["p/a/2"])[:2] == ["p/a/1", "p/a/3"]
    assert ordered(found, HOURS, ["p/a/1"])[:2] == ["p/a/3", "p/a/2"]


def test_a_claim_on_a_curve_that_is_not_there_moves_nothing():
    assert ordered([need("p/a/9", "p/a/2", weight=99.0)], HOURS, [])[0] == "p/b/2"


def test_an_engine_of_a_gpu_is_put_in_order_by_the_hours_of_a_core(tmp_path):
    """On which that engine never runs; the order is that of any other."""
    catalogue = Catalogue.load("workflow/papers", ["he2017/memorization"])
    found = [
        next_units(
            catalogue,
            Settings(tmp_path, tmp_path, "", (), 5, engine, 1, None, True, "cuda"),
            Costs.read(),
            True,
            (),
            ["he2017/memorization/L4/*/main"],
        )
        for engine in ("graphed", "auto")
    ]
    assert len(found[0]) == 7
    assert found[0] == found[1]


def test_every_claim_of_the_papers_needs_curves_that_there_are():
    catalogue = Catalogue.load("workflow/papers", ["mathews2016/addition", "mathews2016/polyphony"])
    known = {unit.name for unit in units(catalogue.experiments.values(), 5)}
    found = needs(catalogue)
    assert len(found) > 100
    assert all(places and places <= known for places, _ in found.values())
    assert all(0 < weight <= 1 for _, weight in found.values())
    value, order = (sorted(found[claim][0]) for claim in ("m5.T3.tgu.jsb.test", "m5.2.1-10.jsb.tgu-gru"))
    assert value == ["mathews2016/polyphony/jsb/tgu/main"]
    assert order == ["mathews2016/polyphony/jsb/gru/main", "mathews2016/polyphony/jsb/tgu/main"]
    home = "mathews2016/addition/T250/lstm"
    options = [f"{home}/{name}" for name in ("forget-bias-0", "forget-bias-5", "main")]
    assert sorted(found["m4.2.2-9"][0]) == options, "a trend needs the curve of every level"


def test_curves_are_asked_for_by_name_and_a_name_of_none_is_refused():
    """A variant that no claim needs would come last; here it comes alone."""
    known = list(units(Catalogue.load("workflow/papers", ["he2017/addition"]).experiments.values(), 5))
    small = chosen(known, ["he2017/addition/*/m32"])
    assert {unit.curve[2] for unit in small} == {"m32"}
    assert (len(small), len(known)) == (21, 49)
    some = chosen(known, ["*/L4/slstm/*", "he2017/addition/L10/tlstm_3d_cn/main"])
    assert [unit.name[16:] for unit in some] == ["L4/slstm/main", "L4/slstm/m32", "L10/tlstm_3d_cn/main"]
    assert chosen(known, []) == known
    with pytest.raises(
        ValueError, match=r"--curves 'L4' matches no curve; allowed are such as 'he2017/addition/L4/"
    ):
        chosen(known, ["*/m32", "L4"])


def test_a_name_of_no_curve_is_refused_before_costs_are_computed(tmp_path, monkeypatch):
    """They take most of a minute."""
    monkeypatch.setattr(order, "estimate", None)
    settings = SimpleNamespace(cohort_size=5, results=tmp_path)
    catalogue = Catalogue.load("workflow/papers", ["he2017/addition"])
    with pytest.raises(ValueError, match=r"--curves 'nope/\*' matches no curve"):
        next_units(catalogue, settings, Costs.read(), False, (), ["nope/*"])


def test_claims_on_one_statement_share_it():
    """However many there are, a statement is one."""
    catalogue = Catalogue.load("workflow/papers", ["mathews2016/addition", "mathews2016/binding"])
    found, sums = needs(catalogue), {}
    own = [claim.id for claim in catalogue.claims if claim.paper == "mathews2016"]
    for statement in ledger.read(catalogue.folders["mathews2016"]):
        judged_by = [claim for claim in statement.judged_by(own) if claim in found]
        sums[statement.id] = len(judged_by), sum(found[claim][1] for claim in judged_by)
    assert max(count for count, _ in sums.values()) > 5
    assert all(total <= 1 + 1e-9 for _, total in sums.values())


def test_the_dearest_come_first_where_they_are_asked_for(tmp_path):
    catalogue = Catalogue.load("workflow/papers", ["he2017/memorization"])
    settings = Settings(tmp_path, tmp_path, "", (), 5, "auto", 1, None, True, "cpu")
    asked = settings, Costs.read(), True, (), ["he2017/memorization/L4/*/main"]
    hours = [estimate(unit, Costs.read()).hours for unit in next_units(catalogue, *asked)]
    assert hours == sorted(hours, reverse=True)
    assert hours[0] > 2 * hours[-1]


def test_jobs_are_given_the_engine_the_device_and_the_cohort_that_were_asked_for(tmp_path):
    catalogue = Catalogue.load("workflow/papers", ["mathews2016/addition"])
    (unit,) = chosen(list(units(catalogue.experiments.values(), 3)), ["mathews2016/addition/T750/tgu/main"])
    settings = Settings(tmp_path, tmp_path / "s", "a,b", (), 3, "graphed", 1, None, True, "cuda")
    line, run = next(record.commands(unit, settings))
    given = dict(itertools.pairwise(line))
    asked = {
        "--roots": "a,b", "--engine": "graphed", "--device": "cuda", "--cohort-size": "3", "--threads": "1",
        "--state": str(tmp_path / "s"), "--scale": "paper", "--data": "real", "--condition": "T750",
    }  # fmt: skip
    assert {key: given[key] for key in asked} == asked
    assert given["--out"] == str(run)
