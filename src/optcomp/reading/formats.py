"""The three file formats, each read into entries that know where they stand.

No format turns a number into a float: JSON numbers stay text, YAML scalars are never resolved.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import yaml

from optcomp.reading.complaints import Complaint
from optcomp.reading.entries import MechanismText
from optcomp.reading.entry_text import entry_from
from optcomp.reading.expressions import is_expression
from optcomp.reading.format_names import Format
from optcomp.reading.unknown_columns import UnknownColumns

FIELDS = {
    "epsilon": "epsilon",
    "eps": "epsilon",
    "ε": "epsilon",
    "delta": "delta",
    "δ": "delta",
    "count": "count",
    "mechanism": "mechanism",
}
"""Names a column or key may have, in any case; others may hold text only."""

_NUMBER = re.compile(r"\s*[+-]?(\.?\d|nan|inf)", re.IGNORECASE)
"""A cell that begins so makes its line no header."""
_COLUMNS = ("epsilon", "delta", "count")
"""In a file without a header, in this order."""
_KNOWN = ("mechanism", *_COLUMNS)
"""All fields; each may be given once."""
_SHAPE = "must be a number, a pair [epsilon, delta] or an object with epsilon, delta, count or mechanism"
"""What is said about an entry that is none of these."""
_TOP = "must hold a list of mechanisms"
"""What is said about a file that is anything else."""


def sniff(text: str) -> Format:
    """Guess the format from the first line that says something."""
    start = _first_line(text)
    if start.startswith(("[", "{")):
        return Format.JSON
    return Format.YAML if re.match(r"---|-(\s|$)|\w+:\s*$", start) else Format.CSV


def blank(text: str) -> bool:
    """Whether there is nothing but space and comments."""
    return not _first_line(text)


def _first_line(text: str) -> str:
    """The first line that is neither blank nor a comment."""
    found = re.search(r"^[^\S\n]*([^#\s].*)$", text, re.MULTILINE)
    return found[1] if found else ""


def entries_of(text: str, format: Format, name: str) -> Iterator[MechanismText]:
    """Every mechanism written in the text; `name` is what errors call the file."""
    readers = {Format.CSV: _from_csv, Format.JSON: _from_json, Format.YAML: _from_yaml}
    return readers[format](text, name)


def _from_csv(text: str, name: str) -> Iterator[MechanismText]:
    """A table with columns epsilon[, delta][, count], or mechanism; without a header, the three in this order."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    columns: Sequence[str] = ()
    strangers = UnknownColumns("column")
    try:
        for cells in reader:
            where = f"{name}, line {reader.line_num}"
            if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                continue
            if columns:
                yield _from_cells(cells, columns, where, strangers)
            elif any(_NUMBER.match(cell) for cell in cells):
                columns = _COLUMNS
                yield _from_cells(cells, columns, where, strangers)
            else:
                columns = _header(cells, where)
    except csv.Error as error:
        raise Complaint(f"{name}, line {reader.line_num}: {error}") from None
    strangers.dismiss()


def _delimiter(text: str) -> str:
    first = _first_line(text)
    return next((mark for mark in (";", "\t") if mark in first), ",")


def _header(cells: Sequence[str], where: str) -> Sequence[str]:
    """The fields of the columns; an unknown column keeps the name it has."""
    names = [cell.strip() for cell in cells]
    fields = [FIELDS.get(name.lower(), name) for name in names]
    if not {"epsilon", "mechanism"} & set(fields):
        raise Complaint(f"{where}: no column is named epsilon or mechanism, got {', '.join(names)!r}")
    _once(fields, where)
    return fields


def _once(fields: Sequence[str], where: str) -> None:
    for field in _KNOWN:
        if fields.count(field) > 1:
            raise Complaint(f"{where}: {field} is given twice")


def _from_cells(cells: Sequence[str], columns: Sequence[str], where: str, strangers: UnknownColumns) -> MechanismText:
    _refuse_broken(cells, columns, where)
    if len(cells) > len(columns):
        raise Complaint(f"{where}: {len(cells)} cells, but at most {len(columns)} columns")
    fields: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=False):
        if column in _KNOWN:
            fields[column] = cell
        else:
            strangers.meet(column, cell.strip(), where)
    return _from_fields(fields, where)


def _refuse_broken(cells: Sequence[str], columns: Sequence[str], where: str) -> None:
    """A mechanism with commas that was not put in quotes."""
    for column, cell in zip(columns, cells, strict=False):
        if column == "mechanism" and cell.count("(") > cell.count(")") and len(cells) > 1:
            raise Complaint(f'{where}: mechanism: put quotes around it, as in "laplace(10, 2)", got {cell!r}')


def _from_fields(fields: Mapping[str, str], where: str) -> MechanismText:
    eps, delta, count, mechanism = (fields.get(name, "").strip() for name in (*_COLUMNS, "mechanism"))
    if not mechanism:
        return MechanismText(where, eps, delta, count)
    if eps or delta:
        raise Complaint(f"{where}: mechanism: is given beside {'epsilon' if eps else 'delta'}, got {mechanism!r}")
    entry = entry_from(mechanism, f"{where}: mechanism {mechanism!r}")
    if count and entry.count:
        raise Complaint(f"{where}: count: is given twice, got {count!r} beside {mechanism!r}")
    return replace(entry, count=entry.count or count)


