"""An image as the bilinear product of a style and a content: mathews2016 section 3.4.5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor
from torch.nn.functional import elu, one_hot

from tensor_rnns import bilinear
from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.declared import AtLeastZero
from tensor_rnns.models.base import Model, Result
from tensor_rnns.models.symbols import OneHot

NAMES = ("style", "content")


@dataclass(frozen=True)
class StyleContent(Model):
    """y = a_s^T W b_c for symbols [2, S, B]: a_s is row s of style/W, b_c row c of content/W.

    `inputs` are the numbers of styles and contents, `outputs` the pixels. The rows have `embedding` numbers;
    without it a_s and b_c are one-hot vectors and there are no tables. W is in `form` with `rank` (both ranks
    of a tensor train; none for the full tensor), parameters tensor/.... All parameters are drawn from
    `initialiser`. `output: elu` puts ELU on the pixels, as the authors' code did; the text has none.

    The penalty is `l2` times the sum of squares of `penalised`: `all` matrices of the model, as the text has
    it, or the parameters of W alone, `tensor`, as the code had it, there with half of the sum.
    """

    name: ClassVar[str] = "style_content"
    inputs: tuple[int, int]
    outputs: int
    symbols: bool
    form: Literal["cp", "tensor_train", "full"] = "cp"
    rank: int | None = None
    embedding: int | None = None
    output: Literal["linear", "elu"] = "linear"
    l2: AtLeastZero = 0.0
    penalised: Literal["all", "tensor"] = "all"
    initialiser: Scheme = "unit_scaling"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.symbols:
            raise ValueError(f"model {self.name}: numbers as inputs given; allowed: two symbols an item")

    @property
    def tensor(self) -> bilinear.Form:
        """The form of W."""
        left, right = (self.embedding or size for size in self.inputs)
        return bilinear.form(self.form, left, self.outputs, right, self.rank, prefix="tensor/")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The two tables, then the parameters of W."""
        sizes = zip(NAMES, self.inputs, strict=True) if self.embedding else ()
        return {f"{name}/W": (size, self.embedding) for name, size in sizes} | self.tensor.shapes()

    def vectors(self, params: Mapping[str, Tensor], inputs: Tensor) -> tuple[Tensor, Tensor]:
        """a_s and b_c [S, B, E] for symbols [2, S, B]."""
        like = next(iter(params.values()))
        style, content = (
            OneHot(symbols, size) @ params[f"{name}/W"] if self.embedding else one_hot(symbols, size).to(like)
            for name, symbols, size in zip(NAMES, inputs, self.inputs, strict=True)
        )
        return style, content

    def image(self, params: Mapping[str, Tensor], style: Tensor, content: Tensor) -> Tensor:
        """The pixels [S, B, pixels] for any vectors a and b [S, B, E], before the output function."""
        return self.tensor.product(params, style, content)

    def shown(self, image: Tensor) -> Tensor:
        """The output function."""
        return elu(image) if self.output == "elu" else image

    def outputs_of(self, values: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        return self.shown(self.image(values, *self.vectors(values, inputs)))

    @property
    def has_penalty(self) -> bool:
        return self.l2 > 0

    def penalty(self, values: Mapping[str, Tensor], result: Result, loss: Tensor) -> Tensor:
        """l2 times the sum of squares, [S]."""
        names = self.shapes() if self.penalised == "all" else self.tensor.shapes()
        return self.l2 * sum(values[name].square().flatten(1).sum(1) for name in names)
