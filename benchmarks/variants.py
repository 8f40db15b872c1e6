"""Whole updates (forward, loss, backward, Adam) of one cell: this package's engines, a loop in torch, and
torch.nn."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.workloads import Workload, block, data, model
from tensor_rnns import engine
from tensor_rnns.engine import Affine
from tensor_rnns.models import Inputs, Model
from tensor_rnns.training import optimisers
from tensor_rnns.training.learner import Layout

Update = Callable[[], None]
RATE = 1e-3
EAGER_LOOP = engine.find("eager")
TORCH = {"lstm": nn.LSTM, "gru": nn.GRU, "vanilla": nn.RNN}
OURS = {
    "squared_error": engine.squared_error,
    "bernoulli": engine.binary_cross_entropy,
    "classes": engine.cross_entropy,
}
THEIRS = {
    "squared_error": nn.functional.mse_loss,
    "bernoulli": nn.functional.binary_cross_entropy_with_logits,
    "classes": lambda y, targets: nn.functional.cross_entropy(y.flatten(0, -2), targets.flatten()),
}


def able(name: str, kind: str, load: Workload, device: torch.device) -> bool:
    """Whether there is an engine of that name for `device`, and it runs the cell itself."""
    try:
        engine.check(kind, block(name, load), device.type)
    except ValueError:
        return False
    made = model(name, load, kind)
    return engine.resolve(kind, made.cell, torch.float32, device, made.one_hot) == kind


def initial_values(made: Model, seed: int = 1) -> dict[str, np.ndarray]:
    """The initial values of a model by name."""
    return {name: np.asarray(value) for name, value in made.initialise(np.random.default_rng(seed)).items()}


def initial(made: Model, replicas: int = 1, seed: int = 1) -> Tensor:
    """The flat parameters [S, P] in float32, the same for every replica."""
    drawn = initial_values(made, seed).values()
    row = torch.from_numpy(np.concatenate([value.reshape(-1) for value in drawn])).float()
    return row.repeat(replicas, 1)


def stacked(load: Workload, replicas: int = 1, seed: int = 1) -> tuple[Tensor, Tensor]:
    """The data of a workload with an axis of replicas before that of the batch."""
    inputs, targets = data(load, seed)
    return torch.stack([inputs] * replicas, 1), torch.stack([targets] * replicas, 0 if load.last_only else 1)


def ours(name: str, kind: str, load: Workload, device: torch.device, replicas: int = 1) -> Update:
    """An update of a cell of this package by the engine `kind`, as the trainer makes it."""
    return update_of(model(name, load, kind), load, device, replicas)


def update_of(made: Model, load: Workload, device: torch.device, replicas: int = 1) -> Update:
    """An update of a model by its engine; a penalty of the model is left out."""
    layout = Layout(made.shapes())
    inputs, targets = (part.to(device) for part in stacked(load, replicas))
    over = targets.numel() / replicas
    parameters = initial(made, replicas).to(device)
    optimiser = optimisers.build("adam", torch.full((replicas, 1), RATE, device=device), {})
    state, count = optimiser.start(parameters), 0
    direct = made.direct(layout.views, layout.width, parameters.dtype) if device.type == "cpu" else None

    def loss_of(outputs: Tensor | Affine) -> Tensor:
        return OURS[load.loss](outputs, targets, over)

    def gradient_of(flat: Tensor) -> Tensor:
        if direct is not None:
            return direct.gradient(flat, inputs, (), loss_of)[1]
        flat = flat.detach().requires_grad_()
        outputs = made.apply(layout.views(flat), Inputs(inputs)).outputs
        return torch.autograd.grad(loss_of(outputs).sum(), flat)[0]

    def update() -> None:
        nonlocal parameters, count
        count += 1
        gradient = gradient_of(parameters)
        parameters = optimiser.moved(parameters, gradient, optimisers.Limits(), state, count, made.engine)

    return update


class Theirs(nn.Module):
    """torch's module of that name between an embedding, where there is one, and a read-out."""

    def __init__(self, name: str, load: Workload, layers: int = 1) -> None:
        super().__init__()
        self.load = load
        self.embed = nn.Embedding(load.inputs, load.embedding) if load.embedding else nn.Identity()
        self.cell = TORCH[name](load.embedding or load.inputs, load.hidden, layers)
        self.head = nn.Linear(load.hidden, load.outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs of every step, or of the last."""
        hidden = self.cell(self.embed(inputs))[0]
        return self.head(hidden[-1] if self.load.last_only else hidden)


class Loop(nn.Module):
    """A cell of this package as one would run it in torch: its step in a loop over time, on parameters that
    have no axis of replicas, between an embedding, where there is one, and a read-out."""

    def __init__(self, made: Model, load: Workload) -> None:
        super().__init__()
        self.load, self.cell = load, made.cell
        values = {name: torch.from_numpy(value).float() for name, value in initial_values(made).items()}
        own = [name for name in values if name.startswith("cell/")]
        self.names = {name.removeprefix("cell/"): str(number) for number, name in enumerate(own)}
        self.own = nn.ParameterDict({str(number): values[name] for number, name in enumerate(own)})
        self.embed = nn.Embedding(load.inputs, load.embedding) if load.embedding else nn.Identity()
        self.head = nn.Linear(*values["read_out/W"].shape)
        with torch.no_grad():
            self.head.weight.copy_(values["read_out/W"].T)
            self.head.bias.copy_(values["read_out/b"][0])
            if load.embedding:
                self.embed.weight.copy_(values["embedding/W"])

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs of every step, or of the last."""
        p, x = {name: self.own[key] for name, key in self.names.items()}, self.embed(inputs)
        rows, like = x.shape[1], self.head.weight
        start = self.cell.initial_state(1, rows, dtype=like.dtype, device=like.device)
        state = [part[0] for part in start]
        for position, name in enumerate(self.cell.states):
            if key := self.cell.starts.get(name):
                state[position] = p[key].expand(rows, -1).view_as(state[position])
        hidden = EAGER_LOOP.run(self.cell, p, x, tuple(state), self.load.last_only)[0]
        return self.head(hidden.flatten(1 if self.load.last_only else 2))


def in_a_loop(made: Model, load: Workload, device: torch.device) -> Update:
    """An update of a model's cell in a loop, with torch's fused Adam."""
    return update_of_module(Loop(made, load), load, device)


def theirs(name: str, load: Workload, device: torch.device) -> Update:
    """An update of torch's module of that name."""
    return update_of_module(Theirs(name, load), load, device)


def update_of_module(module: nn.Module, load: Workload, device: torch.device) -> Update:
    """An update of a module of torch with its fused Adam."""
    module = module.to(device)
    inputs, targets = (part.to(device) for part in data(load))
    optimiser = torch.optim.Adam(module.parameters(), lr=RATE, fused=True)

    def update() -> None:
        optimiser.zero_grad(set_to_none=True)
        THEIRS[load.loss](module(inputs), targets).backward()
        optimiser.step()

    return update
