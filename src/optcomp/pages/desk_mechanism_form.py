"""A form for interactive mechanisms: its fields follow from what the classes in the register take."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from optcomp.interactive import Mechanism, known_mechanisms
from optcomp.pages.desk_form import Field, value_of
from optcomp.statistics import Count, Declared, Numbers

_SUGGESTED = {
    "threshold": "1000",
    "tolerance": "200",
    "epsilon": "0.1",
    "corrections": "5",
    "questions": "100",
    "sigma_threshold": "50",
    "sigma_questions": "100",
}
"""What is in fields that must be filled, before anybody has."""
_LONGEST = 4000
"""Letters of one field."""


@dataclass(frozen=True)
class MechanismForm:
    """What somebody has chosen so far."""

    kind: type[Mechanism]
    kinds: tuple[type[Mechanism], ...]
    fields: tuple[Field, ...]

    @property
    def names(self) -> set[str]:
        """The names of all fields."""
        return {"mechanism", *(field.name for field in self.fields)}

    def spec(self) -> Mechanism:
        """The mechanism; refuses what makes no sense, by the name of the field."""
        arguments: dict[str, Any] = {}
        for field in self.fields:
            if field.about:
                if field.value:
                    arguments.setdefault(field.name.partition(".")[0], {})[field.about] = value_of(field)
            elif field.value or field.kind == "columns":
                arguments[field.name] = value_of(field)
        wanted = inspect.signature(self.kind).parameters
        missing = {name: "" for name, each in wanted.items() if each.default is each.empty and name not in arguments}
        return self.kind(**missing, **arguments)


def read_mechanism_form(given: QueryParams, declared: Declared) -> MechanismForm:
    """The form of an address."""
    kinds = known_mechanisms()
    kind = next((each for each in kinds if each.kind == given.get("mechanism")), kinds[0])
    return MechanismForm(kind, kinds, tuple(_fields(kind, given, declared)))


def _fields(kind: type[Mechanism], given: QueryParams, declared: Declared) -> Iterator[Field]:
    for name, parameter in inspect.signature(kind).parameters.items():
        wanted, value = str(parameter.annotation), given.get(name, _default(name, parameter, declared)).strip()
        value = value[:_LONGEST]
        if wanted.startswith("Sequence[str]"):
            yield Field(name, "columns", "", _marked(given, name, declared), tuple(declared.columns))
        elif wanted.startswith("Mapping"):
            for column in _marked(given, "columns", declared):
                if isinstance(declared.columns[column], Numbers):
                    own = f"{name}.{column}"
                    yield Field(own, "numbers", given.get(own, "").strip()[:_LONGEST], about=column)
        elif wanted == "bool":
            yield Field(name, "truth", value)
        else:
            yield Field(name, {"int": "whole", "str | None": "text"}.get(wanted, "number"), value)


def _marked(given: QueryParams, name: str, declared: Declared) -> tuple[str, ...]:
    found = tuple(each for each in given.getlist(name) if each in declared.columns)
    return found or tuple(declared.columns)[:1]


def _default(name: str, parameter: inspect.Parameter, declared: Declared) -> str:
    if name == "sensitivity":  # what one person changes a count by
        return str(Count().parts(declared)[0].l1)
    if isinstance(parameter.default, bool):
        return "yes" if parameter.default else "no"
    if parameter.default in (None, parameter.empty):
        return _SUGGESTED.get(name, "")
    return str(parameter.default)
