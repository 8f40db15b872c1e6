"""Whole updates (forward, loss, backward, Adagrad) of cells that read symbols, beside what one would write in
torch.

A recurrent tensor network multiplies by the matrix that a symbol picks: torch gathers the matrices of all
steps and multiplies in a loop, with dense and with sparse gradients, of which the better counts.
torch.nn.LSTM reads one-hot vectors, made by an embedding that does not learn. Variants run in turn in each
round, in one process, in float32, on symbols that are drawn once: in a batch of 32, for which there are
goals, and of one, as the text has it.
"""

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks import bars, command
from benchmarks.bars import EAGER, NN, figure
from benchmarks.tables import section, table
from benchmarks.timing import Variant, by_cell, watched
from benchmarks.variants import THEIRS, Update, initial
from tensor_rnns import engine, models
from tensor_rnns.models import Model
from tensor_rnns.training import optimisers
from tensor_rnns.training.learner import Layout

OURS, RATE, EPSILON = "compiled", 0.1, 1e-8
ADAGRAD = {"epsilon": EPSILON, "initial_accumulator": 0.0}
BARS = {("rtn", EAGER): 8.0, ("grtn", EAGER): 6.0, ("lstm", NN): 2.0}
"""How many times faster than what."""


@dataclass(frozen=True)
class Load:
    """Sizes: a text of `symbols` in `batch` rows of `steps`, `hidden` units."""

    steps: int = 100
    batch: int = 32
    symbols: int = 205
    hidden: int = 64

    def drawn(self) -> tuple[Tensor, Tensor]:
        """Symbols and the next ones, [T, B]; as in a text the n-th commonest one comes n times less often."""
        generator = torch.Generator().manual_seed(1)
        weights = 1 / torch.arange(1, self.symbols + 1)
        shape = self.steps + 1, self.batch
        text = weights.multinomial(shape[0] * shape[1], True, generator=generator).view(shape)
        return text[:-1], text[1:]


LOADS = Load(), Load(batch=1)


def ours(name: str, load: Load) -> Update:
    """An update of a model of this package, as the trainer makes it; nothing is clipped here, nor there."""
    block = {"model": {"name": "every_step"}, "cell": {"name": name, "hidden": load.hidden}}
    made: Model = models.build(block, load.symbols, load.symbols, OURS, symbols=True)
    layout, parameters = Layout(made.shapes()), initial(made)
    inputs, targets = (part.unsqueeze(1) for part in load.drawn())
    direct = made.direct(layout.views, layout.width, parameters.dtype)
    optimiser = optimisers.build("adagrad", torch.full((1, 1), RATE), ADAGRAD)
    state, count = optimiser.start(parameters), 0

    def update() -> None:
        nonlocal parameters, count
        count += 1
        found = direct.gradient(
            parameters, inputs, (), lambda y: engine.cross_entropy(y, targets, targets.numel())
        )
        limits = optimisers.Limits()
        parameters = optimiser.moved(parameters, found[1], limits, state, count, made.engine)

    return update


class Gathered(nn.Module):
    """A recurrent tensor network, plain or with the gates of an LSTM, that gathers the matrices of all steps
    in one look-up."""

    def __init__(self, gates: int, load: Load, sparse: bool) -> None:
        super().__init__()
        self.gates, self.hidden = gates, load.hidden
        width = gates * load.hidden
        self.tables = nn.Embedding(load.symbols, width * load.hidden, sparse=sparse)
        self.bias = nn.Parameter(torch.zeros(width))
        self.head = nn.Linear(load.hidden, load.symbols)

    def forward(self, symbols: Tensor) -> Tensor:
        """Outputs of every step."""
        matrices = self.tables(symbols).view(*symbols.shape, -1, self.hidden)
        h = c = matrices.new_zeros(symbols.shape[1], self.hidden)
        outputs = []
        for matrix in matrices.unbind(0):
            q = torch.bmm(matrix, h.unsqueeze(2)).squeeze(2) + self.bias
            if self.gates == 1:
                h = torch.tanh(q)
            else:
                i, f, o, g = q.chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return self.head(torch.stack(outputs))


