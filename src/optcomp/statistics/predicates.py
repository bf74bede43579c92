"""Row filters written as a condition: "age >= 18 and region in ('north', 'west')".

A condition looks at one row at a time and cannot fail on any value: comparisons of declared columns with constants,
joined by and, or, not.  A missing value satisfies no comparison, but `x is None` asks for it.  A column whose name is
no word of Python stands between backquotes: `gross wage` > 5000; a backquote in it is doubled.  A category that was
never declared is refused by its name; of text that nobody declared a condition can only ask whether it is there.
Dates are compared with text: day >= '2024-03-01'.
"""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.dates import Dates
from optcomp.statistics.domains import Categories, Domain, Numbers, Text, nearest, writable

Cell = tuple[Domain, Any]
"""What is declared about a column, and its integers."""
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
"""What may stand between a column and a constant."""
_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
"""The same with both sides exchanged."""
_MOST_LENGTH = 2000
"""Of a condition: some hundred comparisons."""
_SHOWN = 8
"""Categories of a column that a refusal names."""
_MOST_DEPTH = 50
"""Engines refuse deeper expressions."""
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)+)`""", re.DOTALL)
"""A constant that is text, which stays as it is, or a column between backquotes."""


def in_condition(column: str) -> str | None:
    """How a condition writes the name of a column; None if it cannot."""
    if column.isidentifier() and not keyword.iskeyword(column):
        return column
    return f"`{column.replace('`', '``')}`" if column else None


def columns_of(where: str, declared: Collection[str]) -> tuple[str, ...]:
    """The columns that a condition names, in order of appearance; all must be declared."""
    names = [node.id for node in ast.walk(_parsed(where)) if isinstance(node, ast.Name)]
    for name in names:
        if name not in declared:
            problem = f"is not a declared column ({', '.join(declared)}); text needs quotes, as in x == 'yes'"
            raise InvalidInput("where", name, problem)
    return tuple(dict.fromkeys(names))


def condition(where: str, columns: Mapping[str, Cell]) -> Any:
    """The condition over the integers of columns; never null."""
    return _Reader(where, columns).truth(_parsed(where))


def check_condition(where: str, domains: Mapping[str, Domain]) -> None:
    """Refuse a condition that does not fit columns with these domains; no engine is needed."""
    _Reader(where, {name: (domain, _Unread()) for name, domain in domains.items()}).truth(_parsed(where))


def _parsed(where: str) -> ast.expr:
    if not isinstance(where, str) or len(where) > _MOST_LENGTH:
        raise InvalidInput("where", where, f"must be a condition of at most {_MOST_LENGTH} characters")
    plain, names = _unquoted(where.strip())
    try:
        tree = ast.parse(plain, mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput("where", where, "must be a condition such as age >= 18 and region == 'north'") from None


def _unquoted(where: str) -> tuple[str, dict[str, str]]:
    """The condition with a word that it does not hold for each column between backquotes, and what the words mean."""
    word = "_" * next(length for length in range(1, len(where) + 2) if "_" * length + "0" not in where)
    names: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        made = f"{word}0{len(names)}"
        names[made] = found[1].replace("``", "`")
        return made

    return _QUOTED.sub(replaced, where), names


