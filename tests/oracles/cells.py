"""What one cell becomes, by hand: in fractions and plain Python, without anything that the program reads cells with.

A cell is None, a truth value, an integer, a float, a decimal, text, the bytes of text, or `STRANGE`.
"""

from __future__ import annotations

import math
import unicodedata
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from optcomp.statistics import Categories, Domain, Integers, Numbers, Reals, Text


class Strange:
    """A cell that is none of what cells may be."""


STRANGE: Final = Strange()
Cell = None | bool | int | float | Decimal | str | bytes | Strange
Outcome = int | str | None
"""A code; why it cannot be read; or None where nothing is there."""
NOT_A_NUMBER, BEYOND = "not a number", "a number beyond the range of floats"
NOT_UTF8, LONG = "text that is not UTF-8", "longer than 4,096 characters"
ODD = "neither text nor a number, a truth value or a date"
LONGEST = 4096
EXACT = 2**53
DIGITS = "0123456789"
NOTHING = ("", "na", "n/a", "nan", "null", "none")
TRUE, FALSE = ("true", "t", "yes", "y", "on", "1", "1.0"), ("false", "f", "no", "n", "off", "0", "0.0")


class Bad(Exception):
    """Why a cell cannot be read."""


def outcome(domain: Domain, cell: Cell) -> Outcome:
    """What a cell of a declared column becomes."""
    try:
        read = readable(cell)
        if isinstance(domain, Categories):
            return _category(domain, read)
        if isinstance(domain, Text):
            return _undeclared(domain, read)
        assert isinstance(domain, Numbers)
        return _number(domain, read)
    except Bad as bad:
        return str(bad)


def person(cell: Cell) -> tuple[str | None, str | None]:
    """Who it is, or nobody; and why that cannot be read."""
    try:
        read = words(readable(cell))
    except Bad as bad:
        return None, str(bad)
    if read is not None and read.startswith("\0"):
        return None, ODD
    return read or None, None


def readable(cell: Cell) -> bool | int | float | str | None:
    """Text as text; raises if it cannot be."""
    if isinstance(cell, Strange):
        raise Bad(ODD)
    if isinstance(cell, Decimal):
        cell = str(cell)
    if isinstance(cell, bytes):
        try:
            cell = cell.decode("utf8")
        except UnicodeDecodeError:
            raise Bad(NOT_UTF8) from None
    if isinstance(cell, str):
        if any(0xD800 <= ord(letter) <= 0xDFFF for letter in cell):
            raise Bad(ODD)  # half a letter, which only Python holds
        if len(cell) > LONGEST:
            raise Bad(LONG)
    return cell


def _number(domain: Numbers, cell: bool | int | float | str | None) -> Outcome:
    value = _value(domain, cell)
    return None if value is None else on_grid(domain, value)


def _value(domain: Numbers, cell: bool | int | float | str | None) -> int | float | None:
    """Integers of 64 bits stay what they are where integers are declared; all others are floats."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, str):
        return read_number(cell, exactly=isinstance(domain, Integers))
    if isinstance(cell, float):
        return cell
    if isinstance(domain, Integers) and abs(cell) < 2**63:
        return int(cell)
    return (-1 if cell < 0 else 1) * _float(str(abs(int(cell))), 0)


def read_number(text: str, *, exactly: bool) -> int | float | None:
    """The grammar of numbers, letter by letter."""
    word = text.strip(" ")
    low = lowered(word)
    if low in NOTHING:
        return None
    if low.lstrip("+-") in ("inf", "infinity") and len(low) - len(low.lstrip("+-")) <= 1:
        return -math.inf if low.startswith("-") else math.inf
    if word.startswith("\0"):
        raise Bad(ODD)
    sign, before, after, power = _split(word)
    if exactly and after is None and power is None and int(before or "0") < 2**63:
        return sign * int(before or "0")
    return sign * _float((before or "") + (after or ""), (power or 0) - len(after or ""))


def _split(word: str) -> tuple[int, str, str | None, int | None]:
    """Sign, digits before and after the point, and the power of ten."""
    place, sign = 0, 1
    if word[:1] in ("+", "-"):
        place, sign = 1, -1 if word[0] == "-" else 1
    before, place = _digits(word, place)
    after = None
    if word[place : place + 1] == ".":
        after, place = _digits(word, place + 1)
    if not before and not after:
        raise Bad(NOT_A_NUMBER)
    power = None
    if word[place : place + 1] in ("e", "E"):
        place += 1
        minus = word[place : place + 1] == "-"
        place += word[place : place + 1] in ("+", "-")
        found, place = _digits(word, place)
        if not 1 <= len(found) <= 9:
            raise Bad(NOT_A_NUMBER)
        power = -int(found) if minus else int(found)
    if place != len(word):
        raise Bad(NOT_A_NUMBER)
    return sign, before, after, power


def _digits(word: str, place: int) -> tuple[str, int]:
    start = place
    while place < len(word) and word[place] in DIGITS:
        place += 1
    return word[start:place], place


def _float(digits: str, power: int) -> float:
    """The nearest float to digits · 10^power."""
    digits = digits.lstrip("0")
    if not digits:
        return 0.0
    if len(digits) + power > 400:
        raise Bad(BEYOND)
    if len(digits) + power < -400:
        return 0.0
    try:
        return float(int(digits) * Fraction(10) ** power)
    except OverflowError:
        raise Bad(BEYOND) from None


@lru_cache(maxsize=256)
def grid(domain: Numbers) -> tuple[Fraction, int, int]:
    """The step, the multiple of it that the code 0 stands for, and the last code."""
    width = domain.high - domain.low
    if isinstance(domain, Reals) and domain.given_unit is None:
        step = Fraction(1)
        while step > width / 2**20:
            step /= 2
        while 2 * step <= width / 2**20:
            step *= 2
    else:
        step = domain.given_unit or Fraction(1) if isinstance(domain, Reals) else Fraction(1)
    while width / step > 2**22:
        step *= 2
    first = half_up(domain.low / step)
    return step, first, half_up(domain.high / step) - first


def on_grid(domain: Numbers, value: int | float) -> int:
    """Clamped, and rounded to the nearest step; floats are divided as floats are, unless the step is a power of two."""
    step, first, top = grid(domain)
    if value <= domain.low:
        return 0
    if value >= domain.high:
        return top
    short = bin(step.numerator).count("1") == bin(step.denominator).count("1") == 1
    place = Fraction(value) / step if short else Fraction(value / float(step))
    return min(max(half_up(place) - first, 0), top)


def half_up(value: Fraction) -> int:
    """The nearest integer, the greater of two."""
    return math.floor(value + Fraction(1, 2))


def lowered(text: str) -> str:
    """The 26 capital letters as small ones."""
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in text)


def words(cell: bool | int | float | str | None) -> str | None:
    """Cells as text: whole numbers without a point, truth values as words."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell)
    if math.isnan(cell):
        return None
    if math.isinf(cell):
        return "inf" if cell > 0 else "-inf"
    return str(int(cell)) if abs(cell) <= EXACT and cell == int(cell) else float_words(cell)


