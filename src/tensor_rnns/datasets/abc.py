"""Tunes in ABC notation (one voice) as sounding notes in quarter notes of time; repeats are not expanded."""

import re
from fractions import Fraction

from tensor_rnns.datasets.musicxml import STEPS, Note

MOST_CHARACTERS = 1 << 20
MOST_QUARTERS = 10_000
"""Limits: characters of a tune, quarter notes of its length."""
FIFTHS = {"F": -1, "C": 0, "G": 1, "D": 2, "A": 3, "E": 4, "B": 5}
MODES = {"": 0, "maj": 0, "ion": 0, "lyd": 1, "mix": -1, "dor": -2, "m": -3, "min": -3, "aeo": -3, "phr": -4}
ORDER = "FCGDAEB"
"""The order in which a key takes up sharps; flats come from the other end."""
ACCIDENTALS = {"": None, "=": 0, "^": 1, "^^": 2, "_": -1, "__": -2}
TUPLETS = {2: 3, 3: 2, 4: 3, 5: 2, 6: 2, 7: 2, 8: 3, 9: 2}
"""p notes in the time of q, where the tune does not say q."""
TOKEN = re.compile(r"""
    "[^"\n]*" | \{[^}\n]*\} | ![^!\n]{1,20}! | \+\w+\+ | %[^\n]* | [\s\\().~$`h-wH-Wy-](?!\d) | \*
  | \[(?P<field>[A-Za-z]):(?P<value>[^\]\n]*)\]
  | \((?P<tuplet>\d{1,2})(?::(?P<time>\d{0,2})(?::(?P<many>\d{0,2}))?)?
  | (?P<bar> [:|\]]+\[?[12345678]? | \[[|12345678] | \[\] )
  | (?P<note> (?P<sharp>\^{0,2}|_{0,2}|=) (?P<letter>[A-Ga-gzx]) (?P<octave>[,']*) )
    (?P<length>\d{0,3}/{0,3}\d{0,3})
  | (?P<open>\[) | (?P<broken>[<>]{1,3})
  | [\s\\().~$`h-wH-Wy-]
""", re.VERBOSE)  # fmt: skip
LENGTH = re.compile(r"(\d*)(/*)(\d*)")
AFTER_CHORD = re.compile(r"\d{0,3}/{0,3}\d{0,3}")


def multiple(text: str) -> Fraction:
    """The factor that a length such as 3, /2, 3/2 or // stands for; ValueError for a division by zero."""
    over, strokes, under = LENGTH.fullmatch(text).groups()
    divisor = int(under) if under else 2 ** len(strokes)
    if not divisor:
        raise ValueError(f"the length {text!r} divides by zero")
    return Fraction(int(over or 1), divisor)


def signature(key: str) -> dict[str, int]:
    """The accidentals of a key such as D, Bb, Am, Edor or `Dmix =c`, by letter; ValueError for no key."""
    match = re.match(r"\s*([A-G])([#b]?)\s*([A-Za-z]*)", key)
    if not match:
        raise ValueError(f"K:{key.strip()} is no key")
    tonic, accidental, mode = match.groups()
    mode = "" if mode == "M" else mode.lower()[:3]
    if mode not in MODES:
        raise ValueError(f"K:{key.strip()}: the mode {mode!r} is none of {', '.join(sorted(MODES)[1:])}")
    fifths = FIFTHS[tonic] + {"": 0, "#": 7, "b": -7}[accidental] + MODES[mode]
    sharps = dict.fromkeys(ORDER[: max(fifths, 0)], 1)
    flats = dict.fromkeys(ORDER[::-1][: max(-fifths, 0)], -1)
    extra = re.findall(r"(\^|_|=)([A-Ga-g])", key[match.end() :].partition("%")[0])
    return sharps | flats | {letter.upper(): ACCIDENTALS[sign] for sign, letter in extra}


def unit_of(fields: dict[str, str]) -> Fraction:
    """The length of a note without a number, in quarter notes: of L:, or what follows from M:."""
    given = fields.get("L") or ("1/16" if fields.get("M", "4/4").startswith(("2/4", "3/8")) else "1/8")
    match = re.fullmatch(r"\s*1/([1-9]\d{0,2})\s*(?:%.*)?", given)
    if not match:
        raise ValueError(f"L:{given.strip()} is no length of a note")
    return Fraction(4, int(match[1]))


