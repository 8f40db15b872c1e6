"""Cells whose state is a tensor of locations, he2017: tRNN, tLSTM in any number of dimensions, and the
stacked LSTM that they are set beside.

A location p in {1..P}^D has M channels. The kernel of side K has the offsets j in {-a..b}^D, a = ceil((K -
1) / 2), b = floor((K - 1) / 2), in the order of their coordinates, the last fastest. The first state h [M] is
the output corner (P, .., P); `below` are the other locations in the same order, so that only the corner is
read out.
"""

import itertools
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Rule, is_whole

Kernel = Annotated[int, Rule("a whole number of at least 2", lambda value: is_whole(value, 2))]
FAN_IN = "scaled_unit(0.5773502691896258)"
"""U(+-1 / sqrt(rows))."""
EPSILON = 1e-5
"""Beside the variance of a normalisation."""
NORMALISED = "gifoc"


def rows_of(h: Tensor, below: tuple[Tensor, ...]) -> Tensor:
    """All locations [.., N, M] from the output corner [.., M] and the others, if there are any."""
    return torch.cat([*below, h.unsqueeze(-2)], -2)


def parted(rows: Tensor) -> tuple[Tensor, ...]:
    """The output corner, and the others where there are any."""
    corner = rows[..., -1, :]
    return (corner, rows[..., :-1, :]) if rows.shape[-2] > 1 else (corner,)


