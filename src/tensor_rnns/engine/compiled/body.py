"""The code of one step in one direction: where each node lies, and the lines of C++ that compute it.

A node that nothing outside its loop reads has no memory: it is a variable, and stays in a register.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from tensor_rnns.engine.compiled.products import VECTOR, Products, further, padded
from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.operations import POINTWISE, literal
from tensor_rnns.engine.ir.pieces import used
from tensor_rnns.engine.ir.plan import Step

ACCUMULATORS = 8
LONG = 16
"""Numbers of a loop from which on a last one that has no neighbour is a loop of its own."""


def places_of(node: Node) -> np.ndarray:
    """Where the numbers of a node stand in what it is a slice or a spread of, or in itself."""
    places = np.arange(node.width)
    while node.operation in ("slice", "spread"):
        if node.operation == "slice":
            places += node.detail
        else:
            _, count, inner = node.detail
            places = places // (count * inner) * inner + places % inner
        node = node.inputs[0]
    return places


def is_near(node: Node, count: int = VECTOR) -> bool:
    """Whether the numbers of a node that one vector holds, so many, lie side by side."""
    places = places_of(node)
    groups = places[: len(places) // count * count].reshape(-1, count)
    return bool((groups - groups[:, :1] == np.arange(count)).all())


class Body(Products):
    """Lines of a step, products among them."""

    def write(self, steps: Sequence[Step], stored: Iterable[Node], roots: Sequence[Node]) -> None:
        """Append the lines of `steps`; `stored` nodes have an address already; `roots` are what is read."""
        onto = {step.onto: step.target for step in steps if step.onto}
        made = {node for step in steps for node in step.nodes}
        reads = (base for step in steps for part in step.reads for base in part.bases)
        outside = {*stored, *onto, *reads}
        outside |= {step.target for step in steps if not step.is_loop}
        within: dict[Node, tuple[Node, int]] = {}
        for node in made:
            if node.operation == "join":
                for part, start in zip(node.inputs, node.detail, strict=True):
                    if part in made and part not in self.addresses:
                        within.setdefault(part, (node, start))

        def settle(node: Node) -> str:
            if node not in self.addresses:
                if node in onto:
                    self.addresses[node] = settle(onto[node])
                elif node in within:
                    whole, start = within[node]
                    self.addresses[node] = further(settle(whole), start)
                else:
                    self.addresses[node] = f"scratch + {self.scratch.take(node, node.width)} * W"
            return self.addresses[node]

        for node in sorted(made & outside, key=lambda node: node.index):
            settle(node)
        read = used(roots)
        for step in steps:
            if step.product:
                self.lines += self.product(step, read[step.target])
            elif step.is_loop:
                self.lines += self.loop(step, outside)
            else:
                self.lines += getattr(self, step.target.operation)(step.target)

    def loop(self, step: Step, outside: set[Node]) -> list[str]:
        """One pass over the numbers of a width."""
        names: dict[Node, str] = {}
        lines = []

        def get(node: Node) -> str:
            if node not in names:
                names[node] = f"a{node.index}"
                lines.append(f"const Vec a{node.index} = {self.number(node)};")
            return names[node]

        for node in step.nodes:
            number = literal(node.detail) if isinstance(node.detail, float) else ""
            code = POINTWISE[node.operation].code.format(*map(get, node.inputs), n=number)
            lines.append(f"const Vec a{node.index} = {code};")
            names[node] = f"a{node.index}"
            if node in outside:
                lines.append(f"leave_numbers<Block>({self.addresses[node]}, j, v, a{node.index});")
        width = step.target.width
        even = width if width % 2 == 0 else width - 1 if width > LONG else 0
        whole = width - width % VECTOR if all(map(is_near, names)) else 0
        split = f"several<Block>({whole}, {even})"
        made = []
        for start, end, sort in (
            ("0", split, "NumbersOf<Block, true>"),
            (split, str(width), "NumbersOf<Block, false>"),
        ):
            head = f"for (int j = {start}; j < {end}; j += numbers<Block, {sort}>)"
            using = ["  for (int v = 0; v < V; ++v) {", f"    using Vec = {sort};"]
            made += [head, *using, *(f"    {line}" for line in lines), "  }"]
        return made

    def number(self, node: Node) -> str:
        """The C++ of number j of a node, and of the next where a vector holds two."""
        j, near = "{j}", node.width > 1 and is_near(node, 2)
        while node.operation in ("slice", "spread"):
            if node.operation == "slice":
                j = f"({j} + {node.detail})"
            else:
                outer, count, inner = node.detail
                first = f"{j} / {count * inner}" if outer > 1 else ""
                first += f" * {inner}" if first and inner > 1 else ""
                rest = f"{j} % {inner}" if inner > 1 else ""
                j = f"({' + '.join(filter(None, (first, rest))) or '0'})"
            node = node.inputs[0]
        j, after = j.format(j="j"), j.format(j="(j + 1)")
        if node.operation == "row":
            row = self.packed.take((node.detail, False), padded(node.width))
            return f"splat_numbers<Block, Vec>(packed + {row}, {j}, {after})"
        apart = "" if near else f", {after}"
        return f"take_numbers<Block, Vec>({self.addresses[node]}, v, {j}{apart})"

    def join(self, node: Node) -> list[str]:
        """Blocks that were not computed where they belong are copied there; gaps are cleared."""
        address, lines, end = self.addresses[node], [], 0
        for part, start in zip(node.inputs, node.detail, strict=True):
            lines.append(f"clear({further(address, end)}, {start - end} * W);" if start > end else "")
            target = further(address, start)
            copied = self.address(part) != target
            lines.append(f"copy({target}, {self.address(part)}, {part.width} * W);" if copied else "")
            end = start + part.width
        lines.append(f"clear({further(address, end)}, {node.width - end} * W);" if node.width > end else "")
        return [line for line in lines if line]

    def pick(self, node: Node) -> list[str]:
        """A copy by a table of indices."""
        table, operands = f"places{node.index}", f"{self.address(node.inputs[0])}, {self.addresses[node]}"
        indices = ", ".join(map(str, node.detail))
        call = f"pick<Block>({node.width}, {table}, {operands});"
        return [f"static constexpr int {table}[] = {{{indices}}};", call]

    def picked(self, node: Node) -> list[str]:
        """A product with the matrix that the symbol of each row picks."""
        (left,), (table, transposed) = node.inputs, node.detail
        sizes = (node.width, left.width) if transposed else (left.width, node.width)
        name = "picked_back" if transposed else "picked"
        call = f"{name}<Block, {sizes[0]}, {sizes[1]}>(chosen + {table} * W, rows"
        return [f"{call}, {self.address(left)}, {self.addresses[node]});  // %{node.index}"]

    def reduced(self, node: Node) -> list[str]:
        """Sums over the middle axis, or the greatest there."""
        name = "sums" if node.operation == "sum" else "greatest"
        sizes = ", ".join(map(str, node.detail))
        operands = f"{self.address(node.inputs[0])}, {self.addresses[node]}"
        return [f"{name}<Block, {sizes}>({operands});  // %{node.index}"]

    sum = greatest = reduced

    def contract(self, node: Node) -> list[str]:
        """Sums of products of two blocks: loops over the result outside, over what is added up inside."""
        sizes, of_a, of_b, onto = node.detail
        left, right = (self.address(part) for part in node.inputs)
        axes = range(len(sizes))
        outer = sorted((k for k in axes if onto[k]), key=lambda k: -onto[k])
        added = sorted((k for k in axes if not onto[k]), key=lambda k: -max(of_a[k], of_b[k]))
        last = outer.pop() if outer else None
        count = sizes[last] if last is not None else 1
        wide = min(count, ACCUMULATORS)

        def index(strides: Sequence[int], chosen: Sequence[int]) -> str:
            parts = [f"i{k}" + f" * {strides[k]}" * (strides[k] > 1) for k in chosen if strides[k]]
            if last is not None and strides[last]:
                parts.append("(first + n)" + f" * {strides[last]}" * (strides[last] > 1))
            return f"({' + '.join(parts) or '0'}) * V + v"

        head, inner = (
            [f"for (int i{k} = 0; i{k} < {sizes[k]}; ++i{k})" for k in axes] for axes in (outer, added)
        )
        of_left, of_right = index(of_a, [*outer, *added]), index(of_b, [*outer, *added])
        factors = f"at<Vec>({left}, {of_left}) * at<Vec>({right}, {of_right})"
        tile = [
            "Vec c[N] = {};",
            *inner,
            f"  UNROLL for (int n = 0; n < N; ++n) c[n] += {factors};",
            f"UNROLL for (int n = 0; n < N; ++n) put({self.addresses[node]}, {index(onto, outer)}, c[n]);",
        ]
        whole = count - count % wide
        lines = []
        for first, end, width in ((0, whole, wide), (whole, count, count % wide)):
            if first < end:
                lines += [
                    f"for (int first = {first}; first < {end}; first += {width})",
                    "  for (int v = 0; v < V; ++v) {",
                    f"    constexpr int N = {width};",
                    *(f"    {line}" for line in tile),
                    "  }",
                ]
        return [*head, "{", *(f"  {line}" for line in lines), "}"] if head else lines
