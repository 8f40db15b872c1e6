"""The search chooses by validation, the first of equals, and a failed point only where all failed."""

from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.evidence import ClaimContext
from tensor_rnns.analysis.measures import record_of
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import Sample
from tensor_rnns.analysis.selection import choose, searches, select_from_folders, selected
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import judge_claim
from tensor_rnns.experiments.records import SEARCH_SEED, rule_of
from tensor_rnns.files import read_json

POINTS = [{"training.learning_rate": rate} for rate in (0.1, 0.01, 0.001)]
SELECT = {"measure": {"name": "final", "of": "nll"}, "best": "lowest", "seeds": 2}


def search_run(run_of, point, seed, valid, test=0.0, **fields):
    key = {
        "point": point, "seed": seed, "stage": "search",
        "condition": "jsb", "variant": fields.pop("variant", "gmr"), "option": "main",
    }  # fmt: skip
    metrics = {("valid", "nll"): valid, ("test", "nll"): test, ("train", "nll"): -valid}
    return run_of([9.0, valid], split="valid", name="nll", key=key, metrics=metrics, **fields)


def test_validation_alone_decides(run_of):
    valid = [(3.0, 2.0), (1.0, 2.0), (4.0, 1.5)]
    runs = [search_run(run_of, p, s, v, test=-p) for p, pair in enumerate(valid) for s, v in enumerate(pair)]
    choice = choose(runs, SELECT, POINTS)
    assert (choice.point, choice.values) == (1, {"training.learning_rate": 0.01})
    assert choice.scores == [2.5, 1.5, 2.75]
    assert choose(runs, SELECT | {"best": "highest"}, POINTS).point == 2
    assert choose(runs, SELECT | {"split": "train"}, POINTS).point == 2


def test_the_first_of_equals(run_of):
    runs = [search_run(run_of, point, 0, valid) for point, valid in enumerate((5.0, 2.0, 2.0))]
    assert choose(runs[::-1], SELECT, POINTS).point == 1


def test_a_failed_point_is_chosen_only_if_all_failed(run_of):
    def runs(*failed):
        return [
            search_run(run_of, p, s, float(p + 1), status="failed" if (p, s) in failed else "done")
            for p in range(3)
            for s in range(2)
        ]

    choice = choose(runs((0, 1)), SELECT, POINTS)
    assert (choice.point, choice.failed, choice.all_failed) == (1, [0], False)
    choice = choose(runs((0, 0), (1, 1), (2, 0)), SELECT, POINTS)
    assert (choice.point, choice.all_failed) == (0, True)
    assert choose(runs((0, 0), (1, 1), (2, 0)), SELECT | {"best": "highest"}, POINTS).point == 2


def test_a_point_without_a_number_is_chosen_no_more_than_a_failed_one(run_of):
    """It ended with sound parameters, and its validation is no number; where none has one, that is said."""
    runs = [search_run(run_of, point, seed, float(point)) for point in range(3) for seed in range(2)]
    for field in ("metrics", "load_curves"):
        object.__setattr__(runs[1], field, {} if field == "metrics" else dict)
    choice = choose(runs, SELECT, POINTS)
    assert (choice.point, choice.failed, choice.scores) == (1, [0], [None, 1.0, 2.0])
    runs[3].status = "failed"
    with pytest.raises(MissingValue, match="no run of the search has a number of"):
        choose(runs, SELECT | {"measure": {"name": "metric", "of": "bits"}}, POINTS)


def test_where_none_has_a_number_is_asked_of_the_split_of_the_search(run_of):
    """Runs whose number is on train alone have none on valid, and one of valid alone is one."""
    asked = {"measure": {"name": "metric", "of": "bits"}}
    for split, refused in (("train", True), ("valid", False)):
        runs = [search_run(run_of, point, 0, float(point)) for point in range(3)]
        for run in runs:
            run.metrics = {(split, "bits"): 0.5} if run.key["point"] < 2 else {}
            run.status = "failed" if run.key["point"] == 2 else "done"
        if refused:
            with pytest.raises(MissingValue, match="no run of the search has a number of"):
                choose(runs, asked, POINTS)
        else:
            assert choose(runs, asked, POINTS).point == 0


def test_a_measure_never_reached_counts_as_one_more_than_the_updates(run_of):
    select = {"measure": {"name": "first_below", "threshold": 2.5, "of": "nll"}}
    runs = [search_run(run_of, point, 0, valid) for point, valid in enumerate((5.0, 6.0, 2.0))]
    choice = choose(runs, select, POINTS)
    assert (choice.point, choice.scores) == (2, [3.0, 3.0, 2.0])


def test_of_equals_the_one_with_the_lowest_measure_of_ties(run_of):
    """Among the best alone: the point that is never reached has the lowest of all, a failed one no say."""
    select = {"measure": {"name": "first_below", "threshold": 6.0, "of": "nll"}}
    select |= {"ties": {"name": "metric", "of": "nll", "split": "train"}}
    values = (3.0, 5.0, 2.0, 7.0)
    runs = [search_run(run_of, point, 0, valid) for point, valid in enumerate(values)]
    points = [{"point": point} for point in range(4)]
    assert choose(runs, select, points).point == 1
    runs[1] = search_run(run_of, 1, 0, 5.0, status="failed")
    choice = choose(runs, select, points)
    assert (choice.point, choice.failed) == (0, [1])
    assert choice.rule == rule_of(select) != rule_of(SELECT)


