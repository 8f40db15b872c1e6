"""Proves that variable binding draws what section 5.1.2 of mathews2016 and the authors' rule say, item by
item against the rule written out by hand, and scores it as by hand; its baselines are what an oracle pays."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import stats

from tensor_rnns import tasks
from tensor_rnns.tasks.variable_binding import end_laws

STEPS, BITS, BATCH = 14, 5, 4
LN2 = math.log(2)
PRINTED_CEILINGS = {1: 5.5452, 2: 11.0904, 3: 16.6355}


def task(patterns=2, batch=BATCH, length=STEPS, **options):
    block = {"name": "variable_binding", "length": length, "patterns": patterns, "bits": BITS} | options
    return tasks.build({"task": block, "training": {"batch": batch}})


def by_hand(steps, bits, starts, ends, patterns, merge):
    """One item, written out step by step: lists of rows."""
    labels = len(starts)
    x = [[0.0] * (bits + labels) for _ in range(steps)]
    y = [[0.0] * bits for _ in range(steps)]
    for k in range(labels):
        for t in range(starts[k], ends[k] + 1):
            x[t][bits + labels - 1 - k] = 1.0
        for bit in range(bits):
            x[starts[k] + 1][bit] = float(patterns[k][bit])
            if ends[k] + 1 < steps:
                before = y[ends[k] + 1][bit] if merge else 0.0
                y[ends[k] + 1][bit] = max(before, float(patterns[k][bit]))
    return np.array(x), np.array(y)


def spans(inputs, bits=BITS):
    """(starts, ends) [N, B] of the labels in order of k; each label must be on for one stretch."""
    labels = inputs[..., : -1 - (inputs.shape[-1] - bits) : -1]
    on = np.moveaxis(labels, -1, 0) > 0.5
    rises = np.diff(np.pad(on, ((0, 0), (1, 1), (0, 0))).astype(int), axis=1)
    assert ((rises == 1).sum(1) == 1).all(), "a label is used once and held without a gap"
    return (rises == 1).argmax(1), (rises == -1).argmax(1) - 1


def test_shapes_and_sizes():
    made = task(patterns=3).batch(3, 4)
    assert made.inputs.shape == (STEPS, BATCH, BITS + 3)
    assert made.targets.shape == (STEPS, BATCH, BITS)
    assert made.inputs.dtype == made.targets.dtype == np.float32
    assert made.weight == BATCH
    one = task(patterns=3)
    assert (one.inputs, one.outputs, one.updates_per_epoch) == (BITS + 3, BITS, None)


@pytest.mark.parametrize("patterns", [1, 2, 3])
def test_every_item_is_what_the_rule_builds_by_hand(patterns):
    made = task(patterns, batch=900).batch(3, 4)
    starts, ends = spans(made.inputs)
    merged = 0
    for item in range(900):
        s, e = starts[:, item].tolist(), ends[:, item].tolist()
        shown = [made.inputs[s[k] + 1, item, :BITS].tolist() for k in range(patterns)]
        x, y = by_hand(STEPS, BITS, s, e, shown, merge=True)
        np.testing.assert_array_equal(made.inputs[:, item], x)
        np.testing.assert_array_equal(made.targets[:, item], y)
        merged += len(set(e)) < patterns
    assert (merged > 0) == (patterns > 1), "patterns that fall due together have been seen"


def test_starts_are_different_steps_of_the_first_half_and_all_pairs_are_as_likely():
    starts, _ = spans(task(2, batch=8000).batch(1, 0).inputs)
    half = STEPS // 2
    pairs = np.zeros((half, half))
    np.add.at(pairs, tuple(starts), 1)
    assert np.trace(pairs) == 0
    assert stats.chisquare(pairs[~np.eye(half, dtype=bool)]).pvalue > 0.01
    assert pairs.sum() == 8000


def test_three_starts_fill_every_order_as_often():
    starts, _ = spans(task(3, batch=6000, length=8).batch(2, 0).inputs)
    found = dict.fromkeys(itertools.permutations(range(4), 3), 0)
    for triple in starts.T.tolist():
        found[tuple(triple)] += 1
    assert stats.chisquare(list(found.values())).pvalue > 0.01


def test_the_label_is_held_for_a_uniform_time_or_to_the_last_step_but_one():
    starts, ends = spans(task(1, batch=20_000).batch(1, 0).inputs)
    held = (ends - starts)[0]
    for start in range(STEPS // 2):
        holds = held[starts[0] == start]
        cut = STEPS - 2 - start
        law = [1.0] * (cut - 2) + [STEPS - cut]
        seen = [(holds == hold).sum() for hold in range(2, cut + 1)]
        expected = np.array(law) * len(holds) / sum(law)
        assert sum(seen) == len(holds)
        assert stats.chisquare(seen, expected).pvalue > 0.001, start


def test_a_quarter_is_cut_at_the_end_and_the_mean_hold_is_046_of_100_steps():
    starts, ends = spans(task(1, batch=20_000, length=100).batch(5, 0).inputs)
    assert abs((ends == 98).mean() - 26.5 / 98) < 0.015
    assert abs((ends - starts).mean() / 100 - 0.46) < 0.01


def test_bits_are_fair_and_the_empty_pattern_is_allowed():
    made = task(1, batch=6000).batch(7, 0)
    starts, _ = spans(made.inputs)
    shown = made.inputs[starts[0] + 1, np.arange(6000), :BITS]
    codes = np.bincount((shown @ 2.0 ** np.arange(BITS)).astype(int), minlength=2**BITS)
    assert stats.chisquare(codes).pvalue > 0.01


def test_the_printed_rule_keeps_the_last_pattern_and_drops_what_is_due_after_the_end():
    made = task(2, batch=3000, rule="printed", length=8).batch(1, 0)
    starts, ends = spans(made.inputs)
    last = starts[1]
    seen = {"lost": 0, "same start": 0, "same end": 0}
    for item in range(3000):
        s, e = starts[:, item].tolist(), ends[:, item].tolist()
        shown = [made.inputs[s[k] + 1, item, :BITS].tolist() for k in range(2)]
        if s[0] == s[1]:
            seen["same start"] += 1
            continue
        x, y = by_hand(8, BITS, s, e, shown, merge=False)
        np.testing.assert_array_equal(made.inputs[:, item], x)
        np.testing.assert_array_equal(made.targets[:, item], y)
        seen["lost"] += 7 in e
        seen["same end"] += e[0] == e[1]
    assert min(seen.values()) > 50
    assert set(last) == {0, 1, 2}
    for start in range(3):
        counts = np.bincount(ends[1][last == start], minlength=8)
        assert counts[: start + 1].sum() == 0
        assert stats.chisquare(counts[start + 1 :]).pvalue > 0.01


def known_timing(made, ends, merge):
    """What an answer costs, item by item, that knows how many patterns are due at each step but no bit."""
    steps = np.arange(len(made.targets))[:, None]
    due = (ends[:, None] + 1 == steps).sum(0)
    p = 1 - 0.5 ** (due if merge else np.minimum(due, 1))[..., None]
    bits = made.targets.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = -np.where(bits > 0, np.log(p), np.log(1 - p))
    return np.where(p > 0, costs, 0).sum((0, 2))


@pytest.mark.parametrize("patterns", [1, 2, 3])
@pytest.mark.parametrize("rule", ["held", "printed"])
def test_the_baseline_is_the_score_of_an_oracle_that_knows_the_timing(patterns, rule):
    one = task(patterns, batch=20_000, rule=rule, length=10)
    made = one.batch(11, 0)
    scores = known_timing(made, spans(made.inputs)[1], merge=rule == "held")
    assert abs(scores.mean() - one.baseline) < 4 * scores.std() / math.sqrt(len(scores)) + 1e-9


def test_one_pattern_costs_8_ln_2_and_more_cost_less_than_is_printed():
    def sized(length, patterns):
        return task(patterns, length=length, bits=8)

    for patterns, printed in PRINTED_CEILINGS.items():
        assert abs(sized(100, patterns).ceiling - printed) < 1e-4
        assert abs(sized(100, patterns).ceiling - 8 * patterns * LN2) < 1e-12
    for length in (100, 200, 500):
        assert abs(sized(length, 1).baseline - 8 * LN2) < 1e-9
    found = [[sized(length, patterns).baseline for length in (100, 200, 500)] for patterns in (2, 3)]
    np.testing.assert_allclose(found, [[10.57, 10.63, 10.65], [15.18, 15.34, 15.44]], atol=0.015)


def test_the_laws_of_the_ends_add_up():
    for steps, rule in itertools.product((6, 9, 31), ("held", "printed")):
        laws = end_laws(steps, rule)
        assert laws.shape == (steps // 2 - (rule == "printed"), steps)
        np.testing.assert_allclose(laws.sum(1), 1, rtol=1e-12)
        assert (laws >= 0).all()


def test_a_batch_depends_on_seed_and_update_alone():
    one, again = task().batch(5, 6), task().batch(5, 6)
    assert one.inputs.tobytes() == again.inputs.tobytes()
    assert one.targets.tobytes() == again.targets.tobytes()
    others = [task().batch(5, 7), task().batch(6, 6), task().batch(6, 5)]
    assert len({one.inputs.tobytes(), *(other.inputs.tobytes() for other in others)}) == 4


def test_evaluation_is_a_thousand_fixed_items_that_no_batch_of_training_shares():
    test, again, valid = (list(task().evaluation(split)) for split in ("test", "test", "valid"))
    assert sum(batch.weight for batch in test) == 1000
    assert [batch.inputs.tobytes() for batch in test] == [batch.inputs.tobytes() for batch in again]
    assert len({batch.inputs.tobytes() for batch in (*test, *valid)}) == len(test) + len(valid)
    wider = [batch.inputs.tobytes() for batch in task(batch=3).evaluation("test")]
    assert wider == [batch.inputs.tobytes() for batch in test]
    with pytest.raises(ValueError, match="split 'train' asked for; allowed: valid, test"):
        next(task().evaluation("train"))


def test_loss_is_summed_over_steps_and_bits_and_averaged_over_items():
    rng = np.random.default_rng(3)
    logits, targets = rng.normal(size=(7, 3, 2, 4)), rng.integers(0, 2, (7, 3, 2, 4)).astype(float)
    p = 1 / (1 + np.exp(-logits))
    expected = [
        sum(
            -math.log(p[t, s, b, d] if targets[t, s, b, d] else 1 - p[t, s, b, d])
            for t in range(7)
            for b in range(2)
            for d in range(4)
        )
        / 2
        for s in range(3)
    ]
    outputs, wanted = torch.from_numpy(logits), torch.from_numpy(targets)
    np.testing.assert_allclose(task().loss(outputs, wanted), expected, rtol=1e-12)
    np.testing.assert_allclose(task().metrics(outputs, wanted)["loss"], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 3}, "length = 3 given with patterns = 2; allowed: at least 4"),
        ({"patterns": 9}, "length = 14 given with patterns = 9; allowed: at least 18"),
        ({"patterns": 0}, "task variable_binding: patterns is 0; allowed is a whole number"),
        ({"rule": "code"}, "task variable_binding: rule is 'code'; allowed are held, printed"),
        ({"depth": 2}, "task variable_binding: has no key 'depth'; allowed are bits, length,"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        task(**options)