class OneHot(nn.Module):
    """torch.nn.LSTM on one-hot vectors."""

    def __init__(self, load: Load) -> None:
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.eye(load.symbols))
        self.cell = nn.LSTM(load.symbols, load.hidden)
        self.head = nn.Linear(load.hidden, load.symbols)

    def forward(self, symbols: Tensor) -> Tensor:
        """Outputs of every step."""
        return self.head(self.cell(self.embed(symbols))[0])


def theirs(module: nn.Module, load: Load) -> Update:
    """An update of a module of torch with its Adagrad, fused where gradients are dense."""
    inputs, targets = load.drawn()
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    sparse = any(getattr(part, "sparse", False) for part in module.modules())
    way = {"foreach": False} if sparse else {"fused": True}
    optimiser = torch.optim.Adagrad(learned, lr=RATE, eps=EPSILON, **way)

    def update() -> None:
        optimiser.zero_grad(set_to_none=True)
        THEIRS["classes"](module(inputs), targets).backward()
        # torch warns where nobody says whether it is to check its own sparse gradients.
        with torch.sparse.check_sparse_tensor_invariants(False):
            optimiser.step()

    return update


def variants(load: Load, threads: int) -> dict[tuple[str, str], Variant]:
    """What is timed, by cell and kind; every one on one thread and on all that are given."""
    found = {}
    for number in sorted({1, threads}):
        for name in ("rtn", "grtn", "lstm"):
            found[name, f"{OURS}, {number}"] = Variant(ours(name, load), number)
        for name, gates in (("rtn", 1), ("grtn", 4)):
            for sparse in (False, True):
                kind = f"{EAGER}, {'sparse' if sparse else 'dense'}, {number}"
                found[name, kind] = Variant(theirs(Gathered(gates, load, sparse), load), number)
        found["lstm", f"{NN}, {number}"] = Variant(theirs(OneHot(load), load), number)
    return found


def text(report: Mapping[str, Any]) -> str:
    """The tables of a report: for each load the ratios of the best variants, then each variant."""
    return "\n".join([*(of_load(**load) for load in report["loads"]), command.busy(report["watch"]) + "\n"])


def of_load(sizes: Mapping[str, int], milliseconds: Mapping[str, Mapping[str, list[float]]]) -> str:
    """The tables of one load; goals are for those of many rows."""
    every = [
        [name, kind, figure(statistics.median(values))]
        for name, of_cell in milliseconds.items()
        for kind, values in of_cell.items()
    ]
    rows = []
    for (name, against), bar in BARS.items():
        mine, other = (bars.best(milliseconds[name], kind) for kind in (OURS, against))
        spread = bars.compared(milliseconds[name], OURS, against)
        goal = bars.verdict(spread.median, bar) if sizes["batch"] > 1 else ""
        rows.append([name, against, *map(figure, (mine, other)), f"{spread}{goal}"])
    header = ["cell", "against", f"{OURS} ms", "theirs ms", "ratio of the best"]
    title = ", ".join(f"{name} {value}" for name, value in sizes.items())
    tables = table(header, rows), table(["cell", "variant, threads", "ms"], every)
    return section(f"A batch of {sizes['batch']}", title, *tables)


def main() -> None:
    """Print the ratios and every variant, then everything as JSON."""
    parser = command.options(__doc__, rounds=7, device=False)
    asked = parser.parse_args()
    device = command.prepared(parser, asked, "cpu")
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads)}
    with watched() as watch:
        report["loads"] = [
            {
                "sizes": asdict(load),
                "milliseconds": by_cell(variants(load, asked.threads), asked.rounds, device),
            }
            for load in LOADS
        ]
    report["watch"] = watch.record()
    command.close("symbols", asked, report, text)


if __name__ == "__main__":
    main()