def test_a_point_that_did_not_run_is_an_error(run_of):
    with pytest.raises(ValueError, match=r"3 points; without a run are \[1\]"):
        choose([search_run(run_of, point, 0, 1.0) for point in (0, 2)], SELECT, POINTS)


def test_each_seed_of_a_search_chooses_for_itself(run_of):
    """By seed the points 1, 0 and 1 are best; their means over the three seeds are 3 and 2."""
    valid = [(4.0, 2.0, 3.0), (1.0, 4.0, 1.0), (9.0, 9.0, 9.0), (8.0, 8.0, 8.0)]
    search = [search_run(run_of, p, s, v) for p, three in enumerate(valid) for s, v in enumerate(three)]
    final = [search_run(run_of, 1, 0, 5.0, test=7.0)]
    for run in search + final:
        run.key["dataset"] = ""
    final[0].key["stage"] = "final"
    measure = record_of({"name": "metric", "split": "test", "of": "nll"})
    assert selected(search + final, final, measure, SELECT) == [2.0, 3.0, 2.0]
    assert selected([run for run in search if run.key["seed"] < 2], final, measure, SELECT) == [2.5, 3.0]
    assert selected(final, final, measure, SELECT) == []
    assert (
        selected(search + final, final, record_of({"name": "metric", "split": "valid", "of": "kl"}), SELECT)
        == []
    )


def test_the_seeds_of_a_search_count_where_its_runs_lack_the_measure(run_of):
    """A probe looks at final runs alone; three seeds at each of two points and two at the third are two."""
    search = [search_run(run_of, point, seed, 1.0) for point in range(3) for seed in range(3 - (point == 2))]
    final = [search_run(run_of, 1, 0, 5.0)]
    for run in search + final:
        run.key["dataset"] = ""
    final[0].key["stage"] = "final"
    assert [len(groups) for groups in searches(search + final, final)] == [2]


@pytest.mark.parametrize(("seeds", "holds"), [(1, "unclear"), (2, "unclear"), (3, "no")])
def test_a_comparison_after_a_search_of_few_runs_stays_open(run_of, seeds, holds):
    """Another search could have chosen another point, on either side."""
    runs = [search_run(run_of, point, seed, point + 1.0) for point in range(4) for seed in range(seeds)]
    final = search_run(run_of, 0, 0, 5.0, searched=True)
    final.key["stage"] = "final"
    for run in (*runs, final):
        run.key["dataset"] = ""
    experiment = SimpleNamespace(search={"select": SELECT})
    context = ClaimContext(experiment, SimpleNamespace(runs=[*runs, final], counted={}), "paper")
    found = context.chosen_by_few(Outcome("no"), [Sample(runs=[final])])
    assert found.holds == holds
    assert [f"it has {seeds}" in reason for reason in found.reasons] == [True] * (seeds < 3)


def test_a_stopping_rule_leaves_out_final_seeds_and_no_search(run_of):
    """Seeds of a search are numbered apart, from SEARCH_SEED on: by number alone all would go."""
    search = [search_run(run_of, point, SEARCH_SEED + seed, 1.0) for point in range(2) for seed in range(3)]
    final = [search_run(run_of, 0, seed, 5.0, searched=True) for seed in range(4)]
    guest = search_run(run_of, 1, 0, 9.0, variant="guest-mine")
    for run in (*search, *final, guest):
        run.key |= {"dataset": "", "stage": "search" if run in search else "final"}
    tables = SimpleNamespace(runs=[*search, *final, guest], counted={})
    context = ClaimContext(SimpleNamespace(search={"select": SELECT}), tables, "paper", seeds=2)
    assert [run.key for run in context.runs] == [run.key for run in (*search, *final[:2])]
    assert context.chosen_by_few(Outcome("no"), [Sample(runs=final[:2])]).holds == "no"


def test_from_run_folders_to_chosen_json(catalogue_of, run_folder, tmp_path):
    blocks = """
variants: {tgu: {cell: tgu, hidden: 5, rank: 3}}
search:
  grid: {training.learning_rate: [0.1, 0.01, 0.001]}
  select: {measure: {name: running, width: 2}, split: valid, best: lowest, seeds: 2}
scales: {paper: {seeds: 5}}
"""
    experiment = catalogue_of(blocks).experiments["made2016", "made"]
    replicas = experiment.replicas("paper", "real", "search")
    assert len(replicas) == 6

    def outcome(replica):
        if replica.point == 0:
            return {"status": "failed"}
        return {"curves": {("valid", "loss"): [5.0, 4.0 - replica.point, 3.0 + replica.seed % 2]}}

    folder = run_folder(tmp_path / "search-0", replicas, outcome)
    path = tmp_path / "chosen.json"
    curve = "made2016/made/paper/only/tgu/main"
    select_from_folders([folder], experiment.search["select"], POINTS, path, curve)
    expected = {
        "point": 2,
        "values": {"training.learning_rate": 0.001},
        "scores": [None, 3.25, 2.75],
        "failed": [0],
        "all_failed": False,
        "rule": rule_of(experiment.search["select"]),
    }
    assert read_json(path) == expected


