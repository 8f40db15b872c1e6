"""Section 2: a Turing machine built of units clip(a, 0, 1), in exact fractions (Siegelmann and Sontag 1995).

Each half of the tape is a stack, one fraction in base 4 whose digit next to the head is 1 for a zero and 3
for a one; 0 is the blank tape. Three layers make a step of the machine: the top symbols, one unit for each
rule, and the new stacks under the rules that write and move alike.
"""

from collections.abc import Mapping
from fractions import Fraction

from tensor_rnns.rows import Rows, rows_of

Rules = dict[str, str]
Layer = Mapping[str, tuple[Fraction, Mapping[str, Fraction]]]
"""Bias and weights of each unit."""
WAYS = tuple(f"{side}{bit}{way}" for side in "lr" for bit in "01" for way in "LR")
"""Units of the last layer that hold a stack: left or right, the bit written, where the head goes."""


def unit(bias: float, **weights: float) -> tuple[Fraction, dict[str, Fraction]]:
    """A unit by its bias and the weights of the units below."""
    return Fraction(bias), {name: Fraction(weight) for name, weight in weights.items()}


def net(rules: Rules) -> list[Layer]:
    """The layers for rules such as "A0": "1RB": in state A over 0 write 1, go right, be in state B."""
    states = {key[0] for key in rules} | {rule[2] for rule in rules.values()}
    sums = {side: {way: 1.0 for way in WAYS if way[0] == side} for side in "lr"}
    scaled = {side: dict.fromkeys(names, 4.0) for side, names in sums.items()}
    first = {f"state{s}": unit(0, **{f"state{s}": 1}) for s in states}
    for side in "lr":
        first |= {side: unit(0, **sums[side]), f"top{side}": unit(-2, **scaled[side])}
        first |= {f"full{side}": unit(0, **scaled[side])}
    second = {"l": unit(0, l=1), "topl": unit(0, topl=1)}
    for side in "lr":
        # What is left of the stack: 4 q less its digit, 1 + 2 top where there is one.
        second[f"rest{side}"] = unit(0, **{side: 4, f"top{side}": -2, f"full{side}": -1})
    for (state, read), _ in rules.items():
        sign = 1 if read == "1" else -1
        second[f"rule{state}{read}"] = unit(-1 if read == "1" else 0, **{f"state{state}": 1, "topr": sign})
    third: dict[str, tuple] = {}
    for state in states:
        third[f"state{state}"] = unit(0, **{f"rule{k}": 1 for k, rule in rules.items() if rule[2] == state})
    for bit in "01":
        digit = Fraction(1 + 2 * int(bit), 4)
        for way in "LR":
            gate = {f"rule{key}": 1 for key, rule in rules.items() if rule[:2] == bit + way}
            right = way == "R"
            stacks = {
                "l": unit(digit - 1, l=Fraction(1, 4)) if right else unit(-1, restl=1),
                "r": unit(-1, restr=1) if right
                else unit(digit / 4 + Fraction(1, 4) - 1, restr=Fraction(1, 16), topl=Fraction(1, 2)),
            }  # fmt: skip
            for side, (bias, weights) in stacks.items():
                third[f"{side}{bit}{way}"] = bias, weights | {k: Fraction(1) for k in gate}
    return [first, second, third]


def run(layer: Layer, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """min(max(b + W v, 0), 1) of every unit."""
    return {
        name: min(max(bias + sum(w * values.get(k, 0) for k, w in weights.items()), 0), 1)
        for name, (bias, weights) in layer.items()
    }  # fmt: skip


def symbols(q: Fraction) -> list[int]:
    """The bits of a stack, its top first, which is a sum of (1 + 2 bit) / 4^place; its empty bottom is 0."""
    digits = []
    while q:
        digit = int(4 * q)
        digits.append((digit - 1) // 2)
        q = 4 * q - digit
    return digits


def trimmed(bits: list[int]) -> list[int]:
    """Without the blanks at the far end, which a stack may hold or not."""
    while bits and not bits[-1]:
        bits = bits[:-1]
    return bits


def busy(rules: Rules) -> dict[str, float]:
    """Steps and ones of the net from a blank tape until the state H, and `error`: how many steps differ in
    state or tape from a direct simulation."""
    layers, values = net(rules), {"stateA": Fraction(1)}
    tape, head, state, steps, wrong = {}, 0, "A", 0, 0
    while state != "H":
        write, way, state = rules[state + str(tape.get(head, 0))]
        tape[head], head = int(write), head + (1 if way == "R" else -1)
        for layer in layers:
            values = run(layer, values)
        steps += 1
        left, right = (symbols(sum(values[way] for way in WAYS if way[0] == side)) for side in "lr")
        low, high = min(tape), max(tape)
        wanted = (
            trimmed([tape.get(at, 0) for at in range(head - 1, low - 1, -1)]),
            trimmed([tape.get(at, 0) for at in range(head, high + 1)]),
        )
        wrong += (trimmed(left), trimmed(right)) != wanted or values[f"state{state}"] != 1
        wrong += sum(value for name, value in values.items() if name.startswith("state")) != 1
    return {"steps": steps, "ones": sum(left) + sum(right), "error": wrong}


def held(most: int) -> int:
    """How many symbols, ones and zeros in turn, a stack in float64 gives back without an error."""
    for count in range(1, most + 1):
        q, bits = 0.0, [1 - at % 2 for at in range(count)]
        for bit in reversed(bits):
            q = q / 4 + (1 + 2 * bit) / 4
        if symbols(Fraction(q)) != bits:
            return count - 1
    return most


def compute(*, machines: dict[str, dict], most: int) -> Rows:
    """Rows of `busy` for each machine by its rules, and of `float64` how many symbols its stack `holds`."""
    runs = {name: busy(rules) for name, rules in machines.items()}
    return rows_of(runs | {"float64": {"holds": held(most)}})
