"""The names that the setting `engine` may have, for where there is no torch."""

from tensor_rnns.declared import suggestion

NAMES = ("auto", "compiled", "eager", "graphed", "torch_nn", "triton")


def check(name: str) -> None:
    """ValueError with the allowed names, and the nearest one, for any other name."""
    if name not in NAMES:
        raise ValueError(f"engine {name!r} asked for; {suggestion(name, NAMES)}")
