"""Read a pickle of containers, text and numpy integers without Python's unpickler: nothing can be executed.

The reader knows the instructions that such files use and two names, numpy's integer types and its scalars;
any other instruction or name is refused. Memory stays within a small multiple of the file's size.
"""

import pickle
from typing import Any, NamedTuple

SCALAR, DTYPE = "numpy.core.multiarray.scalar", "numpy.dtype"
ALLOWED = {SCALAR: SCALAR, "numpy._core.multiarray.scalar": SCALAR, DTYPE: DTYPE}
INTEGERS = {f"{kind}{size}": (size, kind == "i") for kind in "iu" for size in (1, 2, 4, 8)}
ORDERS = {"<": "little", ">": "big", "|": "little"}

# Instructions by the width in bytes of the number that follows, and those whose number counts text or bytes.
WIDTHS = {
    0: "MARK EMPTY_DICT EMPTY_LIST EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS "
    "NONE NEWTRUE NEWFALSE GLOBAL STACK_GLOBAL REDUCE BUILD MEMOIZE STOP",
    1: "PROTO BINPUT BINGET BININT1",
    2: "BININT2",
    4: "LONG_BINPUT LONG_BINGET BININT",
    8: "FRAME",
}
COUNTED = {1: "SHORT_BINSTRING SHORT_BINUNICODE SHORT_BINBYTES", 4: "BINSTRING BINUNICODE BINBYTES"}
NAMES = {
    getattr(pickle, name)[0]: (name, width, counted)
    for counted, table in ((False, WIDTHS), (True, COUNTED))
    for width, names in table.items()
    for name in names.split()
}
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Name(NamedTuple):
    """A name of another module that a pickle may use."""

    name: str


class Integer:
    """A numpy integer type: size in bytes, sign, and the byte order that a later state tells."""

    def __init__(self, code: str) -> None:
        if code not in INTEGERS:
            raise ValueError(f"the number type {code!r} is asked for; allowed are {', '.join(INTEGERS)}")
        self.size, self.signed = INTEGERS[code]
        self.order = "little"

    def number(self, data: str | bytes) -> int:
        """The number whose bytes are `data` (text stands for bytes in Python 2)."""
        data = data.encode("latin1") if isinstance(data, str) else data
        if len(data) != self.size:
            raise ValueError(f"a number of {self.size} bytes is given {len(data)}")
        return int.from_bytes(data, self.order, signed=self.signed)


def loads(data: bytes, name: str) -> Any:
    """The content of the pickle `data`: dicts with text keys, lists, tuples, text, bytes, truth values,
    integers.

    ValueError, with `name`, the place and the reason, for anything else and for a damaged file. Nothing
    that the pickle names is imported or called.
    """
    reader = Reader(data)
    try:
        return reader.run()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        reason = str(error) if isinstance(error, ValueError) else "damaged, or not a pickle"
        raise ValueError(f"{name}: pickle refused at byte {reader.begin}: {reason}") from error


class Reader:
    """One pass over a pickle: a stack of values, the marks in it, and the values kept under a number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.begin = data, 0, 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        self.at += count
        if self.at > len(self.data):
            left = len(self.data) - self.at + count
            raise ValueError(f"the file is cut off or damaged: {count:,} bytes are needed, {left:,} are left")
        return self.data[self.at - count : self.at]

    def line(self) -> str:
        """The text up to the next line end."""
        end = self.data.index(b"\n", self.at)
        text, self.at = self.data[self.at : end].decode("latin1"), end + 1
        return text

    def popped(self) -> list[Any]:
        """The values above the last mark, taken off the stack."""
        mark = self.marks.pop()
        values = self.stack[mark:]
        del self.stack[mark:]
        return values

    def run(self) -> Any:
        """Follow the instructions up to STOP."""
        stack, memo = self.stack, self.memo
        while True:
            self.begin = self.at
            code = self.take(1)[0]
            if code not in NAMES:
                raise ValueError(f"{bytes([code])!r} is not an instruction that such a pickle needs")
            name, width, counted = NAMES[code]
            number = int.from_bytes(self.take(width), "little", signed=name == "BININT") if width else 0
            if counted:
                raw = self.take(number)
                stack.append(raw if "BYTES" in name else raw.decode("utf-8" if "UNI" in name else "latin1"))
            elif name in ("BINGET", "LONG_BINGET"):
                stack.append(memo[number])
            elif name in ("BINPUT", "LONG_BINPUT"):
                memo[number] = stack[-1]
            elif name == "MEMOIZE":
                memo[len(memo)] = stack[-1]
            elif name in ("BININT", "BININT1", "BININT2"):
                stack.append(number)
            elif name == "MARK":
                self.marks.append(len(stack))
            elif name == "TUPLE":
                stack.append(tuple(self.popped()))
            elif name in TUPLES:
                first = len(stack) - TUPLES[name]
                if first < 0:
                    raise ValueError(f"{TUPLES[name]} values expected, {len(stack)} are there")
                stack[first:] = [tuple(stack[first:])]
            elif name in CONSTANTS:
                stack.append(CONSTANTS[name])
            elif name == "STOP":
                return stack.pop()
            elif name not in ("PROTO", "FRAME"):
                self.build(name)

    def build(self, name: str) -> None:
        """Follow one instruction that makes, fills or calls."""
        stack = self.stack
        if name in ("EMPTY_LIST", "EMPTY_DICT"):
            stack.append([] if name == "EMPTY_LIST" else {})
        elif name in ("APPEND", "APPENDS"):
            values = self.popped() if name == "APPENDS" else [stack.pop()]
            expect(stack[-1], list).extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = self.popped() if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            if len(values) % 2:
                raise ValueError("a key without a value")
            for key, value in zip(values[::2], values[1::2], strict=True):
                expect(stack[-1], dict)[expect(key, str)] = value
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            module, attribute = (
                (self.line(), self.line()) if name == "GLOBAL" else (stack.pop(-2), stack.pop())
            )
            if f"{module}.{attribute}" not in ALLOWED:
                raise ValueError(f"it asks for {module}.{attribute}; allowed are only {', '.join(ALLOWED)}")
            stack.append(Name(ALLOWED[f"{module}.{attribute}"]))
        elif name == "REDUCE":
            arguments = expect(stack.pop(), tuple)
            if expect(stack.pop(), Name).name == DTYPE:
                stack.append(Integer(expect(arguments[0], str)))
            else:
                kind, raw = arguments
                stack.append(expect(kind, Integer).number(raw))
        else:
            state = expect(stack.pop(), tuple)
            kind = expect(stack[-1], Integer)
            kind.order = ORDERS[state[1]]


WORDS = {Integer: "a numpy integer type", Name: "a name to call"}


def expect(value: Any, kind: type) -> Any:
    """`value` if it is a `kind`, else ValueError."""
    if type(value) is not kind:
        raise ValueError(f"{WORDS.get(kind, kind.__name__)} is needed, {type(value).__name__} is there")
    return value
