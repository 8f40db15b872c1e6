"""The eager loop as CUDA graphs: some steps are recorded once and replayed, without a launch an operation.

The way back makes these steps again from the states before them. So nothing but states is kept between calls,
and one recording serves any number of calls and layers.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Inputs, Params, State, Steps, check, identity, vectors

STEPS = 32
"""Steps of one recording: more of them are fewer replays, and more memory and operations in each."""
LOOP = Engine()
WARMING = 3
"""Runs before a recording, in which torch sets up what must not happen while it records."""


class Chunk:
    """Some steps of a cell, recorded for tensors of one shape: forward, and forward and back.

    `like` are inputs [C, S, B, I], the parameters in the order of `names`, and states. What a recording reads
    and writes stays in its place from replay to replay.
    """

    def __init__(self, cell: Cell, names: Sequence[str], like: Sequence[Tensor]) -> None:
        self.cell, self.names = cell, names
        self.given = [torch.zeros_like(part, requires_grad=True) for part in like]
        with torch.no_grad():
            self.gradients = [torch.zeros_like(part) for part in self.steps()]

    def steps(self) -> list[Tensor]:
        """The outputs [C, S, B, H] and the states after the last step of what is `given`."""
        x, *rest = self.given
        params, state = rest[: len(self.names)], rest[len(self.names) :]
        outputs, final = LOOP.run(self.cell, dict(zip(self.names, params, strict=True)), x, tuple(state))
        return [outputs, *final]

    def steps_and_back(self) -> list[Tensor]:
        """The gradients of what is `given`, for `gradients` of the outputs and of the last states."""
        with torch.enable_grad():
            pairs = [(y, g) for y, g in zip(self.steps(), self.gradients, strict=True) if y.requires_grad]
        made, gradients = zip(*pairs, strict=True)
        return list(torch.autograd.grad(made, self.given, gradients, materialize_grads=True))

    @cached_property
    def replay(self) -> Callable[[], list[Tensor]]:
        """`steps` without gradients, recorded."""
        return recorded(torch.no_grad()(self.steps))

    @cached_property
    def replay_back(self) -> Callable[[], list[Tensor]]:
        """`steps_and_back`, recorded."""
        return recorded(self.steps_and_back)

    @torch.no_grad()
    def forward(self, given: Sequence[Tensor]) -> list[Tensor]:
        """The outputs and the states after the last step, as tensors of their own."""
        torch._foreach_copy_(self.given, list(given))
        return [part.clone() for part in self.replay()]

    @torch.no_grad()
    def backward(self, given: Sequence[Tensor], gradients: Sequence[Tensor]) -> list[Tensor]:
        """The gradients of what is given, as tensors of their own."""
        torch._foreach_copy_([*self.given, *self.gradients], [*given, *gradients])
        return [part.clone() for part in self.replay_back()]


def recorded(function: Callable[[], list[Tensor]]) -> Callable[[], list[Tensor]]:
    """A function that replays the operations of `function` on a GPU, always into the same results."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARMING):
            function()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = function()

    def replay() -> list[Tensor]:
        graph.replay()
        return results

    return replay


MOST = 64
"""Recordings that are kept, each with memory of its own; rows of many lengths ask for ever new ones."""
CHUNKS: dict[tuple, Chunk] = {}
"""The recordings, that which was asked for last at the end."""


def chunk_of(cell: Cell, names: tuple[str, ...], like: Sequence[Tensor]) -> Chunk:
    """The recordings for a cell, tensors of these shapes and a precision, made where they are not kept."""
    shapes = tuple(tuple(part.shape) for part in like)
    precisions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    key = (*identity(cell), names, like[0].dtype, like[0].device, shapes, precisions)
    chunk = CHUNKS.pop(key, None) or Chunk(cell, names, like)
    while len(CHUNKS) >= MOST:
        del CHUNKS[next(iter(CHUNKS))]
    CHUNKS[key] = chunk
    return chunk


class Scan(torch.autograd.Function):
    """All steps, chunk after chunk; its gradient has none of its own."""

    @staticmethod
    def forward(ctx, cell: Cell, names: tuple[str, ...], keep: bool, x: Tensor, *rest: Tensor):
        """The outputs [T, S, B, H] and the states after the last step of inputs, parameters and states."""
        params, state = rest[: len(names)], rest[len(names) :]
        outputs, kept = [], []
        for piece in x.split(STEPS):
            given = (piece, *params, *state)
            chunk = chunk_of(cell, names, given)
            if keep:
                kept += state
                _ = chunk.replay_back  # recorded here, not in the threads of autograd
            made, *state = chunk.forward(given)
            outputs.append(made)
        ctx.cell, ctx.names, ctx.states = cell, names, len(state)
        ctx.save_for_backward(x, *params, *kept)
        return torch.cat(outputs), *state

    @staticmethod
    @once_differentiable
    def backward(ctx, outputs: Tensor, *states: Tensor):
        """The gradients of inputs, parameters and states."""
        x, *saved = ctx.saved_tensors
        count = len(ctx.names)
        params, kept = saved[:count], saved[count:]
        totals = [torch.zeros_like(part) for part in params]
        pieces = list(zip(x.split(STEPS), outputs.split(STEPS), strict=True))
        of_inputs = []
        for number, (piece, gradient) in reversed(list(enumerate(pieces))):
            given = (piece, *params, *kept[number * ctx.states : (number + 1) * ctx.states])
            made = chunk_of(ctx.cell, ctx.names, given).backward(given, (gradient, *states))
            torch._foreach_add_(totals, made[1 : count + 1])
            of_inputs.append(made[0])
            states = made[count + 1 :]
        return None, None, None, torch.cat(of_inputs[::-1]), *totals, *states


class Graphed(Engine):
    """The eager loop as CUDA graphs, wherever these can be recorded; `check` of the choice allows it on CUDA
    alone."""

    name = "graphed"

    def run(self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False) -> Steps:
        if not len(inputs):
            return LOOP.run(cell, params, inputs, state, last_only)
        check(cell, params, inputs, state)
        tensors = (vectors(inputs, state[0].dtype), *params.values(), *state)
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        outputs, *final = Scan.apply(cell, tuple(params), keep, *tensors)
        return (final[0] if last_only else outputs), tuple(final)