def _from_json(text: str, name: str) -> Iterator[MechanismText]:
    """A list of numbers, of pairs, or of objects."""
    try:
        top = json.loads(text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        detail = "" if error.msg == "Expecting value" else f": {error.msg}"
        raise Complaint(f"{name}, line {error.lineno}: is not JSON{detail}") from None
    except RecursionError:
        raise Complaint(f"{name}: {_TOP}") from None
    if isinstance(top, _Pairs):
        raise _wrapped([key for key, value in top if type(value) is list], name)
    if not isinstance(top, list):
        raise Complaint(f"{name}: {_TOP}")
    strangers = UnknownColumns("key")
    for number, value in enumerate(top, start=1):
        yield _from_value(value, f"{name}, entry {number}", strangers)
    strangers.dismiss()


def _wrapped(lists: Sequence[str], name: str) -> Complaint:
    """What to say about a mapping at the top; `lists` are its keys that hold lists."""
    hint = f", but the list is inside {lists[0]!r}: keep the list alone" if len(lists) == 1 else ""
    return Complaint(f"{name}: {_TOP}{hint}")


class _Pairs(list[tuple[str, object]]):
    """A JSON object with its keys in order, repeated ones included."""


def _from_value(value: object, where: str, strangers: UnknownColumns) -> MechanismText:
    """A mechanism out of text (a number), a list (a pair), or pairs of key and value (an object)."""
    if isinstance(value, _Pairs):
        return _from_pairs(value, where, strangers)
    if isinstance(value, list):
        if not 2 <= len(value) <= 3:
            raise Complaint(f"{where}: {_SHAPE}")
        return _from_cells([_scalar(inner, where) for inner in value], _COLUMNS, where, strangers)
    if not isinstance(value, str):
        raise Complaint(f"{where}: {_SHAPE}")
    return entry_from(value, f"{where}: {value!r}") if is_expression(value) else MechanismText(where, value.strip())


def _from_pairs(pairs: _Pairs, where: str, strangers: UnknownColumns) -> MechanismText:
    known = [(FIELDS[key.strip().lower()], inner) for key, inner in pairs if key.strip().lower() in FIELDS]
    for key, inner in pairs:
        if key.strip().lower() not in FIELDS:
            strangers.meet(key, inner, where)
    _once([field for field, _ in known], where)
    kinds = {"mechanism": "text, as in gaussian(sigma=4)"}
    texts = {field: _scalar(inner, f"{where}: {field}", kinds.get(field, "a number")) for field, inner in known}
    return _from_fields(texts, where)


def _scalar(value: object, where: str, kind: str = "a number") -> str:
    """The text of a number or a mechanism; nothing at all is the same as an empty cell."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Complaint(f"{where}: must be {kind}")
    return value


def _from_yaml(text: str, name: str) -> Iterator[MechanismText]:
    """A list of numbers, of pairs, or of mappings."""
    try:
        _refuse_deep(text, name)
        top = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Complaint(f"{name}{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Complaint(f"{name}: {error}") from None
    if isinstance(top, yaml.MappingNode):
        raise _wrapped([str(key.value) for key, value in top.value if isinstance(value, yaml.SequenceNode)], name)
    if not isinstance(top, yaml.SequenceNode):
        raise Complaint(f"{name}: {_TOP}")
    strangers, unfolding = UnknownColumns("key"), _Unfolding(text, name)
    for node in top.value:
        where = f"{name}, line {node.start_mark.line + 1}"
        yield _from_value(unfolding.value(node, where), where, strangers)
    strangers.dismiss()


_LOADER: type[yaml.BaseLoader | yaml.CBaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Scalars are never resolved; the one in C is ten times as fast, where there is one."""
_NOTHING = ("", "~", "null")
"""How YAML writes that there is no value."""
_DEEPEST = 50
"""Lists and mappings inside each other: an entry has two, and what stands under other names may have some more."""
_UNFOLDED = 20
"""Values for each letter of a file: `- *a` is short, and stands for an entry with at most four of them."""


def _refuse_deep(text: str, name: str) -> None:
    """Lists in lists in lists would exhaust the stack of the loader in C, and end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise Complaint(f"{name}, line {event.start_mark.line + 1}: is nested too deeply")


class _Unfolding:
    """YAML nodes as `_from_value` wants them: scalars as they were written, aliases as what they stand for.

    Aliases of lists of aliases can stand for more than any memory holds, so there is a limit on what is written out.
    """

    def __init__(self, text: str, name: str) -> None:
        self._left, self._name = _UNFOLDED * len(text), name

    def value(self, node: yaml.Node, where: str, depth: int = 2) -> object:
        """A scalar as text or None, a list, or pairs of key and value."""
        self._left -= 1
        if self._left < 0:
            raise Complaint(f"{self._name}: its aliases stand for too much; write the entries out")
        if isinstance(node, yaml.ScalarNode):
            return str(node.value) if node.style or node.value.lower() not in _NOTHING else None
        if not depth:
            raise Complaint(f"{where}: {_SHAPE}")
        if isinstance(node, yaml.MappingNode):
            return _Pairs((str(key.value), self.value(value, where, depth - 1)) for key, value in node.value)
        return [self.value(value, where, depth - 1) for value in node.value]