def float_words(value: float) -> str:
    """The fewest digits that tell a float from others, with a power of ten where it is very large or small."""
    sign, digits, power = Decimal(repr(value)).as_tuple()
    assert isinstance(power, int)
    text = "".join(map(str, digits)).rstrip("0")
    power += len(digits) - len(text)
    first = power + len(text) - 1
    minus = "-" if sign else ""
    if -6 <= first < 10:
        if power >= 0:
            return minus + text + "0" * power
        padded = text.rjust(1 - power, "0")
        return f"{minus}{padded[:power]}.{padded[power:]}"
    mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
    return f"{minus}{mantissa}e{'+' if first >= 0 else '-'}{abs(first)}"


def _category(domain: Categories, cell: bool | int | float | str | None) -> Outcome:
    first = domain.values[0]
    text = words(cell)
    if isinstance(first, bool):
        return _truth(domain, text)
    if isinstance(first, str):
        found = text is not None and text in domain.values
        return domain.values.index(text) if found and text is not None else _unknown(domain, text)
    value = _whole(cell)
    return domain.values.index(value) if value is not None and value in domain.values else _unknown(domain, text)


def _truth(domain: Categories, text: str | None) -> Outcome:
    word = None if text is None else lowered(text.strip(" "))
    for value, known in ((True, TRUE), (False, FALSE)):
        if word in known and value in domain.values:
            return domain.values.index(value)
    return _unknown(domain, word)


def _unknown(domain: Categories, text: str | None) -> Outcome:
    """Nothing, unreadable, or other than what is declared."""
    if text is None or not text.strip(" "):
        return None
    if text.startswith("\0"):
        raise Bad(ODD)
    return len(domain.values)


def _undeclared(domain: Text, cell: bool | int | float | str | None) -> Outcome:
    """Text without what is not written and without blanks around, cut; letters stay as they are."""
    text = words(cell)
    if text is None:
        return None
    if text.startswith("\0"):
        raise Bad(ODD)
    found, blank = "", False
    for letter in text:
        hidden = unicodedata.category(letter) in ("Cc", "Zl", "Zp")
        found += "" if hidden and blank else " " if hidden else letter
        blank = hidden
    kept = found.strip(" ")[: domain.most].rstrip(" ")
    return text_code(kept) if kept else None


def text_code(text: str) -> int:
    """An integer for each text, whoever else is in the table; a table has its own, which depend on that."""
    return int.from_bytes(b"\1" + text.encode())


def coded_text(code: int) -> str:
    """The text with this integer."""
    return code.to_bytes((code.bit_length() + 7) // 8)[1:].decode()


def _whole(cell: bool | int | float | str | None) -> int | None:
    """The integer that a cell is, however it is written."""
    if isinstance(cell, str):
        try:
            cell = read_number(cell, exactly=True)
        except Bad:
            return None
        if isinstance(cell, float) and abs(cell) > EXACT:
            return None
    if isinstance(cell, float):
        return int(cell) if math.isfinite(cell) and abs(cell) <= EXACT and cell == int(cell) else None
    return None if cell is None else int(cell)
