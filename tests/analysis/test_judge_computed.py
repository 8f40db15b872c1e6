"""Claims on computed tables: identities, counts and misprints, and which tables are of no weight."""

from tensor_rnns import functions
from tensor_rnns.analysis.judge import judge, judge_claims
from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.files import read_csv, write_csv
from tests.analysis.conftest import claim, refers, why


def write_computed(results, lines, scale="smoke", of="made2016/made/smoke", by=""):
    rows = [dict(zip(COMPUTED, line.split(","), strict=True)) for line in lines]
    write_csv(results / scale / "computed" / "made2016" / "made.csv", rows, COMPUTED, of, by)


def test_a_misprint_is_an_erratum_and_condemns_nothing(catalogue_of, tmp_path):
    header = "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: sizes}\nclaims:\n"
    count = "test: count, of: {item: cp, name: size}"
    lines = (
        claim("c1", f"{count}, equals: 30")
        + claim("x1", f"{count}, equals: 31, erratum: thirty is meant, corrected: 30")
        + claim("x2", f"{count}, equals: 31, erratum: thirty-two is meant, corrected: 32")
        + claim("x3", f"{count}, equals: 31, erratum: thirty is meant")
        + claim("x4", f"{count}, equals: 30, erratum: thirty is right")
        + claim("x5", f"{count}, equals: 31")
        + refers("r1", "c1, x1, x3")
        + refers("r2", "x1, x3")
        + refers("r3", "c1, x2, x5")
    )
    write_computed(tmp_path, ["cp,size,0,30.0"])
    catalogue = catalogue_of(lines, header)
    found = judge_claims(catalogue.claims, catalogue.experiments, "smoke", tmp_path)
    red = "not reproduced"
    assert {name: one.verdict for name, one in found.items()} == {
        "c1": "reproduced", "x1": "erratum", "x2": red, "x3": "erratum", "x4": "reproduced", "x5": red,
        "r1": "reproduced", "r2": "erratum", "r3": red,
    }  # fmt: skip
    assert (found["x1"].reason, found["x2"].reason) == ("thirty is meant", "nor is it as corrected")


def test_computed_numbers_are_judged_everywhere(catalogue_of, tmp_path):
    header = "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: sizes}\nclaims:\n"

    def size(item):
        return f"{{name: computed, item: {item}, value: size}}"

    cp = size("cp")
    lines = (
        claim("c1", "test: count, of: {item: cp, name: size}, equals: 30")
        + claim("i1", "test: identity, item: [lemma, cp], name: error, tolerance: 1.0e-12")
        + claim("i2", "test: identity, item: misprint, tolerance: 1.0e-12, expect: fails_as_printed")
        + claim("e1", f"test: value, measure: {cp}, paper: 30.4, tol: 0.5, why: w")
        + claim("o1", f"test: order, less: {{}}, than: {{}}, measure: {cp}, than_measure: {size('tt')}")
        + claim("m1", "test: count, of: {item: cp, name: colour}, equals: 30")
    )
    rows = [
        "cp,size,0,30.0", "tt,size,0,31.0", "lemma,error,0,1e-15",
        "cp,error,0,-2e-14", "misprint,printed_error,0,0.5", "misprint,corrected_error,0,1e-16",
    ]  # fmt: skip
    write_computed(tmp_path, rows)
    catalogue = catalogue_of(lines, header)
    found = judge_claims(catalogue.claims, catalogue.experiments, "smoke", tmp_path)
    judge(catalogue, "smoke", tmp_path)
    tolerances = [row["tolerance"] for row in read_csv(tmp_path / "smoke" / "claims.csv")]
    assert tolerances == ["", "1e-12", "1e-12", "0.5", "", ""]
    assert [one.holds for one in found.values()] == ["yes", "yes", "no", "yes", "yes", "unclear"]
    verdicts = [one.verdict for one in found.values()]
    assert verdicts[:3] == ["reproduced", "reproduced", "erratum"]
    assert why(found["m1"]) == "smoke: the table has no colour of cp"
    assert found["i2"].reason == "as printed it fails, as corrected it holds"
    assert not any(one.statistical for one in found.values())


def test_what_is_computed_with_other_arguments_than_the_papers_is_not_judged(catalogue_of, tmp_path):
    header = "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: sizes}\nscales:\n"
    header += "  paper: {}\n  laptop: {}\n  smoke: {set: {compute.arguments.draws: 2}}\nclaims:\n"
    catalogue = catalogue_of(claim("c1", "test: count, of: {item: cp, name: size}, equals: 30"), header)
    # The tables of a partial report are those of its scale.
    for scale in ("smoke", "smoke-partial"):
        write_computed(tmp_path, ["cp,size,0,30.0"], scale, "made2016/made/smoke")
        found = judge_claims(catalogue.claims, catalogue.experiments, scale, tmp_path)["c1"]
        assert (found.holds, why(found)) == ("yes", f"{scale}, draws not as at the paper's scale")


def test_what_other_code_than_todays_computed_is_recorded_in_vain(catalogue_of, tmp_path):
    header = (
        "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: mathews2016.sizes}\nclaims:\n"
    )
    catalogue = catalogue_of(claim("c1", "test: count, of: {item: cp, name: size}, equals: 30"), header)
    by = functions.computed_digest(catalogue.experiments["made2016", "made"], "paper", "real")
    for maker, answer in (
        (by, ("yes", "reproduced", "")),
        ("0123456789abcdef", ("yes", "not judged", f"recorded, {functions.OTHER}")),
        ("", ("yes", "not judged", f"recorded, {functions.OTHER}")),
    ):
        write_computed(tmp_path, ["cp,size,0,30.0"], "recorded", "made2016/made/paper", maker)
        found = judge_claims(catalogue.claims, catalogue.experiments, "recorded", tmp_path)["c1"]
        assert (found.holds, found.verdict, found.reason) == answer


def test_a_recorded_table_of_a_function_that_is_gone_is_not_judged(catalogue_of, tmp_path):
    header = "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: gone}\nclaims:\n"
    catalogue = catalogue_of(claim("c1", "test: count, of: {item: cp, name: size}, equals: 30"), header)
    write_computed(tmp_path, ["cp,size,0,30.0"], "recorded", "made2016/made/paper", "0123456789abcdef")
    found = judge_claims(catalogue.claims, catalogue.experiments, "recorded", tmp_path)["c1"]
    assert (found.verdict, found.reason) == ("not judged", f"recorded, {functions.OTHER}")


def test_what_is_counted_on_stand_in_data_is_not_judged(catalogue_of, tmp_path):
    header = "title: Made\nsource: {section: 1}\nkind: compute\ncompute: {function: sizes}\n"
    header += "dataset: {real: jsb, stand_in: chorales}\nclaims:\n"
    catalogue = catalogue_of(claim("c1", "test: count, of: {item: set, name: pieces}, equals: 382"), header)
    for mark, answer in (
        ("", "smoke, data set not recorded"),
        ("dataset,stand_in,0,1.0\n", "smoke, stand-in chorales in place of jsb"),
        ("dataset,stand_in,0,0.0\n", "reproduced"),
    ):
        write_computed(tmp_path, ["set,pieces,0,382.0", *mark.split()])
        found = judge_claims(catalogue.claims, catalogue.experiments, "smoke", tmp_path)
        assert answer == (found["c1"].reason or found["c1"].verdict)
