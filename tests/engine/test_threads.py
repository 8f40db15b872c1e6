"""Proves that threads of the compiled engine are those of torch's OpenMP, and that a fork and callers in
several threads get the bits of one thread."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.engine.compiled import calls, parts

COMPILED = engine.find("compiled")

SECONDS = 120


@pytest.fixture
def scanned(setting, block):
    """A function that runs three replicas of a GRU over 20 rows on two threads: outputs and gradients."""
    s = setting(block("gru"), replicas=3, batch=20, steps=13)

    def run():
        torch.set_num_threads(2)
        params = {name: value.float().requires_grad_() for name, value in s.params.items()}
        outputs, _ = COMPILED.run(s.cell, params, s.inputs.float(), tuple(part.float() for part in s.state))
        return [outputs.detach(), *torch.autograd.grad(outputs.sum(), list(params.values()))]

    before = torch.get_num_threads()
    yield run
    torch.set_num_threads(before)


def same(found, expected):
    """Whether all numbers are equal to the last bit."""
    return all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def send(queue, run, expected):
    """In a child: whether it finds what its parent found, with the kernels it has and with its own."""
    again = same(run(), expected)
    COMPILED.ready.clear()
    parts.library.cache_clear()
    queue.put(again and same(run(), expected))


def test_the_threads_are_those_of_torch():
    """Where torch computes with GNU OpenMP, the engine has found it."""
    assert ("OpenMP" in torch.__config__.parallel_info()) == (calls.openmp() is not None)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_after_parallel_work(scanned):
    """A child of fork() has none of its parent's threads, and does the same work to the same bits."""
    expected = scanned()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=send, args=(queue, scanned, expected))
    child.start()
    child.join(SECONDS)
    stuck = child.is_alive()
    child.kill()
    assert not stuck
    assert queue.get()


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
