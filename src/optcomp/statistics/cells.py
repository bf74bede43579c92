r"""Cells of any type as integers on the grid of what is declared: the border behind which nothing can fail.

One function of one cell: what a cell becomes depends on nothing but the cell and its declaration, and is the same
whether its column holds integers, floats or text.  Every cell becomes

    0, 1, ..., top      a step of the grid, or the code of a category; `top` of categories is "there, but not declared"
    MISSING             nothing is there
    below MISSING       it cannot be read; the number says why (`WHY`)

Text is a number if it is written like one in `_NUMBER`, with spaces around it or not; no engine is asked.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from optcomp.statistics.date_cells import read_dates
from optcomp.statistics.dates import Dates
from optcomp.statistics.domains import Categories, Domain, Integers, Numbers, Text

if TYPE_CHECKING:
    pass

Codes = npt.NDArray[np.int64]
"""Of the cells of a column."""
Floats = npt.NDArray[np.float64]
"""Numbers, as cells say them."""
MISSING = -1
"""Nothing is there."""
NOT_A_NUMBER, BEYOND, NOT_UTF8, LONG, STRANGE, NOT_A_DATE = -2, -3, -4, -5, -6, -7
"""Why a cell cannot be read."""
OTHER_ENCODING = "text that is not UTF-8"
"""The reason that goes away if the file is converted."""
WHY = {
    NOT_A_NUMBER: "not a number",
    BEYOND: "a number beyond the range of floats",
    NOT_UTF8: OTHER_ENCODING,
    LONG: "longer than 4,096 characters",
    NOT_A_DATE: "not a date or time as declared",
    STRANGE: "neither text nor a number, a truth value or a date",
}
"""The same for people."""
MOST_LETTERS = 4096
"""Of a cell: no category and nobody's name is as long."""
_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?$"
"""Text that is a number; around it there may be spaces."""
NOTHING = ["", "na", "n/a", "nan", "null", "none"]
"""What people and programs write where a number is missing, in any case."""
_INFINITE = {sign + word: float(sign + word) for sign in ("", "+", "-") for word in ("inf", "infinity")}
"""Words for infinities, in any case."""
_TRUE, _FALSE = ["true", "t", "yes", "y", "on", "1", "1.0"], ["false", "f", "no", "n", "off", "0", "0.0"]
"""Words for truth values, as engines and spreadsheets write them."""
_EXACT = 2.0**53
"""Up to here floats tell integers apart."""
_BREAKS = r"[\p{Cc}\p{Zl}\p{Zp}]+"
"""Line breaks and other letters that are not written: in texts that nobody declared they become blanks."""
_MARK = "\x00"
"""With which text begins that stands for a cell which cannot be read; a second letter says why."""
_LETTERS = {NOT_UTF8: "u", LONG: "l", STRANGE: "s"}
"""These letters."""


