"""Proves that the reference engine is the step repeated, and that engines are found by name."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine

EAGER = engine.find("eager")

STEPS, REPLICAS, BATCH, INPUTS, HIDDEN = 6, 2, 4, 3, 5


@pytest.fixture(params=["lstm", "tgu"])
def setting(request):
    block = {"name": request.param, "hidden": HIDDEN} | ({"rank": 7} if request.param == "tgu" else {})
    cell = cells.build(block, INPUTS)
    generator = np.random.default_rng(5)
    drawn = [cell.initialise(generator) for _ in range(REPLICAS)]
    params = {name: torch.from_numpy(np.stack([one[name] for one in drawn])) for name in drawn[0]}
    inputs = torch.from_numpy(generator.standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))
    state = tuple(torch.from_numpy(generator.standard_normal((REPLICAS, BATCH, HIDDEN))) for _ in cell.states)
    return cell, params, inputs, state


def test_outputs_are_the_first_state_of_each_step(setting):
    cell, params, inputs, state = setting
    outputs, final = EAGER.run(cell, params, inputs, state)
    assert outputs.shape == (STEPS, REPLICAS, BATCH, HIDDEN)
    for t in range(STEPS):
        state = cell.step(params, inputs[t], state)
        assert torch.equal(outputs[t], state[0])
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(final, state, strict=True))


def test_last_only_keeps_the_last_output_and_the_same_state(setting):
    outputs, final = EAGER.run(*setting)
    last, same = EAGER.run(*setting, last_only=True)
    assert torch.equal(last, outputs[-1])
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(same, final, strict=True))


def test_two_halves_with_the_state_carried_are_the_whole(setting):
    cell, params, inputs, state = setting
    outputs, final = EAGER.run(cell, params, inputs, state)
    first, between = EAGER.run(cell, params, inputs[:2], state)
    second, end = EAGER.run(cell, params, inputs[2:], between)
    assert torch.equal(torch.cat([first, second]), outputs)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(end, final, strict=True))


def test_a_run_without_replica_axis(setting):
    cell, params, inputs, state = setting
    outputs, _ = EAGER.run(cell, params, inputs, state)
    one = {name: value[1] for name, value in params.items()}
    alone, _ = EAGER.run(cell, one, inputs[:, 1], tuple(part[1] for part in state))
    torch.testing.assert_close(alone, outputs[:, 1], rtol=0, atol=1e-12)


def test_no_steps_are_refused(setting):
    cell, params, inputs, state = setting
    with pytest.raises(ValueError, match=r"inputs \(0, 2, 4, 3\) given; allowed: at least one step"):
        EAGER.run(cell, params, inputs[:0], state)


def test_engines_are_found_by_name():
    assert [engine.find(name).name for name in engine.ENGINES] == list(engine.ENGINES)
    with pytest.raises(ValueError, match="engine 'auto' asked for; allowed: eager, compiled"):
        engine.find("auto")
