"""Make, complete or remake the virtual environment that `make` uses; standard library only.

    python3 workflow/scripts/make_environment.py --folder .venv runtime package torch dev

Stages: `runtime` (envs/runtime.lock), `package` (this repository, editable), `torch`, `dev` (envs/dev.lock).
Each is noted in the folder with what it was made from, so that a second call does nothing. An interrupted
stage, another Python, torch or runtime.lock makes the folder anew; other stages are redone in place.
A folder made by other hands is used if it holds every locked version, and is else left alone with an error.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("runtime", "package", "torch", "dev")
SOURCES = {"runtime": "envs/runtime.lock", "package": "pyproject.toml", "dev": "envs/dev.lock"}
NOTE = "tensor-rnns.json"
MAKING = "making"
OLDEST = (3, 11)
PYTHON = sys.version.split()[0]


def locked(stage):
    """The versions that the lock of `stage` pins, by name."""
    text = (ROOT / SOURCES[stage]).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][^=\s]*)==(\S+)", text, re.MULTILINE))


def wanted(folder, torch):
    """What each stage is made from; `base` is what the whole folder hangs on. Equal text: nothing to do."""
    digests = {stage: hashlib.sha256((ROOT / name).read_bytes()) for stage, name in SOURCES.items()}
    made_from = {stage: digest.hexdigest() for stage, digest in digests.items()}
    return {"base": f"{folder} {PYTHON}", "torch": torch, **made_from}


def write_note(folder, note):
    """Note what stands in `folder`: written aside, then renamed."""
    aside = folder / (NOTE + ".aside")
    aside.write_text(json.dumps(note, indent=1), encoding="utf-8")
    aside.replace(folder / NOTE)


def read_note(folder, stages, want):
    """What stands in `folder`: as noted, or as listed if other hands made it; exit if a part is missing."""
    if (folder / NOTE).exists() or not folder.exists():
        return json.loads((folder / NOTE).read_text(encoding="utf-8")) if folder.exists() else {}
    try:
        done = subprocess.run(pip(folder, "list", "--format", "json"), stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{folder} is no environment with pip ({error}). Name another folder: make VENV=folder ...")
    held = {re.sub(r"[-_.]+", "-", row["name"]).lower(): row["version"] for row in json.loads(done.stdout)}
    pins = dict(re.findall(r"([\w.-]+)==([^\s;,]+)", want["torch"] if "torch" in stages else ""))
    for stage in {"runtime", "dev"}.intersection(stages):
        pins |= locked(stage)
    lacking = [f"{name}=={pin}" for name, pin in pins.items() if held.get(name, "").split("+")[0] != pin]
    lacking += ["tensor-rnns"] if "package" in stages and "tensor-rnns" not in held else []
    if lacking:
        sys.exit(
            f"{folder} was not made by make, and it lacks {len(lacking)} of the packages wanted, such as "
            f"{', '.join(lacking[:4])}. Remove it, or name another folder: make VENV=folder ..."
        )
    # Without a note: one would make it ours, to be remade when a pin changes.
    return {name: want[name] for name in ("base", *stages)}


def pip(folder, *arguments):
    """The command that runs the folder's pip."""
    return [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]


def install(folder, stage, torch):
    """Install one stage; where pip fails, it says why, and this exits."""
    options = ["--no-deps", "--require-hashes", "--requirement", str(ROOT / SOURCES.get(stage, ""))]
    if stage == "package":
        options = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    elif stage == "torch":
        options = shlex.split(torch)
    quiet = ("--quiet", "--log", str(folder / "pip.log"))
    if subprocess.call(pip(folder, *quiet, "install", "--no-compile", *options)) != 0:
        sys.exit(f"pip failed; its log is {folder / 'pip.log'}. The same command tries again from the start.")


def base_python():
    """The interpreter behind the one that runs this, which may lie in the folder that is made anew."""
    return getattr(sys, "_base_executable", sys.executable)


def users(folder):
    """The processes, without this one, that have loaded libraries of `folder`, if the system lists them."""
    pids, place = [], os.fsencode(folder) + b"/lib"
    for path in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            if int(path.parent.name) != os.getpid() and place in path.read_bytes():
                pids.append(path.parent.name)
    return pids


def make(folder, stages, torch):
    """Bring `stages` of the environment in `folder` up to date."""
    want = wanted(folder, torch)
    stages = [stage for stage in STAGES if stage in stages and (stage != "torch" or torch)]
    note = read_note(folder, stages, want)
    changed = [key for key in ("base", "runtime", "torch") if note.get(key, want[key]) != want[key]]
    if MAKING in note.values() or changed:
        reason = "was left half-made" if MAKING in note.values() else f"was made for another {changed[0]}"
        if pids := users(folder):
            sys.exit(
                f"{folder.name} {reason}, and processes run from it: {', '.join(pids)}. Stop them first."
            )
        print(f"{folder.name} {reason}: making it anew", flush=True)
        shutil.rmtree(folder)
        note = {}
    todo = [stage for stage in stages if note.get(stage) != want[stage]]
    if not note:
        print(f"making {folder.name} with Python {PYTHON}: {', '.join(todo)}", flush=True)
        folder.mkdir(parents=True)
        note = {"base": want["base"]}
        write_note(folder, note | {"runtime": MAKING})
        if subprocess.call([base_python(), "-m", "venv", str(folder)]) != 0:
            sys.exit("python3 -m venv failed (Debian and Ubuntu keep it in the package python3-venv)")
    for number, stage in enumerate(todo, 1):
        started = time.monotonic()
        print(f"[{number}/{len(todo)}] {stage} ...", flush=True)
        write_note(folder, note | {stage: MAKING})
        install(folder, stage, torch)
        note[stage] = want[stage]
        write_note(folder, note)
        print(f"[{number}/{len(todo)}] {stage}: {time.monotonic() - started:.0f} s", flush=True)
    if todo:
        # On all cores, where pip takes one; some packages hold files that do not compile. By time, so that
        # nothing is compiled again (SOURCE_DATE_EPOCH, which make sets, asks for hashes).
        how = ("-qq", "--invalidation-mode", "timestamp", "-j", str(len(os.sched_getaffinity(0))))
        places = map(str, folder.glob("lib/*/site-packages"))
        subprocess.call([str(folder / "bin" / "python"), "-W", "ignore", "-m", "compileall", *how, *places])
        subprocess.call(pip(folder, "check"))


def main():
    """Read the command line, wait for any other maker, and make."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv")
    parser.add_argument("--torch", default=(ROOT / "envs" / "torch.in").read_text(encoding="utf-8").strip())
    parser.add_argument("stages", nargs="+", choices=STAGES)
    arguments = parser.parse_args()
    if sys.version_info < OLDEST:
        sys.exit(f"{sys.executable} is Python {PYTHON}; 3.11 or newer is needed: make PYTHON=python3.12 ...")
    (ROOT / ".state").mkdir(exist_ok=True)
    with open(ROOT / ".state" / "environment.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another make is making the environment; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        make(arguments.folder.absolute(), arguments.stages, arguments.torch.strip())


if __name__ == "__main__":
    main()