class _Reader:
    """Walks the tree; anything it does not know is refused."""

    def __init__(self, where: str, columns: Mapping[str, Cell]) -> None:
        self._where, self._columns = where, columns

    def truth(self, node: ast.expr, depth: int = 0) -> Any:
        """A boolean expression without nulls."""
        if depth > _MOST_DEPTH:
            raise self._refused(f"must not be nested more than {_MOST_DEPTH} deep")
        if isinstance(node, ast.BoolOp):
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            return _joined([self.truth(value, depth + 1) for value in node.values], join)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.truth(node.operand, depth + 1)
        if isinstance(node, ast.Compare):
            return self._chain(node)
        if isinstance(node, ast.Name):
            domain, cell = self._column(node)
            if domain.holds is bool:
                return _among(cell, [_code(domain, True)])
        raise self._refused("must be built from comparisons of columns with constants, and, or, not")

    def _chain(self, node: ast.Compare) -> Any:
        """A < x <= b is a < x and x <= b."""
        places = [node.left, *node.comparators]
        parts = [self._comparison(*each) for each in zip(places, node.ops, places[1:], strict=False)]
        return _joined(parts, operator.and_)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
        if not isinstance(left, ast.Name) and isinstance(right, ast.Name) and type(op) in _MIRROR:
            left, op, right = right, _MIRROR[type(op)](), left
        if not isinstance(left, ast.Name):
            raise self._refused("must compare a column with a constant")
        domain, cell = self._column(left)
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            there = _there(domain, cell)
            return there if isinstance(op, ast.IsNot) else ~there
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            inside = _among(cell, [_code(domain, self._declared(value, left.id)) for value in right.elts])
            return inside if isinstance(op, ast.In) else _there(domain, cell) & ~inside
        if isinstance(op, ast.Eq | ast.NotEq):
            same = _among(cell, [_code(domain, self._declared(right, left.id))])
            return same if isinstance(op, ast.Eq) else _there(domain, cell) & ~same
        if type(op) in _COMPARISONS:
            return self._compared(domain, cell, type(op), self._constant(right, left.id))
        raise self._refused("compares in a way that is not known")

    def _compared(self, domain: Domain, cell: Any, op: type[ast.cmpop], constant: Any) -> Any:
        if isinstance(domain, Numbers):
            return _beside(domain, cell, op, _as_written(constant))
        assert isinstance(domain, Categories)
        kept = [value for value in domain.values if _COMPARISONS[op](value, constant)]
        return _among(cell, [_code(domain, value) for value in kept])

    def _column(self, node: ast.Name) -> Cell:
        try:
            return self._columns[node.id]
        except KeyError:
            known = ", ".join(self._columns)
            raise self._refused(f"names the column {node.id!r}; declared are {known}") from None

    def _declared(self, node: ast.expr, name: str) -> Any:
        """A constant that a cell can be equal to: of categories one that is declared."""
        value, domain = self._constant(node, name), self._columns[name][0]
        if isinstance(domain, Categories) and value not in domain.values:
            some = ", ".join(map(repr, domain.values[:_SHOWN])) + (", …" if len(domain.values) > _SHOWN else "")
            rest = f"; `{name} is None` finds all others" if value == domain.other else ""
            raise self._refused(f"names {value!r}, which is no declared category of {name!r} ({some}){rest}")
        return value

    def _constant(self, node: ast.expr, name: str) -> Any:
        value: Any
        sign = 1
        if isinstance(self._columns[name][0], Text):
            raise self._refused(f"compares {name!r}, text that nobody declared: ask only whether it is None")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1, node.operand
        value = node.value if isinstance(node, ast.Constant) else None
        kind = self._columns[name][0].holds
        number = type(value) is int or (isinstance(value, float) and math.isfinite(value))
        fits = number if kind in (int, float) else isinstance(value, kind)
        if (
            not fits
            or (sign < 0 and kind not in (int, float))
            or (isinstance(value, str | int) and not writable(value))
        ):
            raise self._refused(f"must compare the column {name!r} with constants of its kind")
        domain = self._columns[name][0]
        if isinstance(domain, Dates):
            try:
                return domain.index_of(value)
            except InvalidInput as error:
                raise self._refused(f"compares {name!r} with {value!r}, which {error.problem}") from None
        return -value if sign < 0 else value

    def _refused(self, problem: str) -> InvalidInput:
        return InvalidInput("where", self._where, problem)


def _code(domain: Domain, value: Any) -> int | None:
    """The integer of a constant: numbers are rounded to the grid; None if no cell can hold it."""
    if isinstance(domain, Numbers):
        place = nearest(_as_written(value) / domain.step) - domain.first
        return place if 0 <= place <= domain.top else None
    assert isinstance(domain, Categories)
    return domain.values.index(value) if value in domain.values else None


def _as_written(value: float) -> Fraction:
    """A number as people write it: 1.8 is eighteen tenths, though no float is."""
    return Fraction(repr(value) if isinstance(value, float) else value)


def _among(cell: Any, codes: list[int | None]) -> Any:
    """Whether a cell is one of these; a missing one is not."""
    return cell.isin([-1, *sorted({code for code in codes if code is not None})]).fill_null(False)


def _there(domain: Domain, cell: Any) -> Any:
    """Whether a cell holds a value that is declared."""
    return cell.notnull() if isinstance(domain, Numbers) else (cell < domain.top).fill_null(False)


def _beside(domain: Numbers, cell: Any, op: type[ast.cmpop], constant: Fraction) -> Any:
    """A comparison with a constant, exactly: cells stand for whole multiples of the step."""
    place = constant / domain.step - domain.first
    if op in (ast.Lt, ast.GtE):
        bound, below = math.ceil(place), op is ast.Lt
    else:
        bound, below = math.floor(place) + 1, op is ast.LtE
    bound = min(max(bound, 0), domain.top + 1)
    return (cell < bound if below else cell >= bound).fill_null(False)


class _Unread:
    """The cells of a column that is not there: whatever is asked of them is one more of it."""

    def _same(self, *_: object) -> _Unread:
        return self

    isin = isnull = notnull = fill_null = _same
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = _same
    __eq__ = __ne__ = _same  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __invert__(self) -> _Unread:
        return self


def _joined(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """By halves, so that long conditions do not become deep ones."""
    middle = len(parts) // 2
    return join(_joined(parts[:middle], join), _joined(parts[middle:], join)) if middle else parts[0]
