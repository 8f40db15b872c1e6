"""Changes of bytes, texts and plain data, drawn from one seed."""

import json
import math
import random
import re
import struct
from dataclasses import dataclass
from typing import Any

from tensor_rnns import files

TOKENS = [
    b"", b"0", b"-1", b"1e999", b"nan", b"-inf", b"9" * 400, b"null", b"true", b"[]", b"{}", b"[[[[", b"'",
    b'"', b",", b":", b"\n", b"\0", b"\xff", "é\u202e".encode(), b"*a", b"&a", b"!!python/object:os.system",
    b"<<", b"#", b"..", b"/", b"\\", b"${HOME}", b"{{7*7}}", b"<script>", b"a" * 3000, b"1_0", b"0x1f",
    b"1.5", b"<!DOCTYPE a [<!ENTITY b \"c\">]>", b"&b;", b"\x1b[2J", b"- ", b"  ", b"%", b"0/0", b"seal",
]  # fmt: skip
INTEGERS = [0, 1, 2, 127, 128, 255, 256, 65_535, 1 << 31, (1 << 32) - 1]
ODD = [
    None,
    True,
    -1,
    0,
    1,
    10**30,
    1.5,
    math.inf,
    math.nan,
    "",
    "x" * 3000,
    "\0\x1b[2J",
    [],
    {},
    [[]],
    {"a": 1},
]
"""What takes the place of a part of JSON."""


@dataclass
class Mutation:
    """Draws of one input, by which bytes, texts and plain data are changed."""

    draw: random.Random

    def bytes(self, content: bytes, most: int = 4) -> bytes:
        """`content` with one to `most` changes: bits, bytes, numbers, words, cuts, doubles, moves."""
        for _ in range(self.draw.randint(1, most)):
            size = len(content)
            at, other = self.draw.randint(0, size), self.draw.randint(0, size)
            begin, end = (
                min(at, other),
                min(max(at, other), min(at, other) + self.draw.choice([1, 2, 8, 64, 4096])),
            )
            match self.draw.randrange(9):
                case 0 if at < size:
                    content = (
                        content[:at] + bytes([content[at] ^ 1 << self.draw.randrange(8)]) + content[at + 1 :]
                    )
                case 1:
                    content = (
                        content[:at] + self.draw.randbytes(self.draw.choice([1, 2, 4, 16])) + content[at:]
                    )
                case 2:
                    content = content[:begin] + content[end:]
                case 3:
                    content = (
                        content[:end] + content[begin:end] * self.draw.choice([1, 2, 50]) + content[end:]
                    )
                case 4 if self.draw.random() < 0.3:
                    content = content[:at]
                case 5:
                    form = self.draw.choice(["<I", ">I", "<H", ">H", "<Q", "B"])
                    number = self.draw.choice(INTEGERS) % (1 << 8 * struct.calcsize(form))
                    content = content[:at] + struct.pack(form, number) + content[at + struct.calcsize(form) :]
                case 6:
                    content = content[:at] + content[begin:end] + content[at + end - begin :]
                case _:
                    content = self.word(content)
        return content

    def word(self, content: bytes) -> bytes:
        """`content` with a word in place of another, or of a line."""
        pattern = rb"[^\n]+" if self.draw.random() < 0.2 else rb"[\w.+-]+"
        found = list(re.finditer(pattern, content[:20_000]))
        if not found:
            return content + self.draw.choice(TOKENS)
        place = self.draw.choice(found)
        new = self.draw.choice([*TOKENS, self.draw.choice(found)[0]])
        return content[: place.start()] + new + content[place.end() :]

    def data(self, content: Any) -> Any:
        """A copy of plain data with a part replaced, left out, or doubled."""
        content = json.loads(json.dumps(content))
        home, key = {"": content}, ""
        while isinstance(home[key], dict | list) and home[key] and self.draw.random() < 0.8:
            home = home[key]
            key = self.draw.choice(list(home) if isinstance(home, dict) else range(len(home)))
        match self.draw.randrange(4):
            case 0 if key != "":
                del home[key]
            case 1 if isinstance(home[key], list):
                home[key] = home[key] * 2
            case _:
                home[key] = self.draw.choice(ODD)
        return content if key != "" else home[""]


def sealed(mutation: Mutation, content: bytes) -> bytes:
    """`content` with its right sum again, nine times in ten where it has a place for one."""
    again = mutation.draw.random() < 0.9 and files.SEAL.search(content)
    try:
        return files.seal(content) if again else content
    except AssertionError:
        return content
