"""Proves that an option refuses by itself what no command could use."""

from pathlib import Path

import click
import pytest
import torch
from click.testing import CliRunner

from tensor_rnns.cli.asking import MAY_PASS
from tensor_rnns.cli.commands import main
from tensor_rnns.cli.options import Commands

ROOT = Path(__file__).parents[2]
CURVE = ("--paper=mathews2016", "--experiment=addition", "--condition=T50")

COHORTS = [
    name for name, command in main.commands.items() if "cohort_size" in [it.name for it in command.params]
]


def test_these_commands_cut_cohorts():
    assert COHORTS == ["train", "plan", "record", "status"]


@pytest.mark.parametrize("command", COHORTS)
@pytest.mark.parametrize("size", [0, -1])
def test_a_cohort_of_no_replica_is_refused(command, size):
    done = CliRunner().invoke(main, [command, f"--cohort-size={size}"])
    assert done.exit_code == 2
    assert f"Invalid value for '--cohort-size': {size} is not in the range x>=1." in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--rehearse", "--results={link}"], "--rehearse into {link} asked for; allowed is another folder"),
        (["--rehearse", "--results=../{name}/results"], "/results asked for; allowed is another folder"),
        (["--rehearse", "--claim=x1-3"], "--rehearse given with --claim; allowed is either"),
        (["--rehearse", "--from=results"], "--rehearse given with --from; allowed is either"),
        (["--from=results", "--claim=x1-3"], "--from given with --claim; allowed is either"),
        (["--curves=*", "--from=results"], "--curves given with --from; allowed is either"),
        (["--curves=*", "--claim=x1-3"], "--curves given with --claim; allowed is either"),
        (["--dearest", "--claim=x1-3"], "--dearest given with --claim; allowed is either"),
        (["--dearest", "--from=results"], "--dearest given with --from; allowed is either"),
        (["--hours=3", "--from=results"], "--hours given with --from; allowed is either"),
        (["--jobs=2", "--from=results"], "--jobs given with --from; allowed is either"),
        (["--mirror=file:///x", "--from=results"], "--mirror given with --from; allowed is either"),
        (["--device=cuda", "--from=results"], "--device given with --from; allowed is either"),
        (["--engine=eager", "--from=results"], "--engine given with --from; allowed is either"),
        (["--hours=1e7"], "Invalid value for '--hours': 10000000.0 is not in the range 0<=x<=100000."),
        (["--mirror=file:///there", "--mirror=ftp://x"], "mirror 'ftp://x' is no URL of one; allowed are "),
        (["--seeds=5"], "--seeds 5 given without --claim; allowed are both"),
        (["--hours=-1"], "Invalid value for '--hours': -1.0 is not in the range 0<=x<=100000."),
        (
            ["--engine=graphed"],
            "engine graphed on cpu asked for; allowed are auto, compiled, torch_nn, eager",
        ),
        (["--device=cuda", "--engine=graphed"], "--device cuda asked for, and torch "),
        (
            ["--device=cuda", "--engine=compiled"],
            "engine compiled on cuda asked for; allowed are auto, triton, ",
        ),
        (["--hours=nan"], "Invalid value for '--hours': nan is no finite number."),
    ],
)
def test_what_a_recorder_would_ignore_is_refused(given, words, tmp_path, monkeypatch):
    """Before anything is read: here are no papers, and no GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "results").mkdir()
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    names = {"link": link, "name": tmp_path.name}
    options = [one.format(**names) for one in given]
    done = CliRunner().invoke(main, ["record", "--results=others", *options, "--dirty"])
    assert (done.exit_code, words.format(**names) in done.stderr) == (2, True), done.stderr


TRAIN = ["train", *CURVE, "--variant=tgu", "--option=main", "--out=run"]
SELECT = ["select", *CURVE, "--scale=smoke", "--option=main", "--out=chosen.json"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["download", "nosuch", "--all"], "nosuch given with --all; allowed are "),
        (
            [*TRAIN, "--device=gpu"],
            "Invalid value for '--device': 'gpu' is not one of 'auto', 'cpu', 'cuda'.",
        ),
        ([*TRAIN, "--chunk=-1"], "Invalid value for '--chunk': -1 is not in the range x>=0."),
        ([*TRAIN, "--threads=0"], "Invalid value for '--threads': 0 is not in the range x>=1."),
        ([*TRAIN, "--seeds=-2"], "Invalid value for '--seeds': -2 is not in the range x>=0."),
        ([*TRAIN, "--checkpoint-seconds=nan"], "'TENSOR_RNNS_CHECKPOINT_SECONDS'): nan is no finite number."),
        ([*SELECT, "--variant=nosuch"], "no search of mathews2016/addition/T50/nosuch/main; allowed are "),
        (
            [*SELECT, "--variant=tgu", "--experiment=xor"],
            "no search of mathews2016/xor/T50/tgu/main; allowed are those of an experiment with a search",
        ),
        (
            [*SELECT, "--variant=tgu", "--experiment="],
            "no experiment '' of mathews2016; allowed are ['addition",
        ),
        (["judge", "--results=none"], "Invalid value for '--results': Path 'none' does not exist."),
        (["recorded", "--results=none"], "Invalid value for '--results': Path 'none' does not exist."),
        (["status", "--results=none"], "Invalid value for '--results': Path 'none' does not exist."),
        (["coverage", "--results=none"], "Invalid value for '--results': Path 'none' does not exist."),
        (["verify", "workflow"], "Invalid value for 'ARCHIVE': File 'workflow' is a directory."),
        (["coverage", "--results=workflow", "--guard=workflow"], "File 'workflow' is a directory."),
        *(
            ([*line, "--costs=none"], "--costs none given, which is no file; allowed are such as benchmarks/")
            for line in (["plan"], ["simulate"], ["status", "--results=workflow"])
        ),
        (["collect", "--out=joined"], "Missing argument 'RUNS...'."),
        (["collect", "--out=joined", str(ROOT / "README.md")], "README.md' is a file."),
        (["coverage", "--results=workflow", "--scales=smoke,"], "--scales 'smoke,' given; allowed are "),
        (["draw", "--paper=kelley2016/sizes", "--scale=smoke", "sizes"], "did you mean 'kelley2016'"),
    ],
)
def test_what_no_command_could_use_is_refused_by_name(line, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    done = CliRunner().invoke(main, line)
    assert (done.exit_code, words in done.stderr) == (2, True), (done.stderr, done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["workflow"]


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (FileNotFoundError, False),
        (FileExistsError, False),
        (IsADirectoryError, False),
        (NotADirectoryError, False),
        (PermissionError, False),
        (ValueError, False),
        (TimeoutError, True),
        (OSError, True),
    ],
)
def test_only_what_may_pass_is_said_to(error, passes):
    """A workflow tries those again."""

    def fail():
        raise error("said")

    done = CliRunner().invoke(Commands(commands=[click.Command("fail", callback=fail)]), ["fail"])
    assert (done.exit_code, done.stderr) == (2, f"tensor-rnns: said{f'; {MAY_PASS}' if passes else ''}\n")
