"""One value of a random experiment file is damaged: nearly every damage is refused, and none ends in a
traceback."""

import copy
import random
import shutil
from pathlib import Path

import yaml

from tensor_rnns import yaml_files
from tensor_rnns.checking import whole

PAPER = Path(__file__).parents[2] / "workflow" / "papers" / "mathews2016"
DAMAGES, SHARE = 80, 0.95
FREE = {
    "title", "titles", "why", "note", "labels", "caption", "statement", "text", "paper",
    "ours", "code", "effect", "page", "section", "source", "of", "item", "name", "array", "criterion",
}  # fmt: skip
"""Keys of free text, and of names that a task, a probe or a computed table defines when it runs."""
BAD = (float("nan"), float("inf"), -float("inf"), "nonsense", True, None, ["nonsense"], {"surplus": 1})


def leaves(value, path=()):
    """The path of every value outside free text."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if key not in FREE:
            yield from leaves(part, (*path, key))


def damaged(content, path, draw):
    """A copy with one value of another kind, or one key too many, and the damage in words."""
    content = copy.deepcopy(content)
    home = content
    for key in path[:-1]:
        home = home[key]
    old = home[path[-1]]
    if isinstance(old, dict) and draw.random() < 0.5:
        home[path[-1]] = old | {"surplus key": 1}
        return content, f"{path} has a surplus key"
    more = (-abs(old) - 1, old + 0.5) if type(old) is int else ()
    kinds = [bad for bad in (*BAD, *more) if type(bad) is not type(old) or bad != bad]
    if isinstance(old, float):
        kinds = [bad for bad in kinds if type(bad) is not int]
    home[path[-1]] = draw.choice(kinds)
    return content, f"{path}: {old!r} -> {home[path[-1]]!r}"[:200]


def test_nearly_every_damage_is_refused(tmp_path):
    """At least 95 in 100; the rate and what was accepted are printed."""
    paper = tmp_path / "papers" / PAPER.name
    shutil.copytree(PAPER, paper)
    contents = {path: whole.read(path) for path in sorted(paper.glob("*.yaml")) if path.name != "paper.yaml"}
    raw = {path: yaml_files.read(path).content for path in contents}
    draw, accepted = random.Random(2016), []
    for _ in range(DAMAGES):
        path = draw.choice(sorted(contents))
        place = draw.choice([place for place in leaves(raw[path]) if place])
        content, words = damaged(raw[path], place, draw)
        before = path.read_text()
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        found = whole.read(path)
        if not isinstance(found, ValueError) and not list(
            whole.file_problems(path, found, contents | {path: found})
        ):
            accepted.append(f"{path.stem} {words}")
        path.write_text(before)
    print(f"{DAMAGES - len(accepted)} of {DAMAGES} refused; accepted:", *accepted, sep="\n  ")
    assert len(accepted) <= (1 - SHARE) * DAMAGES
