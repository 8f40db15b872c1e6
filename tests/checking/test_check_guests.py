"""A guest that cannot be read, made or trained is refused before any work, with its line; what a cohort may
do is taken."""

from pathlib import Path

import pytest
import torch

from tensor_rnns import checking

EXAMPLE = (Path(__file__).parents[2] / "docs" / "my_cell.py").read_text()
STEP = r".* \(bad\.py:30\)$"
TIED = "^guest cell my_leaky: its step gives replicas together other results than alone"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\n", "no class with a line name"),
        ("def\n", r"bad\.py: no Python: .*\(bad\.py, line 1\)"),
        (EXAMPLE.replace("my_leaky", "gru"), "'gru' is already the name of a class"),
        (
            EXAMPLE.replace("@dataclass(frozen=True)\n", ""),
            r"^\S+bad\.py:11: the class Leaky has the fields inputs, hidden, keep, weights and no decorator; "
            r"needed above it: @dataclass\(frozen=True\)$",
        ),
        (EXAMPLE.replace("    hidden: int\n", ""), "it needs hidden"),
        (EXAMPLE.replace("(Cell):", ":"), "^guest cell my_leaky: its class is no Cell; needed is `class "),
        ("import sys\n" + EXAMPLE + "\nsys.exit(0)\n", r"SystemExit: 0 \(bad\.py:"),
        (
            EXAMPLE.replace("(h,) = state", "(h,) = state; p['W'].numpy()"),
            r"my_leaky: RuntimeError: Can't call numpy\(\) on Tensor that requires grad",
        ),
        (EXAMPLE.replace("keep: float = 0.9", "keep: float"), "keep has no default"),
        (
            EXAMPLE.replace("return (self.keep", "return (torch.cat([h, h], -1) + self.keep")
            .replace('+ p["b"]),)', '+ p["b"]).repeat(1, 2),)')
            .replace("self.keep * h", "self.keep * torch.cat([h, h], -1)"),
            r"my_leaky: its step returns the state h with shape \(10,\); declared: \(5,\)",
        ),
        (EXAMPLE.replace("torch.tanh", "torch.tanhh"), f"^guest cell my_leaky: its step fails: Attr.*{STEP}"),
        (
            EXAMPLE.replace('h @ p["U"]', 'h @ p["W"]'),
            f"^guest cell my_leaky: its step fails: Runtime.*{STEP}",
        ),
        (EXAMPLE.replace('p["b"]', 'p["b"][:, 0]'), f"^guest cell my_leaky: its step fails: Runtime.*{STEP}"),
        (
            EXAMPLE.replace('"zeros"', "zeroes"),
            r"my_leaky: NameError: .*'zeroes'.* \(bad\.py:25\)$",
        ),
        (
            EXAMPLE.replace("(h,) = state", "(h,) = state; h *= 0.5"),
            r"changes the state h in place \(bad\.py:29\)",
        ),
        (
            EXAMPLE.replace("(h,) = state", "(h,) = state; x += 1"),
            r"changes its input in place \(bad\.py:29\)",
        ),
        (
            EXAMPLE.replace("(h,) = state", "(h,) = state; p['W'].data += 1"),
            r"the parameter W in place \(bad",
        ),
        (
            EXAMPLE.replace(
                "(h,) = state",
                "(h,) = state; a = 0 * h\n        a += 1\n        h.view(-1)[0] = 1\n        h += 1",
            ),
            r"changes the state h in place \(bad\.py:31\)",
        ),
        *(
            (EXAMPLE.replace("(h,) = state", f"(h,) = state; h = {h}"), rf"{TIED}.* here {line}")
            for h, line in [
                ("h + torch.rand_like(h)", r"random numbers \(bad\.py:29\)$"),
                ("h if x.sum() > 0 else 2 * h", r"a number \(bad\.py:29\)$"),
                ("h + float(x[0, 0, 0]) if x.ndim > 2 else h", r"a number \(bad\.py:29\)$"),
                ("h + len(x[x > 0])", r"a shape \(bad\.py:29\)$"),
                ("h + max(x.flatten().tolist())", "no line found$"),
                ("h + __import__('random').random()", "no line found$"),
            ]
        ),
        (EXAMPLE.replace(' + p["b"])', ")"), "step never uses the parameter b$"),
        (
            EXAMPLE.replace('["b"]),)', '["b"]))'),
            r"step returns a tensor; allowed is a tuple .* return \(h,\)",
        ),
        (EXAMPLE.replace("def step", "def stepp"), "my_leaky: it has no step"),
        (EXAMPLE.replace("ClassVar[str]", "ClassVarr[str]"), r"bad\.py: NameError: .* \(bad\.py:15\)$"),
        (
            EXAMPLE + 'raise ValueError("no such gate")\n',
            r"bad\.py: ValueError: no such gate \(bad\.py:\d+\)$",
        ),
    ],
)
def test_a_bad_guest_is_refused_before_any_work(tmp_path, text, told):
    """No cell, no Python, a taken name, no width, a field without a default, code that raises, alone or
    with an axis of replicas, and what no cohort may do are named."""
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(ValueError, match=told):
        checking.check_guests([tmp_path / "bad.py"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(h,) = state", "(h,) = state; a = h + 1; a += 1; a[..., 0] = 2"),
        ("(h,) = state", "(h,) = state; h = h * torch.nn.functional.one_hot(h.argmax(-1), h.shape[-1])"),
        ("(h,) = state", "(h,) = state; h = h + x[..., torch.tensor(2)].unsqueeze(-1)"),
        ("(h,) = state", "(h,) = state; assert not h.isnan().any()"),
        ('h @ p["U"]', 'h @ p["U"].detach()'),
        ('p["b"])', '(p["b"] > 0))'),
    ],
)
def test_what_a_cohort_may_do_is_taken(tmp_path, before, after):
    """Tensors of the step's own in place, a choice among units, a constant index, an assertion, and
    parameters that are read without a gradient; under inference too."""
    assert before in EXAMPLE
    (tmp_path / "good.py").write_text(EXAMPLE.replace(before, after))
    checking.check_guests([tmp_path / "good.py"])
    with torch.inference_mode():
        checking.check_guests([tmp_path / "good.py"])