def tune(text: str, where: str) -> tuple[list[Note], Fraction]:
    """The notes of the one tune of an ABC file, and its length in quarter notes.

    ValueError, with `where`, for what is no tune or exceeds the limits.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{where}: {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    head, _, body = re.sub(r"\r\n?", "\n", text).partition("\nK:")
    fields: dict[str, str] = {}
    for letter, value in re.findall(r"^([A-Z]):(.*)$", head, re.MULTILINE):
        fields.setdefault(letter, value.strip())
    key, _, music = body.partition("\n")
    music = re.sub(r"^(?:%|[A-JN-Za-z]:).*$", "", music, flags=re.MULTILINE)
    music = re.sub(r"^([KLM]:.*)$", r"[\1]", music, flags=re.MULTILINE)
    try:
        if not body:
            raise ValueError("no key (K:)")
        return Player(signature(key), unit_of(fields)).play(music)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


class Player:
    """One pass over the music of a tune: the key, accidentals of the bar, tuplets, broken rhythms."""

    def __init__(self, key: dict[str, int], unit: Fraction) -> None:
        self.key, self.unit = key, unit
        self.bar: dict[tuple[str, str], int] = {}
        self.events: list[tuple[Fraction, list[int]]] = []
        self.next_factor = Fraction(1)
        self.tuplet, self.left = Fraction(1), 0
        self.chord: list[int] | None = None
        self.chord_length = Fraction(0)

    def play(self, music: str) -> tuple[list[Note], Fraction]:
        """The notes of the music, and its length."""
        at = 0
        while at < len(music):
            match = TOKEN.match(music, at)
            if not match or match.end() == at:
                raise ValueError(f"character {at:,} of the music: {music[at : at + 12]!r} is not understood")
            at = match.end()
            if self.chord is not None and match["bar"] and match["bar"].startswith("]"):
                length = AFTER_CHORD.match(music, match.start() + 1)
                at = length.end()
                self.add(self.chord_length * multiple(length[0]), self.chord)
                self.chord = None
            else:
                self.take(match)
        if self.chord is not None:
            raise ValueError("a chord is not closed")
        notes, now = [], Fraction(0)
        for length, pitches in self.events:
            notes += [Note(now, now + length, pitch) for pitch in pitches]
            now += length
            if now > MOST_QUARTERS:
                raise ValueError(f"longer than {MOST_QUARTERS:,} quarter notes")
        return notes, now

    def take(self, match: re.Match) -> None:
        """Follow one token."""
        if match["bar"]:
            self.bar = {}
        elif match["field"] == "K":
            self.key, self.bar = signature(match["value"]), {}
        elif match["field"] == "L":
            self.unit = unit_of({"L": match["value"]})
        elif match["tuplet"]:
            notes, time = int(match["tuplet"]), int(match["time"] or 0)
            if not time and notes not in TUPLETS:
                raise ValueError(f"a tuplet of {notes}; 2 to 9 are allowed")
            # The next `many` notes, else as many as the tuplet has, go `notes` in the time of `time`.
            self.tuplet = Fraction(time or TUPLETS[notes], notes)
            self.left = int(match["many"] or 0) or notes
        elif match["broken"]:
            self.break_rhythm(match["broken"])
        elif match["open"]:
            if self.chord is not None:
                raise ValueError("a chord within a chord")
            self.chord = []
        elif match["note"]:
            pitches = [] if match["letter"] in "zx" else [self.pitch(match)]
            length = self.unit * multiple(match["length"])
            if self.chord is None:
                self.add(length, pitches)
            else:
                self.chord_length = length if not self.chord else self.chord_length
                self.chord += pitches

    def pitch(self, match: re.Match) -> int:
        """The MIDI number of a note (C is middle C, 60); an accidental holds to the end of the bar."""
        letter, marks = match["letter"].upper(), match["octave"]
        name = (match["letter"], marks)
        if match["sharp"]:
            self.bar[name] = ACCIDENTALS[match["sharp"]]
        octave = 12 * (match["letter"].islower() + marks.count("'") - marks.count(","))
        return 60 + STEPS[letter] + octave + self.bar.get(name, self.key.get(letter, 0))

    def break_rhythm(self, marks: str) -> None:
        """`>` lengthens the note before and shortens the one after, `<` the other way round."""
        if not self.events:
            raise ValueError(f"{marks} before any note")
        short = Fraction(1, 2 ** len(marks))
        before = 2 - short if marks[0] == ">" else short
        length, pitches = self.events[-1]
        self.events[-1] = (length * before, pitches)
        self.next_factor = 2 - before

    def add(self, length: Fraction, pitches: list[int]) -> None:
        """One note, chord or rest after the others."""
        length *= self.next_factor
        self.next_factor = Fraction(1)
        if self.left:
            length, self.left = length * self.tuplet, self.left - 1
        self.events.append((length, pitches))
