"""The four sets of polyphonic music of Boulanger-Lewandowski, Bengio and Vincent (2012): pickle -> rolls.

Such a pickle holds containers, text and numpy integers; nothing that it names is imported or called. First
the instructions are listed and checked: none but such files need, nothing cut off, no memory asked for that
the file does not fill. Then Python's unpickler runs with two stand-ins for names of numpy.
"""

import io
import pickle
import pickletools
import re
import warnings
from pathlib import Path
from typing import Any

from tensor_rnns.datasets.parsers import SPLITS, Parsed, only
from tensor_rnns.datasets.rolls import join, painted
from tensor_rnns.files import MALFORMED
from tensor_rnns.messages import shortened

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
    """In place of numpy.dtype: an integer type, its size in bytes, sign, and the byte order of its state."""

    __slots__ = ("order", "signed", "size")

    def __init__(self, code: str, *flags: Any) -> None:
        if code not in INTEGERS:
            raise ValueError(f"the number type {code!r} is asked for; allowed are {', '.join(INTEGERS)}")
        self.size, self.signed = INTEGERS[code]
        self.order = "little"

    def __setstate__(self, state: tuple) -> None:
        self.order = BYTE_ORDERS[state[1]]


class Scalar:
    """In place of numpy's scalars: a plain integer from its bytes, for which Python 2 has text.

    No `__dict__`: a pickle can give it no attributes.
    """

    __slots__ = ()

    def __call__(self, kind: Integer, data: str | bytes) -> int:
        data = data.encode("latin1") if isinstance(data, str) else data
        if len(data) != kind.size:
            raise ValueError(f"a number of {kind.size} bytes is given {len(data)}")
        return int.from_bytes(data, kind.order, signed=kind.signed)


STAND_INS = {
    "numpy.core.multiarray.scalar": Scalar(),
    "numpy._core.multiarray.scalar": Scalar(),
    "numpy.dtype": Integer,
}


class Unpickler(pickle.Unpickler):
    """Python's unpickler, to which no names exist but those of STAND_INS."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in; ValueError for any other name."""
        if f"{module}.{name}" not in STAND_INS:
            raise ValueError(f"it asks for {module}.{name}; allowed are only {', '.join(STAND_INS)}")
        return STAND_INS[f"{module}.{name}"]


def read(raw: Path) -> Parsed:
    """A pickled dict split -> pieces -> steps -> MIDI notes, as arrays and counted facts of `rolls.join`.

    ValueError if the pickle asks for anything but numpy integers or has another structure.
    """
    path = only(raw, "*.pickle")
    content = loads(path.read_bytes(), str(path))
    if not isinstance(content, dict) or content.keys() != set(SPLITS):
        keys = sorted(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{path}: expected a dict with {', '.join(SPLITS)}, found {keys}")
    pieces = {}
    for split in SPLITS:
        pieces[split] = []
        if not listed(content[split], f"{path}: {split}"):
            raise ValueError(f"{path}: {split}: no pieces")
        for number, piece in enumerate(content[split]):
            where = f"{path}: {split}, piece {number}"
            steps = listed(piece, where)
            notes = ((row, row + 1, note) for row, notes in enumerate(steps) for note in listed(notes, where))
            pieces[split].append(painted(notes, len(steps), where))
    return join(pieces)


def listed(value: Any, where: str) -> list | tuple:
    """`value` if it is a list or tuple, else ValueError."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}: expected a list, found {type(value).__name__}")
    return value


def check(data: bytes) -> None:
    """ValueError, with the place, unless `data` is a whole list of instructions that such a pickle needs."""
    at = 0
    try:
        with warnings.catch_warnings(action="error"):  # of an escape that no name of such a pickle has
            for instruction, argument, begin in pickletools.genops(data):
                at = begin
                if instruction.name in MEMO_INSTRUCTIONS:
                    # The unpickler keeps an array as long as the largest number: 5 bytes could ask for 64 GB.
                    if argument is not None and not 0 <= argument <= len(data):
                        raise ValueError(f"value {argument:,} is asked for in a file of {len(data):,} bytes")
                elif instruction.name not in INSTRUCTIONS:
                    raise ValueError(f"{instruction.name} is not an instruction that such a pickle needs")
    except (ValueError, DeprecationWarning) as error:
        raise ValueError(f"near byte {at:,}: {error}") from None


def loads(data: bytes, name: str) -> Any:
    """The content of the pickle `data`: dicts, lists, tuples, text, bytes, truth values, integers and None.

    ValueError, with `name` and the reason, for anything else and for a damaged file.
    """
    try:
        check(data)
        return Unpickler(io.BytesIO(data), encoding="latin1").load()
    except (pickle.UnpicklingError, *MALFORMED, AttributeError) as error:
        reason = (
            shortened(str(error), 500)
            if isinstance(error, ValueError)
            else f"damaged, or not a pickle ({error})"
        )
        raise ValueError(f"{name}: pickle refused: {reason}") from error