SEARCHED = """
dataset: {real: jsb, stand_in: chorales}
conditions: {T250: {task.length: 250}, T500: {task.length: 500}}
variants: {tgu: {cell: tgu, hidden: 5, rank: 3}, gru: {cell: gru, hidden: 5}}
search:
  grid: {training.learning_rate: [0.1, 0.01]}
  select: {measure: {name: metric, of: nll, split: valid}, best: lowest, seeds: SEEDS}
scales: {paper: {seeds: 6}, laptop: {seeds: 6}, smoke: {seeds: 6}}
claims:
"""


@pytest.fixture
def after_search(catalogue_of, run_folder, tmp_path):
    """The judgement of a claim on final runs of the TGU near 3 and of the GRU near 4, chosen by a search of
    so many seeds that `agree`, or of which every second chooses another point, worse by 1."""

    def outcome(agree):
        def of(replica):
            level = {"tgu": 3.0, "gru": 4.0}[replica.variant] + 2.0 * (replica.condition == "T500")
            if replica.stage == "final":
                return {"metrics": {("test", "nll"): level + 0.01 * replica.seed}}
            first = agree or replica.seed % 2 == 0
            worse = (replica.point == 1) == first
            return {"metrics": {("valid", "nll"): level + 1.0 * worse}}

        return of

    def run(claim, seeds, agree):
        text = SEARCHED.replace("SEEDS", str(seeds))
        catalogue = catalogue_of(f"{text}  c1: {{statement: said of it, artefact: fig-1, {claim}}}\n")
        experiment = catalogue.experiments["made2016", "made"]
        folders = []
        for stage in ("search", "final"):
            replicas = experiment.replicas("paper", "real", stage)
            home = tmp_path / "results" / "paper" / "runs" / "made2016" / stage
            folders.append(run_folder(home, replicas, outcome(agree)))
        collect(folders, tmp_path / "results" / "paper" / "collected" / "made2016" / "made")
        tables = Tables(tmp_path / "results", "paper", "made2016", "made")
        return judge_claim(catalogue.claims[0], experiment, tables, "paper")

    return run


NLL = "measure: {name: metric, split: test, of: nll}"
VALUE = f"test: value, where: {{condition: T250, variant: tgu}}, {NLL}, tol: 0.1, why: w"
ORDER = (
    f"test: order, less: {{condition: T250, variant: tgu}}, than: {{condition: T250, variant: gru}}, {NLL}"
)
LEVELS = "over: condition, values: {T250: 250, T500: 500}, where: {variant: tgu}"
TREND = f"test: trend, {LEVELS}, direction: up, {NLL}"


@pytest.mark.parametrize(
    ("claim", "seeds", "agree", "holds"),
    [
        (f"{VALUE}, paper: 3.5", 3, True, "no"),
        (f"{VALUE}, paper: 3.5", 3, False, "unclear"),
        (ORDER, 3, True, "yes"),
        (ORDER, 2, True, "unclear"),
        (TREND, 3, True, "yes"),
        (TREND, 2, True, "unclear"),
    ],
)
def test_the_scatter_of_a_search_enters_the_verdicts_after_it(after_search, claim, seeds, agree, holds):
    """A value is compared with what other searches would have chosen; a comparison after a search of two
    runs a point stays open."""
    assert after_search(claim, seeds, agree).holds == holds


def test_of_several_searches_the_one_that_scatters_most_counts(run_of):
    """Those of three cells: one whose seeds agree, one whose seeds do not, one without a search."""
    measure = record_of({"name": "metric", "split": "valid", "of": "nll"})
    valid = {"gmr": ((1.0, 1.0, 1.0), (5.0, 5.0, 5.0)), "tgu": ((1.0, 7.0, 1.0), (4.0, 2.0, 4.0))}
    search, final = [], []
    for variant, points in valid.items():
        search += [
            search_run(run_of, p, s, v, variant=variant)
            for p, of in enumerate(points)
            for s, v in enumerate(of)
        ]
        final.append(search_run(run_of, 0, 0, 5.0, variant=variant))
    bare = search_run(run_of, 0, 0, 5.0, variant="lstm")
    for run in (*search, *final, bare):
        run.key |= {"dataset": "", "stage": "search" if run in search else "final"}
    assert selected(search, final, measure, SELECT) == pytest.approx([3.0, 10 / 3, 3.0])
    assert selected(search, final[::-1], measure, SELECT) == pytest.approx([3.0, 10 / 3, 3.0])
    assert selected(search, [*final, bare], measure, SELECT) == []
