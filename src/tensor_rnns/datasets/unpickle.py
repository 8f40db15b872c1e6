"""Read a pickle of containers, numbers and text, executing nothing; numpy integers become plain ones."""

import io
import pickle
from collections.abc import Callable
from typing import Any

SIZES = {f"{kind}{size}": (size, kind == "i") for kind in "iu" for size in (1, 2, 4, 8)}


class _Integer:
    """A numpy integer type as a pickle describes it: a code such as i8, then a state with the byte order."""

    __slots__ = ("order", "signed", "size")

    def __init__(self, code: str) -> None:
        if code not in SIZES:
            raise pickle.UnpicklingError(
                f"the number type {code!r} is asked for; allowed are {', '.join(SIZES)}"
            )
        self.size, self.signed = SIZES[code]
        self.order = "little"

    def __setstate__(self, state: tuple) -> None:
        self.order = {"<": "little", ">": "big", "|": "little"}[state[1]]


class _Rebuild:
    """A function that a pickle may call and nothing else: it takes no attributes and no state."""

    __slots__ = ("__call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self.__call = call

    def __call__(self, *arguments: Any) -> Any:
        return self.__call(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a state is given to a function")


def _scalar(kind: _Integer, data: str | bytes) -> int:
    data = data.encode("latin1") if isinstance(data, str) else data
    if len(data) != kind.size:
        raise pickle.UnpicklingError(f"a number of {kind.size} bytes is given {len(data)}")
    return int.from_bytes(data, kind.order, signed=kind.signed)


ALLOWED = {
    ("numpy.core.multiarray", "scalar"): _Rebuild(_scalar),
    ("numpy._core.multiarray", "scalar"): _Rebuild(_scalar),
    ("numpy", "dtype"): _Rebuild(lambda code, *flags: _Integer(code)),
}
NAMES = ", ".join(f"{module}.{name}" for module, name in ALLOWED)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}; allowed are only {NAMES}")
        return ALLOWED[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to an object outside the file")


def loads(data: bytes, name: str) -> Any:
    """The content of the pickle `data` (protocols 0 to 5; Python 2 text as latin1).

    ValueError, with `name` and the reason, if it asks for anything but numpy integers or is damaged. Nothing
    that the pickle names is imported or called.
    """
    try:
        return _Unpickler(io.BytesIO(data), encoding="latin1").load()
    except Exception as error:
        raise ValueError(f"{name}: refused pickle: {str(error) or type(error).__name__}") from error