def plain(column: Any) -> Any:
    """A column of Arrow as one of int64, float64, truth values or text; text says by its mark what it could not be."""
    import pyarrow as pa

    is_a = pa.types
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = column.type
    if is_a.is_dictionary(kind):
        known = plain(column.dictionary)  # whose own type Arrow may not know how to take cells of
        return plain(pa.DictionaryArray.from_arrays(column.indices, known).dictionary_decode())
    if is_a.is_boolean(kind):
        return column
    if is_a.is_floating(kind):
        return (column.cast(pa.float32()) if is_a.is_float16(kind) else column).cast(pa.float64())
    if is_a.is_integer(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # of 64 bits without a sign
            return column.cast(pa.large_string())
    if is_a.is_decimal(kind):
        return column.cast(pa.large_string())
    if is_a.is_temporal(kind):
        return _dates(column)
    return _text(column)


def _text(column: Any) -> Any:
    """Text in UTF-8, and not too long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_fixed_size_binary(column.type):
        return pa.array([None if cell is None else cell.hex() for cell in column.to_pylist()], pa.large_string())
    raw = column.cast(pa.large_binary())
    try:
        found = raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        found = pa.array([_decoded(cell) for cell in raw.to_pylist()], pa.large_string())
    longest = pc.max(pc.binary_length(found)).as_py() or 0
    if longest > MOST_LETTERS:
        found = pc.if_else(pc.greater(pc.utf8_length(found), MOST_LETTERS), mark(LONG), found)
    return found


def _decoded(cell: bytes | None) -> str | None:
    if cell is None:
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return mark(NOT_UTF8)


def _dates(column: Any) -> Any:
    """As text, without the zeros of a fraction of a second; what no calendar or clock has cannot be read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = column.cast(pa.large_string())
    except pa.ArrowException:  # of a type that is not written so, whatever its cells are
        return pa.array([_date(cell) for cell in column], pa.large_string())
    found = pc.if_else(pc.starts_with(found, "<"), mark(STRANGE), found)  # <value out of range: ...>
    found = pc.replace_substring_regex(found, r"(\.[0-9]*?)0+(Z|[+-][0-9]{4})?$", r"\1\2")
    return pc.replace_substring_regex(found, r"\.(Z|[+-][0-9]{4})?$", r"\1").cast(pa.large_string())


def _date(cell: Any) -> str | None:
    try:
        value = cell.as_py()
        return None if value is None else str(value)
    except Exception:  # whatever is in it
        return mark(STRANGE)


def mark(why: int) -> str:
    """Text that stands for a cell which cannot be read."""
    return _MARK + _LETTERS[why]


def encode(domain: Domain, column: Any) -> tuple[Codes, Floats | None]:
    """The codes of a plain column, and the numbers that were read if it is one of numbers."""
    if isinstance(domain, Dates):
        return _dated(domain, column)
    if isinstance(domain, Numbers):
        return _numbers(domain, column)
    assert isinstance(domain, Categories)
    return _categories(domain, column), None


def texts(domain: Text, column: Any) -> tuple[Any, Codes]:
    """The texts of a plain column, null where there is none; and codes, of which only bad ones matter.

    Blanks around a text are left out, what is longer is cut.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = as_words(column)
    codes = _marked(words)
    plain_words = pc.utf8_trim(pc.replace_substring_regex(words, _BREAKS, " "), " ")
    cut = pc.utf8_rtrim(pc.utf8_slice_codeunits(plain_words, 0, domain.most), " ")
    codes[(codes == 0) & ~_filled(pc.not_equal(cut, ""))] = MISSING
    return pc.if_else(pa.array(codes == 0), cut, pa.scalar(None, cut.type)), codes


def _dated(domain: Dates, column: Any) -> tuple[Codes, Floats]:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_trim(as_words(column), " ")
    indices, found = read_dates(domain, words)
    codes = np.clip(indices - int(domain.low), 0, domain.top)
    nothing = _filled(pc.is_in(pc.ascii_lower(words), pa.array(NOTHING, words.type))) | ~_filled(words.is_valid())
    marked = _marked(words)
    codes[~found] = NOT_A_DATE
    codes[marked < 0] = marked[marked < 0]
    codes[nothing] = MISSING
    return codes, np.where(found, indices.astype(np.float64), np.nan)


def person(column: Any) -> tuple[Any, Codes]:
    """Whose rows they are: integers or text, null where nobody is named; and codes, of which only bad ones matter."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return column, np.zeros(len(column), np.int64)
    words = as_words(column)
    codes = _marked(words)
    codes[~_filled(pc.and_(words.is_valid(), pc.not_equal(words, "")))] = MISSING
    return pc.if_else(pa.array(codes == 0), words, pa.scalar(None, pa.large_string())), codes


def _filled(truths: Any) -> npt.NDArray[np.bool_]:
    """An array of truth values, nulls counting as false."""
    import pyarrow.compute as pc

    found: npt.NDArray[np.bool_] = pc.fill_null(truths, False).to_numpy(zero_copy_only=False)
    return found.copy()


def _marked(words: Any) -> Codes:
    """0, or why a cell cannot be read."""
    import pyarrow.compute as pc

    codes = np.zeros(len(words), np.int64)
    marked = _filled(pc.starts_with(words, _MARK))
    if marked.any():
        reasons = {letter: why for why, letter in _LETTERS.items()}
        for place in np.flatnonzero(marked):
            codes[place] = reasons.get(words[int(place)].as_py()[1:], STRANGE)
    return codes


def _numbers(domain: Numbers, column: Any) -> tuple[Codes, Floats]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column, kind = column.cast(pa.int64()), pa.int64()
    if pa.types.is_integer(kind):
        there = _filled(column.is_valid())
        whole = column.fill_null(0).to_numpy(zero_copy_only=False)
        values = np.where(there, whole.astype(np.float64), np.nan)
        codes = _on_grid_exactly(domain, whole) if isinstance(domain, Integers) else _on_grid(domain, values)
        return np.where(there, codes, MISSING), values
    if pa.types.is_floating(kind):
        values = column.fill_null(np.nan).to_numpy(zero_copy_only=False)
        return np.where(np.isnan(values), MISSING, _on_grid(domain, values)), values
    return _numbers_of_text(domain, column)


def _numbers_of_text(domain: Numbers, column: Any) -> tuple[Codes, Floats]:
    values, why, integers = read_text(column)
    codes = np.where(np.isnan(values), MISSING, _on_grid(domain, values))
    if isinstance(domain, Integers) and integers is not None:
        there, whole = integers
        codes = np.where(there, _on_grid_exactly(domain, whole), codes)
    return np.where(why < MISSING, why, codes), values


def read_text(column: Any) -> tuple[Floats, Codes, tuple[npt.NDArray[np.bool_], Codes] | None]:
    """Text as numbers, NaN where there is none; why not; and the integers among them, exactly."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_trim(column, " ")
    number = pc.match_substring_regex(words, _NUMBER)
    read = pc.if_else(number, words, pa.scalar(None, words.type)).cast(pa.float64())
    values = read.fill_null(np.nan).to_numpy(zero_copy_only=False).copy()
    why = np.zeros(len(column), np.int64)
    why[np.isinf(values)] = BEYOND
    others = np.flatnonzero(_filled(pc.invert(number)))
    if len(others):
        _read_words(words.take(pa.array(others)), others, values, why)
    large = np.abs(values) >= _EXACT  # the float of what is smaller is the integer itself
    integers = _exact_integers(words, large) if large.any() else None
    return values, why, integers


def _read_words(words: Any, places: npt.NDArray[np.intp], values: Floats, why: Codes) -> None:
    """Cells that are not numbers: nothing, infinite, or not to be read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    low = pc.ascii_lower(words)
    bad = ~_filled(pc.is_in(low, pa.array(NOTHING, low.type)))
    codes = _marked(words)
    codes[(codes == 0) & bad] = NOT_A_NUMBER
    for word, value in _INFINITE.items():
        found = _filled(pc.equal(low, word))
        values[places[found]] = value
        codes[found] = 0
    why[places] = codes


def _exact_integers(words: Any, large: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Codes]:
    """Which of these words are integers of 64 bits, and what they are."""
    there, whole = np.zeros(len(words), np.bool_), np.zeros(len(words), np.int64)
    for place in np.flatnonzero(large):
        word = words[int(place)].as_py()
        if word is not None and word.lstrip("+-").isdigit():
            value = int(word)
            if abs(value) < 2**63:
                there[place], whole[place] = True, value
    return there, whole


def _on_grid_exactly(domain: Numbers, whole: Codes) -> Codes:
    """Integers, which may be too large for floats; the step is a power of two."""
    inside, step = np.clip(whole, int(domain.low), int(domain.high)), int(domain.step)
    places: Codes = np.clip(((inside + step // 2) >> (step.bit_length() - 1)) - domain.first, 0, domain.top)
    return places


def _on_grid(domain: Numbers, values: Floats) -> Codes:
    """Floats: those within the bounds are divided and rounded, half up; all others are at one of the ends."""
    low, high = domain.ends
    inside = np.clip(np.nan_to_num(values, nan=low, posinf=high, neginf=low), low, high)
    if abs(domain.first) + domain.top < _EXACT:
        places = _half_up(_divided(inside, domain.step)) - domain.first
    else:  # the grid is finer than floats are there; from a float near its beginning the distance is exact
        origin = float(domain.first * domain.step)
        rest = (domain.first * domain.step - Fraction(origin)) / domain.step
        places = _half_up(_divided(inside - origin, domain.step)) - float(rest)
    codes: Codes = np.clip(places, 0, domain.top).astype(np.int64)
    if low > domain.high:  # no float lies within the bounds
        return np.where(values < low, 0, domain.top)
    codes[values > high] = domain.top
    codes[values < low] = 0
    return codes


def _half_up(values: Floats) -> Floats:
    """The nearest integer, the greater of two; adding a half first would be rounded itself."""
    below = np.floor(values)
    nearest: Floats = below + (values - below >= 0.5)
    return nearest


def _divided(values: Floats, step: Fraction) -> Floats:
    """By a power of two, exactly; by others as floats divide."""
    short = step.numerator & (step.numerator - 1) == 0 and step.denominator & (step.denominator - 1) == 0
    return values * float(1 / step) if short else values / float(step)


def _categories(domain: Categories, column: Any) -> Codes:
    import pyarrow as pa
    import pyarrow.compute as pc

    first = domain.values[0]
    if isinstance(first, bool):
        words = pc.ascii_lower(pc.utf8_trim(as_words(column), " "))
        codes = np.full(len(words), domain.top, np.int64)
        for value, known in ((True, _TRUE), (False, _FALSE)):
            if value in domain.values:
                codes[_filled(pc.is_in(words, pa.array(known, words.type)))] = domain.values.index(value)
    elif isinstance(first, str):
        words = as_words(column)
        found = pc.index_in(words, pa.array(domain.values, words.type))
        codes = found.fill_null(domain.top).to_numpy(zero_copy_only=False).astype(np.int64)
    else:
        words = column
        codes = _integer_codes(domain, column)
    unknown = codes == domain.top
    if unknown.any():
        text = as_words(words)
        empty = _filled(pc.equal(pc.utf8_trim(text, " "), "")) | ~_filled(text.is_valid())
        codes[unknown & empty] = MISSING
        marked = _marked(text)
        codes[unknown & (marked < 0)] = marked[unknown & (marked < 0)]
    return codes


def _integer_codes(domain: Categories, column: Any) -> Codes:
    """Whole numbers, however they are written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type):
        if pa.types.is_floating(column.type):
            values, exact = column.fill_null(np.nan).to_numpy(zero_copy_only=False), None
        else:
            values, _, exact = read_text(column)
        near = np.abs(np.nan_to_num(values, nan=np.inf)) <= _EXACT
        there = near & (np.floor(np.where(near, values, 0)) == values)
        whole = np.where(there, values, 0).astype(np.int64)
        if exact is not None:
            there, whole = there | exact[0], np.where(exact[0], exact[1], whole)
        column = pa.array(whole, pa.int64(), mask=~there)
    found = pc.index_in(column, pa.array(domain.values, pa.int64()))
    codes: Codes = found.fill_null(domain.top).to_numpy(zero_copy_only=False).astype(np.int64)
    codes[~_filled(column.is_valid())] = domain.top
    return codes


def as_words(column: Any) -> Any:
    """A plain column as text; whole numbers are written as such, also by columns of floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return column.cast(pa.large_string())
    values = column.fill_null(np.nan).to_numpy(zero_copy_only=False)
    near = np.abs(np.nan_to_num(values, nan=np.inf)) <= _EXACT
    whole = near & (np.floor(np.where(near, values, 0)) == values)
    integers = pa.array(np.where(whole, values, 0).astype(np.int64)).cast(pa.large_string())
    floats = pc.if_else(pa.array(np.isnan(values)), pa.scalar(None, pa.float64()), column).cast(pa.large_string())
    return pc.if_else(pa.array(whole), integers, floats)
