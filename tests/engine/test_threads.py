"""Proves that threads of the compiled engine are those of torch's OpenMP, and that a fork and callers in
several threads get the bits of one thread."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.engine.compiled import calls, parts

COMPILED = engine.find("compiled")

SECONDS = 120


def run(s):
    """Three replicas of a GRU over 20 rows on two threads: outputs and gradients."""
    torch.set_num_threads(2)
    params = {name: torch.as_tensor(value).float().requires_grad_() for name, value in s.params.items()}
    inputs, *state = (torch.as_tensor(part).float() for part in (s.inputs, *s.state))
    outputs, _ = COMPILED.run(s.cell, params, inputs, tuple(state))
    return [outputs.detach(), *torch.autograd.grad(outputs.sum(), list(params.values()))]


@pytest.fixture
def given(setting, block):
    """What `run` is given, as arrays."""
    s = setting(block("gru"), replicas=3, batch=20, steps=13)
    s.params = {name: value.numpy() for name, value in s.params.items()}
    s.inputs, s.state = s.inputs.numpy(), tuple(part.numpy() for part in s.state)
    return s


@pytest.fixture
def scanned(given):
    """A function that runs it."""
    before = torch.get_num_threads()
    yield partial(run, given)
    torch.set_num_threads(before)


def same(found, expected):
    """Whether all numbers are equal to the last bit."""
    return all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def send(queue, given, expected):
    """In a child: whether it finds what its parent found, with the kernels it has and with its own."""
    again = same(run(given), expected)
    COMPILED.ready.clear()
    parts.library.cache_clear()
    queue.put(again and same(run(given), expected))


def fork(found, given):
    """In a process that has done nothing else, so that no thread of another test holds a lock at the fork:
    run, fork, and put whether the child finds the same; None where it is stuck or fails."""
    expected, context = run(given), multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=send, args=(queue, given, expected))
    child.start()
    child.join(SECONDS)
    child.kill()
    found.put(queue.get() if child.exitcode == 0 else None)


def test_the_threads_are_those_of_torch():
    """Where torch computes with GNU OpenMP, the engine has found it."""
    assert ("OpenMP" in torch.__config__.parallel_info()) == (calls.openmp() is not None)


def test_a_fork_after_parallel_work(given):
    """A child of fork() has none of its parent's threads, and does the same work to the same bits."""
    context = multiprocessing.get_context("spawn")
    found = context.SimpleQueue()
    fresh = context.Process(target=fork, args=(found, given))
    fresh.start()
    fresh.join(2 * SECONDS)
    code = fresh.exitcode
    fresh.kill()
    assert code == 0
    assert found.get()


def test_callers_in_several_threads(scanned):
    """Scans that run at once in four threads of Python do not disturb one another."""
    expected = scanned()
    with ThreadPoolExecutor(4) as pool:
        assert all(same(found, expected) for found in pool.map(lambda _: scanned(), range(12)))


def test_without_openmp(scanned):
    """Threads of our own give the same bits."""
    expected = scanned()
    loaded = parts.library(torch.float32)
    loaded.use_openmp(None)
    found = scanned()
    loaded.use_openmp(calls.openmp())
    assert same(found, expected)
