r"""Cells of any type as numbers, integers, text or truth values; null where a cell has no such form.

None of these can fail on a value, in any engine.  They see one cell at a time, and give the same for the same value
whether its column holds integers, floats or text: an integer column that becomes one of floats, because one cell is
missing, does not change what the other cells mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput

if TYPE_CHECKING:
    import ibis.expr.types as ir

_TRYING = {"duckdb", "pyspark"}
"""Engines with a cast that gives null instead of an error; elsewhere only text of a known form is cast."""
_NUMBER = r"^ *[+-]?([0-9]{1,200}(\.[0-9]{0,200})?|\.[0-9]{1,200})([eE][+-]?[0-9]{1,4})? *$"
"""Text that is a number; engines without a cast that gives null see no other."""
_INTEGER = "^ *[+-]?[0-9]{1,18} *$"
"""Text that is an integer of 63 bits."""
_NEAR = r"^-?[0-9]{1,200}(\.|$)"
"""A decimal that floats can hold."""
_TRUE, _FALSE = ["true", "t", "yes", "y", "on", "1", "1.0"], ["false", "f", "no", "n", "off", "0", "0.0"]
"""Words for truth values, as engines and spreadsheets write them."""
_EXACT = 2.0**53
"""Up to here floats tell integers apart."""


def number(column: ir.Value) -> Any:
    """A column of integers or of floats, of 64 bits."""
    kind = column.type()
    if kind.is_string():
        return _read(column)
    if kind.is_decimal():
        return _from_decimal(column)
    if kind.is_null() or kind.is_floating() or kind.is_uint64():  # short floats would be computed with as short ones
        return column.cast("float64")
    if kind.is_integer() or kind.is_boolean():
        return column.cast("int64")
    raise InvalidInput("columns", f"{column.get_name()}: {kind}", "must hold numbers to be declared as numbers")


def integer(column: ir.Value) -> ir.Value:
    """A column of integers: what is no whole number, or has more than 63 bits, is missing."""
    import ibis

    kind = column.type()
    found = number(column)
    if found.type().is_integer():
        return found
    near = found.between(-_EXACT, _EXACT)
    small = near.ifelse(found, ibis.null("float64"))  # first, for a branch of a CASE may be computed for all cells
    whole = (small.round() == small).ifelse(small, ibis.null("float64")).cast("int64")
    return near.ifelse(whole, _long(column)) if kind.is_string() else whole


def text(column: ir.Value) -> ir.Value:
    """A column of text; whole numbers are written as such, also by columns of floats."""
    import ibis

    kind = column.type()
    if kind.is_string():
        return column
    if not kind.is_floating():
        return column.cast("string")
    return ibis.coalesce(integer(column).cast("string"), column.cast("string"))


def truth(column: ir.Value) -> ir.Value:
    """A column of truth values: true and false, yes and no, 1 and 0."""
    import ibis

    kind = column.type()
    if kind.is_boolean():
        return column
    word = (column if kind.is_string() else text(integer(column))).strip().lower()
    return ibis.cases((word.isin(_TRUE), True), (word.isin(_FALSE), False), else_=ibis.null("boolean"))


def writable(value: str | int) -> bool:
    """Whether every engine can be told this constant."""
    if isinstance(value, int):
        return abs(value) < 2**63
    return all(not 0xD800 <= ord(letter) <= 0xDFFF for letter in value)


def _read(column: ir.Value) -> Any:
    """Text as floats."""
    import ibis

    if column.get_backend().name in _TRYING:
        return column.try_cast("float64")
    word = column.strip().lower()
    known = ibis.cases(
        (word.isin(["inf", "infinity", "+inf", "+infinity"]), "1e9999"),
        (word.isin(["-inf", "-infinity"]), "-1e9999"),
        (column.re_search(_NUMBER), column),
        else_=ibis.null("string"),
    )
    return _from_decimal(known.cast("decimal"))


def _long(column: ir.Value) -> Any:
    """Text as integers, for those that floats do not tell apart."""
    import ibis

    if column.get_backend().name in _TRYING:
        return column.try_cast("int64")
    return column.re_search(_INTEGER).ifelse(column, ibis.null("string")).cast("int64")


def _from_decimal(column: Any) -> Any:
    """As floats; decimals of any length, which PostgreSQL has, could be too large or too small for that."""
    import ibis

    kind = column.type()
    if kind.precision is not None and kind.precision <= 100 and (kind.scale or 0) <= 100:
        return column.cast("float64")
    digits = column.cast("string")
    far = digits.startswith("-").ifelse("-1e300", "1e300")
    short = ibis.cases(
        (digits == "NaN", ibis.null("string")), (~digits.re_search(_NEAR), far), else_=digits.substr(0, 300)
    )
    return short.cast("float64")
