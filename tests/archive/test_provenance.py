"""What a report rests on follows from what Snakemake recorded of each job."""

from tensor_rnns.archive.provenance import behind

RECORDED = {
    "report": {"input": ["table", "given"], "shellcmd": "write"},
    "table": {"input": ["run/metrics"], "shellcmd": "join"},
    "run/metrics": {"input": [], "shellcmd": "train"},
    "run/weights": {"input": [], "shellcmd": "train"},
    "run-left/metrics": {"input": [], "shellcmd": "train a guest"},
    "table-left": {"input": ["run/metrics", "run-left/metrics"], "shellcmd": "join with a guest"},
}


def test_inputs_of_inputs_what_no_job_made_and_all_that_one_job_made() -> None:
    assert behind(RECORDED, "report") == {"report", "table", "given", "run/metrics", "run/weights"}
    assert behind(RECORDED, "run/metrics") == {"run/metrics", "run/weights"}
