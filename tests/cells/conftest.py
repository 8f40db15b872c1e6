"""Every cell with small pairwise different sizes, and random parameters, inputs and states for it."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells

INPUTS, HIDDEN, RANK, BATCH = 3, 5, 2, 4
BLOCKS = {
    "vanilla": {"name": "vanilla"},
    "irnn": {"name": "irnn"},
    "vanilla-linear": {"name": "vanilla", "activation": "linear"},
    "dense": {"name": "dense"},
    "dense-relu": {"name": "dense", "activation": "relu"},
    "deep_transition": {"name": "deep_transition", "depth": 3},
    "deep_transition-skip": {"name": "deep_transition", "depth": 3, "skip": True},
    "lstm": {"name": "lstm"},
    "lstm-relu": {"name": "lstm", "candidate": "relu", "forget_bias": 0.3},
    "lstm-open": {"name": "lstm", "input_gate": False},
    "gru": {"name": "gru"},
    "gru-after": {"name": "gru", "reset": "after"},
    "gru-relu": {"name": "gru", "candidate": "relu"},
    "gmr": {"name": "gmr", "rank": RANK},
    "gmr_c": {"name": "gmr_c", "rank": RANK},
    "tgu": {"name": "tgu", "rank": RANK},
    "tgu-linear": {"name": "tgu", "rank": RANK, "candidate": "linear"},
    "tgu-forget": {"name": "tgu", "rank": RANK, "gate": "forget"},
    "tgu_c": {"name": "tgu_c", "rank": RANK},
    "tgu_c-linear": {"name": "tgu_c", "rank": RANK, "candidate": "linear"},
    "tgu_c-forget": {"name": "tgu_c", "rank": RANK, "gate": "forget"},
    "tgu-tanh": {"name": "tgu", "rank": RANK, "candidate": "tanh"},
    "tgu-sigmoid": {"name": "tgu", "rank": RANK, "candidate": "sigmoid"},
    "tgu-state": {"name": "tgu", "rank": RANK, "candidate_state": True},
    "tgu_c-state": {"name": "tgu_c", "rank": RANK, "candidate_state": True},
    "cp_plus": {"name": "cp_plus", "rank": RANK},
    "cp_plus-tanh": {"name": "cp_plus", "rank": RANK, "activation": "tanh"},
    "cp_delta": {"name": "cp_delta", "rank": RANK},
    "cp_delta-none": {"name": "cp_delta", "rank": RANK, "normalise": "none"},
    "cp_delta-rows": {"name": "cp_delta", "rank": RANK, "normalise": "rows"},
    "rtn": {"name": "rtn"},
    "rtn-sigmoid": {"name": "rtn", "activation": "sigmoid"},
    "grtn": {"name": "grtn"},
    "grtn-state": {"name": "grtn", "cell_from": "h"},
    "lr_gru": {"name": "lr_gru"},
    "lr_gru-after": {"name": "lr_gru", "reset": "after"},
    "lr_lstm": {"name": "lr_lstm"},
    "lr_lstm-peepholes": {"name": "lr_lstm", "peepholes": True},
    "lr_gru_dropout": {"name": "lr_gru_dropout"},
    "lr_gru_dropout-clean": {"name": "lr_gru_dropout", "dropout": "clean"},
    "lr_lstm_dropout": {"name": "lr_lstm_dropout", "peepholes": True},
    "slstm": {"name": "slstm", "layers": 3},
    "slstm-one": {"name": "slstm", "layers": 1},
    "tlstm": {"name": "tlstm", "side": 3},
    "tlstm-one": {"name": "tlstm", "side": 1, "kernel": 2},
    "tlstm-forward": {"name": "tlstm", "side": 3, "kernel": 2},
    "tlstm-held": {"name": "tlstm", "side": 4, "kernel": 4, "memory_convolution": False},
    "tlstm-channel": {"name": "tlstm", "side": 3, "normalisation": "channel"},
    "tlstm-3d": {"name": "tlstm", "side": 2, "dimensions": 2, "hidden": 2},
    "tlstm-3d-layer": {"name": "tlstm", "side": 2, "dimensions": 2, "hidden": 2, "normalisation": "layer"},
    "tlstm_biased": {"name": "tlstm_biased", "side": 3, "normalisation": "channel"},
    "tlstm-4d": {"name": "tlstm", "side": 2, "dimensions": 3, "kernel": 2, "hidden": 2},
    "trnn": {"name": "trnn", "side": 3},
    "trnn-forward": {"name": "trnn", "side": 2, "dimensions": 2, "kernel": 2},
    "linked": {"name": "linked", "lag": 3},
    "linked-long": {"name": "linked", "one_step": False},
    "leaky": {"name": "leaky", "time_constants": [1.5, 7]},
    "leaky-plain": {"name": "leaky", "radius": 0.9},
    "leaky-learned": {"name": "leaky", "time_constants": [1.5, 7], "learned": True},
    "clockwork": {"name": "clockwork", "periods": [1, 2, 3]},
    "lstm_variant": {"name": "lstm_variant"},
    "lstm_variant-printed": {"name": "lstm_variant", "candidate": "sigmoid"},
    "lstm_variant-constant": {"name": "lstm_variant", "forget": "constant"},
    "gru_variant": {"name": "gru_variant", "reset": "shared"},
    "gru_variant-global": {"name": "gru_variant", "global_gate": True},
    "gru_variant-printed": {"name": "gru_variant", "candidate": "sigmoid", "delayed": True},
    "shift_memory": {"name": "shift_memory", "cells": 4},
    "content_memory": {"name": "content_memory", "cells": 2, "width": 6},
    "urnn": {"name": "urnn", "trained_start": False},
    "urnn-fft": {"name": "urnn", "trained_start": False, "fft": True, "scale": False},
    "urnn_article": {"name": "urnn_article", "trained_start": False},
}
RANKED = ("gmr", "gmr_c", "tgu", "tgu_c", "cp_plus", "cp_delta")
for name in RANKED:
    BLOCKS[f"{name}-tensor_train"] = {"name": name, "form": "tensor_train", "rank": RANK}
    BLOCKS[f"{name}-full"] = {"name": name, "form": "full"}
for name in ("rtn", "grtn"):
    for form in ("cp", "tensor_train"):
        BLOCKS[f"{name}-{form}"] = {"name": name, "form": form, "rank": RANK}
MAPS = {
    "low": {"map": "low_rank", "rank": RANK},
    "diagonal": {"map": "low_rank_diagonal", "rank": RANK},
    "tied": {"map": "low_rank_diagonal", "rank": RANK, "tied": True},
    "normed": {"map": "low_rank_diagonal", "rank": RANK, "weight_norm": True},
}
for kind, block in MAPS.items():
    BLOCKS |= {f"{name}-{kind}": BLOCKS[name] | block for name in ("lr_gru", "lr_gru-after", "lr_lstm")}


@pytest.fixture(params=sorted(BLOCKS))
def cell(request):
    """A cell of 3 inputs and 5 units."""
    return cells.build({"hidden": HIDDEN, **BLOCKS[request.param]}, INPUTS)


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    return np.random.default_rng(17)


@pytest.fixture
def values():
    """A function that makes (parameters, x, state) of a cell, float64, with the leading axes given."""

    def make(cell, *lead, seed=1):
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape):
            return torch.randn(*lead, *shape, dtype=torch.float64, generator=generator)

        params = {name: normal(*shape) for name, shape in cell.shapes().items()}
        state = tuple(normal(BATCH, *shape) for shape in cell.state_shapes().values())
        return params, normal(BATCH, cell.inputs), state

    return make
