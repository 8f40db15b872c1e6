"""Make, complete or remake the virtual environment that `make` uses; standard library only.

    python3 workflow/scripts/make_environment.py --folder .venv runtime package torch dev

Stages: `runtime` (envs/runtime.lock), `package` (this repository, editable), `torch`, `dev` (envs/dev.lock).
Each is noted in the folder with a digest of what it was made from, so that a second call does nothing.
An interrupted stage, another Python, another torch or a changed runtime.lock makes the folder anew; the other
stages are redone in place. A folder made by other hands is used if it holds every locked version, and is
otherwise left alone with an error.
"""

import argparse
import fcntl
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = {"runtime": ROOT / "envs" / "runtime.lock", "dev": ROOT / "envs" / "dev.lock"}
STAGES = ("runtime", "package", "torch", "dev")
NOTE = "tensor-rnns.json"
MAKING = "making"
OLDEST = (3, 11)


def locked(stage):
    """The versions that the lock of `stage` pins, by name."""
    text = LOCKS[stage].read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][^=\s]*)==(\S+)", text, re.MULTILINE))


def wanted(folder, torch):
    """What each stage is made from; `base` is what the whole folder hangs on. Equal text: nothing to do."""

    def digest(path):
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]

    return {
        "base": f"{folder} {sys.version.split()[0]}",
        "runtime": digest(LOCKS["runtime"]),
        "package": digest(ROOT / "pyproject.toml"),
        "torch": torch,
        "dev": digest(LOCKS["dev"]),
    }


def read_note(folder):
    """What stands in `folder`, or None."""
    try:
        return json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_note(folder, note):
    """Note what stands in `folder`: written aside, then renamed."""
    aside = folder / (NOTE + ".aside")
    aside.write_text(json.dumps(note, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    aside.replace(folder / NOTE)


def adopt(folder, stages, want):
    """The note for a folder that other hands made, if it holds what `stages` pin; else exit with an error."""
    listing = subprocess.run(
        [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "list",
            "--disable-pip-version-check",
            "--format",
            "json",
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    held = {re.sub(r"[-_.]+", "-", row["name"]).lower(): row["version"] for row in json.loads(listing.stdout)}
    pins = {}
    for stage in stages:
        if stage in LOCKS:
            pins.update(locked(stage))
    if "torch" in stages:
        pins.update(re.findall(r"([\w.-]+)==([^\s;,]+)", want["torch"]))
    lacking = [
        f"{name}=={version}" for name, version in pins.items() if held.get(name, "").split("+")[0] != version
    ]
    lacking += ["tensor-rnns"] if "package" in stages and "tensor-rnns" not in held else []
    if lacking:
        sys.exit(
            f"{folder} was not made by make, and it lacks {len(lacking)} of the packages wanted, such as "
            f"{', '.join(lacking[:4])}. Remove it, or name another folder: make VENV=folder ..."
        )
    return {name: want[name] for name in ("base", *stages)}


def fault(note, want):
    """Why a folder has to be made anew, or None."""
    if note["base"] != want["base"]:
        return f"was made for {note['base']}, now it is {want['base']}"
    if MAKING in note.values():
        return "was left half-made"
    if note["runtime"] != want["runtime"]:
        return "holds another runtime.lock"
    if note.get("torch", want["torch"]) != want["torch"]:
        return f"holds '{note['torch']}', now it is '{want['torch']}'"
    return None


def pip(folder, arguments, total):
    """Run pip install, showing how far it is; on failure print the end of its log and exit."""
    log = folder / "pip.log"
    command = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        *arguments,
    ]
    with open(log, "a", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seen = 0
        for line in process.stdout:
            stream.write(line)
            if line.startswith(("Collecting", "Processing", "Requirement already")):
                seen += 1
                if sys.stdout.isatty():
                    print(f"\r    {seen} of {total}  {line.strip()[:60]}\033[K", end="", flush=True)
            elif line.startswith("Installing"):
                print(f"    {seen} packages fetched, installing", flush=True)
    if process.wait() != 0:
        print("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[-15:]), file=sys.stderr)
        sys.exit(f"pip failed; its whole log is {log}. The same command tries again from the start.")


def install(folder, stage, torch):
    """Install one stage."""
    if stage == "package":
        pip(folder, ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)], 1)
    elif stage == "torch":
        pip(folder, shlex.split(torch), 1)
    else:
        pip(folder, ["--no-deps", "--require-hashes", "--requirement", str(LOCKS[stage])], len(locked(stage)))


def make(folder, stages, torch):
    """Bring `stages` of the environment in `folder` up to date."""
    want = wanted(folder, torch)
    stages = [stage for stage in STAGES if stage in stages and not (stage == "torch" and not torch)]
    note = read_note(folder)
    if note is None and folder.exists():
        note = adopt(folder, stages, want)
        write_note(folder, note)
    if note is not None and fault(note, want):
        print(f"{folder.name} {fault(note, want)}: making it anew", flush=True)
        shutil.rmtree(folder)
        note = None
    todo = [stage for stage in stages if (note or {}).get(stage) != want[stage]]
    if not todo:
        return
    if note is None:
        print(f"making {folder.name} with Python {sys.version.split()[0]}: {', '.join(todo)}", flush=True)
        folder.mkdir(parents=True)
        note = {"base": want["base"], "runtime": MAKING}
        write_note(folder, note)
        if subprocess.call([sys.executable, "-m", "venv", str(folder)]) != 0:
            sys.exit("python3 -m venv failed (Debian and Ubuntu keep it in the package python3-venv)")
    for number, stage in enumerate(todo, 1):
        started = time.monotonic()
        print(f"[{number}/{len(todo)}] {stage}", flush=True)
        write_note(folder, note | {stage: MAKING})
        install(folder, stage, torch)
        note[stage] = want[stage]
        write_note(folder, note)
        print(f"[{number}/{len(todo)}] {stage}: {time.monotonic() - started:.0f} s", flush=True)
    subprocess.call([str(folder / "bin" / "python"), "-m", "pip", "check"])


def main():
    """Read the command line, wait for any other maker, and make."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv")
    parser.add_argument("--torch", default=(ROOT / "envs" / "torch.in").read_text(encoding="utf-8").strip())
    parser.add_argument("stages", nargs="+", choices=STAGES)
    arguments = parser.parse_args()
    if sys.version_info < OLDEST:
        sys.exit(
            f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; {sys.executable} is "
            f"{sys.version.split()[0]}. Name another one: make PYTHON=python3.12 ..."
        )
    folder = arguments.folder.absolute()
    (ROOT / ".state").mkdir(exist_ok=True)
    with open(ROOT / ".state" / "environment.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another make is making {folder.name}; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        make(folder, arguments.stages, arguments.torch.strip())


if __name__ == "__main__":
    main()
