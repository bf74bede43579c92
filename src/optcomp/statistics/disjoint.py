"""Statistics about disjoint rows that could be one question with groups: each pays for itself, and all could share."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.declared import Declared
from optcomp.statistics.predicates import _parsed
from optcomp.statistics.register import known_keywords
from optcomp.statistics.statistic import Statistic


@dataclass(frozen=True)
class CouldBeOne:
    """Names of statistics that differ only in the value of a column, and that column."""

    names: tuple[str, ...]
    column: str


def could_be_one(statistics: Mapping[str, Statistic], table: Declared) -> list[CouldBeOne]:
    """Those that are the same but for `column == value`, with different values: `by` this column asks them at once."""
    found: dict[tuple[str, str], dict[Any, str]] = {}
    for name, statistic in statistics.items():
        for column, value, rest in _equalities(statistic, table):
            found.setdefault((column, rest), {}).setdefault(value, name)
    taken: set[str] = set()
    merged = []
    for (column, _), by_value in sorted(found.items(), key=lambda each: -len(each[1])):
        names = tuple(name for name in by_value.values() if name not in taken)
        if len(names) > 1:
            taken |= set(names)
            merged.append(CouldBeOne(names, column))
    return merged


def _equalities(statistic: Statistic, table: Declared) -> Iterator[tuple[str, Any, str]]:
    """Comparisons of its condition by which groups are told apart, with the value, and everything else that it says."""
    if statistic.where is None or not hasattr(statistic, "by"):
        return
    try:
        document, tree = statistic.document(), _parsed(statistic.where)
    except InvalidInput:  # of a class that cannot be written down
        return
    if not any(word in document and "by" in named.keyword.entries for word, named in known_keywords().items()):
        return
    others = {name: value for name, value in document.items() if name != "where"}
    terms = list(_joined(tree))
    for place, term in enumerate(terms):
        pair = _equality(term)
        if pair is not None and pair[0] in table.columns:
            rest = sorted(ast.dump(each) for i, each in enumerate(terms) if i != place)
            yield *pair, json.dumps([others, rest], sort_keys=True)


def _joined(node: ast.expr) -> Iterator[ast.expr]:
    """What is joined by `and`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for each in node.values:
            yield from _joined(each)
    else:
        yield node


def _equality(node: ast.expr) -> tuple[str, Any] | None:
    """A column and the value that it must have."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
        return None
    sides = node.left, node.comparators[0]
    names = [each.id for each in sides if isinstance(each, ast.Name)]
    values = [each.value for each in sides if isinstance(each, ast.Constant)]
    return (names[0], values[0]) if len(names) == len(values) == 1 else None