class Located(Cell):
    """A cell with N `locations` of M = `hidden` channels, and the input projected on M: x W_x + b_x."""

    memory: ClassVar[bool] = True

    @property
    def locations(self) -> int:
        """N."""
        raise NotImplementedError

    @property
    def states(self) -> tuple[str, ...]:
        """h, below where there is more than one location, c where there is a memory."""
        return tuple(self.state_shapes())

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        m, n = self.hidden, self.locations
        shapes = {"h": (m,)} | ({"below": (n - 1, m)} if n > 1 else {})
        return shapes | ({"c": (n, m)} if self.memory else {})

    def projection(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        """W_x and b_x."""
        return {
            "W_x": ((self.inputs, self.hidden), self.weights),
            "b_x": ((1, self.hidden), "zeros"),
        }


@dataclass(frozen=True)
class StackedLSTM(Located):
    """L LSTM layers with one set of weights, the sLSTM of he2017 "Results and Evaluation" (a): layer l reads
    z = h^{l-1}_t, layer 1 reads z = x_t W_x + b_x.

    [g, i, f, o] = [z, h^l_{t-1}] W + b, c^l_t = sigma(f) * c^l_{t-1} + sigma(i) * tanh(g),
    h^l_t = sigma(o) * tanh(c^l_t); the output is h^L_t, without delay. `forget_bias` is added to f.
    Parameters W_x [I, M], b_x [1, M], W [2 M, 4 M], b [1, 4 M]. States h [M], below [L - 1, M], c [L, M].
    Initial values: matrices U(+-1 / sqrt(rows)), biases zero.
    """

    name: ClassVar[str] = "slstm"
    inputs: int
    hidden: int
    layers: int = 2
    forget_bias: float = 1.0
    weights: Scheme = FAN_IN

    @property
    def locations(self) -> int:
        return self.layers

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        m = self.hidden
        return self.projection() | {"W": ((2 * m, 4 * m), self.weights), "b": ((1, 4 * m), "zeros")}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, *below, c = state
        z, memories, layers = x @ p["W_x"] + p["b_x"], [], []
        for before, memory in zip(rows_of(h, below).unbind(-2), c.unbind(-2), strict=True):
            a = torch.cat([z, before], -1) @ p["W"] + p["b"]
            g, i, f, o = a.split(self.hidden, -1)
            memory = torch.sigmoid(f + self.forget_bias) * memory + torch.sigmoid(i) * torch.tanh(g)
            z = torch.sigmoid(o) * torch.tanh(memory)
            memories.append(memory)
            layers.append(z)
        return *parted(torch.stack(layers, -2)), torch.stack(memories, -2)


class Tensorized(Located):
    """Cross-layer convolution of equations 5 to 7: A_t[p] = b + sum_j hcat_{t-1}[p + j] W_j.

    hcat is h_{t-1} at the locations {1..P}^D, x_t W_x + b_x at (0, .., 0), and zero elsewhere. W [K^D M, G]
    has the blocks W_j one below the other. The output for x_t is the corner (P, .., P) of step t + `delay`.
    """

    side: int
    kernel: int
    dimensions: int

    @property
    def locations(self) -> int:
        return self.side**self.dimensions

    @property
    def taps(self) -> int:
        """K^D, the offsets of the kernel."""
        return self.kernel**self.dimensions

    @property
    def reach(self) -> tuple[int, int]:
        """(a, b), the kernel's reach toward the input and toward the output."""
        return self.kernel // 2, (self.kernel - 1) // 2

    @property
    def delay(self) -> int:
        """L - 1 with L = ceil(2 P / (K - K mod 2)), the steps that an input needs to the output corner."""
        return -(-self.side // (self.kernel // 2)) - 1

    @property
    def channels(self) -> int:
        """G, the channels of A."""
        raise NotImplementedError

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        size = (self.taps * self.hidden, self.channels)
        return self.projection() | {"W": (size, self.weights), "b": ((1, self.channels), "zeros")}

    def axes(self, rows: Tensor) -> Tensor:
        """[.., N, M] as [.., P, .., P, M]."""
        return rows.unflatten(-2, (self.side,) * self.dimensions)

    def windows(self, padded: Tensor) -> list[Tensor]:
        """For each offset j the values at p + j for all p [.., N, M], from locations padded by a and b."""
        starts = itertools.product(range(self.kernel), repeat=self.dimensions)
        cuts = ((..., *(slice(s, s + self.side) for s in start), slice(None)) for start in starts)
        return [padded[cut].flatten(-self.dimensions - 1, -2) for cut in cuts]

    def concatenated(self, p: dict[str, Tensor], x: Tensor, rows: Tensor) -> Tensor:
        """hcat from -a + 1 to P + b in each coordinate, [.., P + K - 1, .., P + K - 1, M]."""
        a, b = self.reach
        z = x @ p["W_x"] + p["b_x"]
        corner = z.reshape(*z.shape[:-1], *[1] * self.dimensions, self.hidden)
        inner = [a, b] * (self.dimensions - 1)
        # One slice of the first coordinate, 0, holds the input; the slices below it are zero.
        first = torch.nn.functional.pad(corner, [0, 0, *[a - 1, self.side + b] * (self.dimensions - 1)])
        rest = torch.nn.functional.pad(self.axes(rows), [0, 0, *inner])
        joined = torch.cat([first, rest], -self.dimensions - 1)
        return torch.nn.functional.pad(joined, [0, 0, *[0, 0] * (self.dimensions - 1), a - 1, b])

    def convolved(self, p: dict[str, Tensor], x: Tensor, rows: Tensor) -> Tensor:
        """A_t [.., N, G]."""
        seen = torch.cat(self.windows(self.concatenated(p, x, rows)), -1)
        return (seen.flatten(-3, -2) @ p["W"] + p["b"]).unflatten(-2, (-1, self.locations))


@dataclass(frozen=True)
class TRNN(Tensorized):
    """Tensorized RNN, equations 5 to 9: H_t = tanh(A_t) in D = `dimensions`, A_t as in `Tensorized`, G = M.

    `kernel` K = 2 has no feedback from higher locations. Parameters W_x [I, M], b_x [1, M], W [K^D M, M],
    b [1, M]. Initial values as of the tLSTM.
    """

    name: ClassVar[str] = "trnn"
    memory: ClassVar[bool] = False
    inputs: int
    hidden: int
    side: int = 2
    dimensions: int = 1
    kernel: Kernel = 3
    weights: Scheme = FAN_IN

    @property
    def channels(self) -> int:
        return self.hidden

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, *below = state
        return parted(torch.tanh(self.convolved(p, x, rows_of(h, below))))


@dataclass(frozen=True)
class TLSTM(Tensorized):
    """Tensorized LSTM, equations 10 to 21 and 30, with P = `side` locations along each of D = `dimensions`;
    with the channels these are the "2D" (D = 1) and "3D" (D = 2) of the text, and further ones.

    A_t as in `Tensorized`, G = 4 M + K^D, in the parts g, i, f, o of M channels and q of K^D;
    w = softmax(q) over the offsets of each location,
    Cconv[p] = sum_j w[p][j] C_{t-1}[clip(p + j, 1, P)], each coordinate clipped,
    C_t = sigma(i) * tanh(g) + sigma(f) * Cconv, H_t = sigma(o) * tanh(C_t); `forget_bias` is added to f.
    Without `memory_convolution` Cconv = C_{t-1} and G = 4 M. `kernel` K = 2 has no feedback from higher
    locations; as equation 30 counts the rows of a padded C, the kernel is centred on p.

    `normalisation: channel`, equations 20 and 21: g, i, f, o and the C_t inside tanh less their mean over the
    channels of a location, over their standard deviation there (1e-5 beside the variance), times gain plus
    shift, both [N, M]. `layer` takes both over all locations of an example: then an output depends on inputs
    after its own. q is not normalised.
    Parameters W_x [I, M], b_x [1, M], W [K^D M, G], b [1, G], gain_* and shift_* [N, M]. States h [M], below
    [N - 1, M], c [N, M]. Initial values: matrices U(+-1 / sqrt(rows)), biases and shifts zero, gains one.
    """

    name: ClassVar[str] = "tlstm"
    inputs: int
    hidden: int
    side: int = 2
    dimensions: int = 1
    kernel: Kernel = 3
    memory_convolution: bool = True
    normalisation: Literal["none", "layer", "channel"] = "none"
    forget_bias: float = 1.0
    weights: Scheme = FAN_IN

    @property
    def channels(self) -> int:
        return 4 * self.hidden + (self.taps if self.memory_convolution else 0)

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        kinds = {} if self.normalisation == "none" else {"gain": "constant(1)", "shift": "zeros"}
        size = (self.locations, self.hidden)
        norms = {f"{kind}_{part}": (size, scheme) for part in NORMALISED for kind, scheme in kinds.items()}
        return super().matrices() | norms

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, *below, c = state
        a = self.convolved(p, x, rows_of(h, below))
        *gates, q = a.split([self.hidden] * 4 + [self.channels - 4 * self.hidden], -1)
        g, i, f, o = (self.normed(p, part, a) for part, a in zip("gifo", gates, strict=True))
        kept = self.moved(c, torch.softmax(q, -1)) if self.memory_convolution else c
        c = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f + self.forget_bias) * kept
        rows = torch.sigmoid(o) * torch.tanh(self.normed(p, "c", c))
        return *parted(rows), c

    def moved(self, c: Tensor, w: Tensor) -> Tensor:
        """Cconv [.., N, M] of c [.., N, M] and the kernels w [.., N, K^D]; outside is the boundary."""
        (a, b), padded = self.reach, self.axes(c)
        for axis in range(-self.dimensions - 1, -1):
            first, last = padded.narrow(axis, 0, 1), padded.narrow(axis, self.side - 1, 1)
            padded = torch.cat([*[first] * a, padded, *[last] * b], axis)
        return sum(share * part for share, part in zip(w.split(1, -1), self.windows(padded), strict=True))

    def normed(self, p: dict[str, Tensor], part: str, z: Tensor) -> Tensor:
        """CN(z) or LN(z) with the gain and shift of `part`, or z."""
        if self.normalisation == "none":
            return z
        over = (-1,) if self.normalisation == "channel" else (-2, -1)
        centred = z - z.mean(over, keepdim=True)
        unit = centred * torch.rsqrt(centred.square().mean(over, keepdim=True) + EPSILON)
        return unit * p[f"gain_{part}"].unsqueeze(-3) + p[f"shift_{part}"].unsqueeze(-3)
