"""Parameters of the networks of kelley2016 section 4, counted on those trained here."""

from collections.abc import Mapping

from tensor_rnns.models import build
from tensor_rnns.rows import Rows, rows_of


def counted(cell: str, hidden: int, symbols: int) -> dict[str, int]:
    """Parameters of a cell on one-hot symbols, of the read-out with its bias, and in all."""
    settings = {"model": {"name": "every_step"}, "cell": {"name": cell, "hidden": hidden}}
    total = build(settings, symbols, symbols, symbols=True).parameter_count()
    output = hidden * symbols + symbols
    return {"cell": total - output, "output": output, "total": total}


def compute(*, models: Mapping[str, tuple[int, ...]], symbols: tuple[int, ...]) -> Rows:
    """Rows "<cell> <hidden>, <symbols> symbols" for the widths of each cell, and `ratios` of the first widths
    at the first number of symbols: of parameters, of units, and of the multiplications of a byte forward,
    where the LSTM looks its input up and the GRTN multiplies all of its tensors."""
    counts = {
        f"{cell} {hidden}, {count} symbols": counted(cell, hidden, count)
        for count in symbols
        for cell, widths in models.items()
        for hidden in widths
    }
    first = {cell: counted(cell, widths[0], symbols[0])["total"] for cell, widths in models.items()}
    hidden, units, inputs = models["lstm"][0], models["grtn"][0], symbols[0]
    dense = 4 * units**2 * inputs + units * inputs
    ratios = {
        "units of grtn over rtn": units / models["rtn"][0],
        "dense products of grtn over lstm": dense / (4 * hidden**2 + hidden * inputs),
        "grtn over lstm": first["grtn"] / first["lstm"],
        "rtn over lstm": first["rtn"] / first["lstm"],
        "grtn over rtn": first["grtn"] / first["rtn"],
    }
    return rows_of(counts | {"ratios": ratios})
