"""Row filters written as a condition: "age >= 18 and region in ('north', 'west')".

A condition looks at one row at a time and cannot fail on any value: comparisons of declared columns with constants,
joined by and, or, not.  A missing value satisfies no comparison, but `x is None` asks for it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics.casts import writable

if TYPE_CHECKING:
    import ibis.expr.types as ir

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
_MOST_DEPTH = 50
"""Engines refuse deeper expressions."""


def columns_of(where: str) -> tuple[str, ...]:
    """The columns that a condition names, in order of appearance."""
    names = [node.id for node in ast.walk(_parsed(where)) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(names))


def condition(where: str, columns: Mapping[str, ir.Value]) -> ir.BooleanValue:
    """The condition over cleaned columns; never null."""
    return _Reader(where, columns).truth(_parsed(where))


def check_condition(where: str, kinds: Mapping[str, type[str | bool | int | float]]) -> None:
    """Refuse a condition that does not fit columns whose values have these types; no engine is needed."""
    _Reader(where, {name: _Unread(kind) for name, kind in kinds.items()}).truth(_parsed(where))


def _parsed(where: str) -> ast.expr:
    if not isinstance(where, str) or len(where) > _MOST_LENGTH:
        raise InvalidInput("where", where, f"must be a condition of at most {_MOST_LENGTH} characters")
    try:
        return ast.parse(where.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput("where", where, "must be a condition such as age >= 18 and region == 'north'") from None


class _Reader:
    """Walks the tree; anything it does not know is refused."""

    def __init__(self, where: str, columns: Mapping[str, ir.Value | _Unread]) -> None:
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
            column = self._column(node)
            if column.type().is_boolean():
                return column.fill_null(False)
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
        column = self._column(left)
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            return column.isnull() if isinstance(op, ast.Is) else column.notnull()
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            inside = column.isin([self._constant(value, left.id) for value in right.elts]).fill_null(False)
            return inside if isinstance(op, ast.In) else column.notnull() & ~inside
        if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)](column, self._constant(right, left.id)).fill_null(False)
        raise self._refused("compares in a way that is not known")

    def _column(self, node: ast.Name) -> Any:
        try:
            return self._columns[node.id]
        except KeyError:
            known = ", ".join(self._columns)
            raise self._refused(f"names the column {node.id!r}; declared are {known}") from None

    def _constant(self, node: ast.expr, name: str) -> Any:
        value: Any
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1, node.operand
        value = node.value if isinstance(node, ast.Constant) else None
        kind = self._columns[name].type()
        fits = (
            (isinstance(value, bool) and kind.is_boolean())
            or (isinstance(value, int | float) and not isinstance(value, bool) and kind.is_numeric())
            or (isinstance(value, str) and kind.is_string())
        )
        if not fits or (sign < 0 and not kind.is_numeric()) or (isinstance(value, str | int) and not writable(value)):
            raise self._refused(f"must compare the column {name!r} with constants of its kind")
        return -value if sign < 0 else value

    def _refused(self, problem: str) -> InvalidInput:
        return InvalidInput("where", self._where, problem)


class _Unread:
    """A column of which only the type of its values is known: it says that, and every comparison is one more of it."""

    def __init__(self, kind: type[str | bool | int | float]) -> None:
        self._kind = kind

    def type(self) -> _Unread:
        return self

    def is_boolean(self) -> bool:
        return self._kind is bool

    def is_numeric(self) -> bool:
        return self._kind in (int, float)

    def is_string(self) -> bool:
        return self._kind is str

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
