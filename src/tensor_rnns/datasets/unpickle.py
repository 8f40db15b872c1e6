"""Read a pickle of containers, text and numpy integers; nothing that it names is imported or called.

First the instructions are listed and checked: none but such files need, nothing cut off, no memory
asked for that the file does not fill. Then Python's unpickler runs with two stand-ins for names of numpy.
"""

import io
import pickle
import pickletools
import re
from typing import Any

INTEGERS = {f"{kind}{size}": (size, kind == "i") for kind in "iu" for size in (1, 2, 4, 8)}
BYTE_ORDERS = {"<": "little", ">": "big", "|": "little"}
SAFE = re.compile(
    "PROTO|FRAME|MARK|STOP|NONE|NEW(TRUE|FALSE)|BININT[12]?|(EMPTY_)?TUPLE[123]?|EMPTY_(LIST|DICT)|APPENDS?|"
    "SETITEMS?|(SHORT_)?BIN(STRING|UNICODE|BYTES)|UNICODE|(STACK_)?GLOBAL|REDUCE|BUILD"
)
MEMO = re.compile("(LONG_)?BIN(PUT|GET)|PUT|GET|MEMOIZE")
INSTRUCTIONS = {code.name for code in pickletools.opcodes if SAFE.fullmatch(code.name)}
MEMO_INSTRUCTIONS = {code.name for code in pickletools.opcodes if MEMO.fullmatch(code.name)}


class Integer:
    """A numpy integer type: size in bytes, sign, and the byte order that its state tells."""

    __slots__ = ("order", "signed", "size")

    def __init__(self, code: str) -> None:
        if code not in INTEGERS:
            raise ValueError(f"the number type {code!r} is asked for; allowed are {', '.join(INTEGERS)}")
        self.size, self.signed = INTEGERS[code]
        self.order = "little"

    def __setstate__(self, state: tuple) -> None:
        self.order = BYTE_ORDERS[state[1]]


class NumberType:
    """In place of numpy.dtype. No `__dict__`: a pickle can give it no attributes."""

    __slots__ = ()

    def __call__(self, code: str, *flags: Any) -> Integer:
        return Integer(code)


class Scalar:
    """In place of numpy's scalars: a plain integer from its bytes, for which Python 2 has text."""

    __slots__ = ()

    def __call__(self, kind: Integer, data: str | bytes) -> int:
        data = data.encode("latin1") if isinstance(data, str) else data
        if len(data) != kind.size:
            raise ValueError(f"a number of {kind.size} bytes is given {len(data)}")
        return int.from_bytes(data, kind.order, signed=kind.signed)


STAND_INS = {
    "numpy.core.multiarray.scalar": Scalar,
    "numpy._core.multiarray.scalar": Scalar,
    "numpy.dtype": NumberType,
}


class Unpickler(pickle.Unpickler):
    """Python's unpickler, to which no names exist but those of STAND_INS."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in; ValueError for any other name."""
        if f"{module}.{name}" not in STAND_INS:
            raise ValueError(f"it asks for {module}.{name}; allowed are only {', '.join(STAND_INS)}")
        return STAND_INS[f"{module}.{name}"]()


def check(data: bytes) -> None:
    """ValueError, with the place, unless `data` is a whole list of instructions that such a pickle needs."""
    place = 0
    try:
        for instruction, argument, begin in pickletools.genops(data):
            place = begin
            if instruction.name in MEMO_INSTRUCTIONS:
                # The unpickler keeps an array as long as the largest number: 5 bytes could ask for 64 GB.
                if argument is not None and not 0 <= argument <= len(data):
                    raise ValueError(f"value {argument:,} is asked for in a file of {len(data):,} bytes")
            elif instruction.name not in INSTRUCTIONS:
                raise ValueError(f"{instruction.name} is not an instruction that such a pickle needs")
    except ValueError as error:
        raise ValueError(f"near byte {place:,}: {error}") from None


def loads(data: bytes, name: str) -> Any:
    """The content of the pickle `data`: dicts, lists, tuples, text, bytes, truth values, integers and None.

    ValueError, with `name` and the reason, for anything else and for a damaged file.
    """
    try:
        check(data)
        return Unpickler(io.BytesIO(data), encoding="latin1").load()
    except (pickle.UnpicklingError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"damaged, or not a pickle ({error})"
        raise ValueError(f"{name}: pickle refused: {reason}") from error
