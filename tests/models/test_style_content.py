"""Proves what the model of style and content computes in each form, and what it penalises."""

import numpy as np
import pytest
import torch

from tensor_rnns import models

STYLES, LETTERS, PIXELS, EMBEDDING, RANK, REPLICAS, BATCH = 3, 5, 7, 4, 2, 6, 8
FORMS = {"cp": RANK, "tensor_train": RANK, "full": None}


def made(form="cp", embedding=EMBEDDING, **keys):
    block = {"name": "style_content", "form": form, "rank": FORMS[form], "embedding": embedding} | keys
    return models.build({"model": block, "cell": None}, (STYLES, LETTERS), PIXELS, symbols=True)


def drawn(model):
    values = [model.initialise(np.random.default_rng(seed)) for seed in range(REPLICAS)]
    return {name: torch.from_numpy(np.stack([one[name] for one in values])) for name in values[0]}


def pairs():
    generator = np.random.default_rng(9)
    return torch.from_numpy(
        np.stack([generator.integers(0, size, (REPLICAS, BATCH)) for size in (STYLES, LETTERS)])
    )


@pytest.mark.parametrize("embedding", [EMBEDDING, None])
@pytest.mark.parametrize("form", FORMS)
def test_every_pair_is_its_two_rows_times_the_tensor_written_out(form, embedding):
    model = made(form, embedding)
    params, inputs = drawn(model), pairs()
    tensor = model.tensor.reconstruct(params)
    outputs, state = model.forward(params, inputs)
    assert (state, outputs.shape) == ((), (REPLICAS, BATCH, PIXELS))
    for s in range(REPLICAS):
        for b in range(BATCH):
            style, content = (int(inputs[k, s, b]) for k in range(2))
            if embedding:
                left, right = params["style/W"][s, style], params["content/W"][s, content]
                expected = torch.einsum("i,ijk,k->j", left, tensor[s], right)
            else:
                expected = tensor[s, style, :, content]
            torch.testing.assert_close(outputs[s, b], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "rank", "count"), [("cp", 25, 28_400), ("full", None, 641_550)], ids=["cp", "explicit"]
)
def test_the_parameters_of_the_thesis_sizes(form, rank, count):
    """25 (25 + 1,024 + 25) and 25 x 1,024 x 25, each with 62 x 25 numbers of the tables."""
    block = {"name": "style_content", "form": form, "rank": rank, "embedding": 25}
    model = models.build({"model": block, "cell": None}, (10, 52), 1024, symbols=True)
    assert model.parameter_count() == count


def test_the_elu_bends_negative_pixels_alone():
    params, inputs = drawn(made()), pairs()
    plain, bent = (made(output=output).forward(params, inputs)[0] for output in ("linear", "elu"))
    assert bool((plain < 0).any())
    assert bool((plain > 0).any())
    torch.testing.assert_close(bent, torch.where(plain > 0, plain, plain.exp() - 1), rtol=0, atol=1e-12)


def test_the_penalty_is_the_sum_of_squares_of_all_or_of_the_tensor_alone():
    params = drawn(made())
    squares = {name: value.square().flatten(1).sum(1) for name, value in params.items()}
    factors = sum(value for name, value in squares.items() if name.startswith("tensor/"))
    for penalised, expected in (("all", sum(squares.values())), ("tensor", factors)):
        found = made(l2=0.3, penalised=penalised).penalty(params, None, None)
        torch.testing.assert_close(found, 0.3 * expected, rtol=0, atol=1e-12)
    assert not made().has_penalty


def test_refusals():
    for l2 in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"l2 is {l2}; allowed is a number of at least 0"):
            made(l2=l2)
    block = {"name": "style_content", "rank": RANK}
    with pytest.raises(ValueError, match=r"style_content.* allowed"):
        models.build({"model": block, "cell": None}, 3, PIXELS)
