"""What texts in the files of a paper must be: sentences, reasons, pages."""

from typing import Annotated

from tensor_rnns.declared import Rule

Page = int | str


def letters(least: int) -> Rule:
    """The rule of a text that is no shorter."""
    words = f"a text of at least {least} letters"
    return Rule(words, lambda value: isinstance(value, str) and len(value) >= least)


Text = Annotated[str, Rule("a text", lambda value: isinstance(value, str) and value.strip() != "")]
Reason = Annotated[str, letters(5)]
Sentence = Annotated[str, letters(10)]
