"""Conditions against a reader of our own, and what is no condition against none at all."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.statistics import Categories, Count, Domain, Histogram, Integers, Mean, Numbers, Reals
from optcomp.statistics.predicates import check_condition, columns_of, in_condition
from tests.unit.statistics.people import Changing

NAN = float("nan")
TYPES = {"a": "BIGINT", "r": "DOUBLE", "c": "VARCHAR", "b": "BOOLEAN", "k": "INTEGER", "PERSON": "VARCHAR"}
WORDS = ["x", "it's", "\\", 'q"q', "é\n", "--", "%", ""]
COLUMNS: dict[str, Domain] = {
    "a": Integers(-3, 3),
    "r": Reals(-2, 2),
    "c": Categories(WORDS),
    "b": Categories([True, False]),
    "k": Categories([1, 5]),
    "PERSON": Categories(["p", "q"]),
}
ROWS: list[tuple[Any, ...]] = [
    (0, 0.5, "x", True, 1, "p"),
    (3, NAN, "it's", False, 5, "q"),
    (-9, -9.0, "\\", None, 2, None),
    (None, None, None, True, None, "zz"),
    (2, 2.0, 'q"q', False, 1, "p"),
    (99, float("inf"), "é\n", True, 5, "q"),
    (-1, -0.0, "unknown", None, 5, "p"),
    (1, 1e-9, "", False, -1, "q"),
]
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
Clean = dict[str, Any]
Condition = tuple[str, Callable[[Clean], bool]]


def cleaned(row: tuple[Any, ...]) -> Clean:
    """What a condition may see of a row: values in their domains and on their grids, or nothing."""
    found: Clean = {}
    for (name, domain), value in zip(COLUMNS.items(), row, strict=True):
        if isinstance(domain, Numbers):
            missing = value is None or value != value
            found[name] = None if missing else on_grid(domain, Fraction(min(max(value, domain.low), domain.high)))
        else:
            assert isinstance(domain, Categories)
            found[name] = value if value in domain.values else None
    return found


def on_grid(domain: Numbers, value: Fraction) -> Fraction:
    """The nearest multiple of the step, the greater of two."""
    return math.floor(value / domain.step + Fraction(1, 2)) * domain.step


def same(name: str, value: Any, constant: Any) -> bool:
    """Whether a cell is equal to a constant: numbers are rounded to the grid first."""
    domain = COLUMNS[name]
    return bool(value == (on_grid(domain, Fraction(repr(constant))) if isinstance(domain, Numbers) else constant))


def compares(name: str, sign: str, value: Any, constant: Any) -> bool:
    """Exactly, but for equality."""
    if sign in ("==", "!="):
        return same(name, value, constant) == (sign == "==")
    return SIGNS[sign](value, constant)


constants: dict[str, st.SearchStrategy[Any]] = {
    "a": st.integers(-4, 4) | st.floats(-4, 4),
    "r": st.integers(-4, 4) | st.floats(-4, 4) | st.integers(-9, 9).map(lambda n: n * 2.0**-19),
    "c": st.sampled_from(WORDS) | st.text(max_size=3),
    "b": st.booleans(),
    "k": st.sampled_from([1, 2, 5, -1, 1.5]),
    "PERSON": st.sampled_from(["p", "q", "o", "it's"]),
}


declared: dict[str, st.SearchStrategy[Any]] = constants | {
    "c": st.sampled_from(WORDS),
    "k": st.sampled_from([1, 5]),
    "PERSON": st.sampled_from(["p", "q"]),
}
"""What a cell may be compared with for equality: of categories those that are declared."""


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    name = draw(st.sampled_from(sorted(constants)))
    sign, other = draw(st.sampled_from(sorted(SIGNS))), draw(st.sampled_from(sorted(SIGNS)))
    first, second = (draw((declared if each in ("==", "!=") else constants)[name]) for each in (sign, other))
    many = draw(st.lists(declared[name], max_size=3))
    listed = ", ".join(map(repr, many))
    told = f"({listed},)" if many else "()"

    def on(test: Callable[[Any], bool]) -> Callable[[Clean], bool]:
        return lambda row: row[name] is not None and test(row[name])

    shapes: list[Condition] = [
        (f"{name} {sign} {first!r}", on(lambda x: compares(name, sign, x, first))),
        (f"{first!r} {sign} {name}", on(lambda x: compares(name, MIRRORED[sign], x, first))),
        (
            f"{first!r} {sign} {name} {other} {second!r}",
            on(lambda x: compares(name, MIRRORED[sign], x, first) and compares(name, other, x, second)),
        ),
        (f"{name} is None", lambda row: row[name] is None),
        (f"{name} is not None", lambda row: row[name] is not None),
        (f"{name} in {told}", on(lambda x: any(same(name, x, each) for each in many))),
        (f"{name} not in [{listed}]", on(lambda x: not any(same(name, x, each) for each in many))),
        ("b", lambda row: bool(row["b"])),
    ]
    return draw(st.sampled_from(shapes))


def joined(children: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    def both(pair: tuple[Condition, Condition]) -> Condition:
        (left, p), (right, q) = pair
        return f"({left}) and ({right})", lambda row: p(row) and q(row)

    def either(pair: tuple[Condition, Condition]) -> Condition:
        (left, p), (right, q) = pair
        return f"({left}) or ({right})", lambda row: p(row) or q(row)

    def neither(one: Condition) -> Condition:
        text, p = one
        return f"not ({text})", lambda row: not p(row)

    pairs = st.tuples(children, children)
    return pairs.map(both) | pairs.map(either) | children.map(neither)


conditions = st.recursive(comparisons(), joined, max_leaves=6)


@cache
def tables() -> tuple[Changing, Changing]:
    """Without people, and with: every row its own."""
    found = Changing(TYPES, COLUMNS), Changing({**TYPES, "who": "BIGINT"}, COLUMNS, person="who")
    found[0].fill(ROWS)
    found[1].fill([(*row, i) for i, row in enumerate(ROWS)])
    return found


def fits(where: str) -> bool:
    """Whether a plan could hold it, for which there is no engine yet."""
    try:
        check_condition(where, COLUMNS)
    except InvalidInput:
        return False
    return True


@settings(max_examples=70)
@given(conditions)
def test_a_condition_selects_the_rows_that_satisfy_it(condition: Condition) -> None:
    text, truth = condition
    assert fits(text)
    expected = [i for i, row in enumerate(ROWS) if truth(cleaned(row))]
    plain, personal = tables()
    assert Count(where=text).measure(plain.table) == ((len(expected),),), text
    (counts,) = Histogram("a", where=text).measure(personal.table)
    for i in range(-3, 4):
        assert counts[i + 3] == sum(cleaned(ROWS[row])["a"] == i for row in expected), text


@pytest.mark.parametrize("sign", sorted(SIGNS))
def test_comparisons_may_be_written_from_either_side(sign: str) -> None:
    table, numbers = tables()[0].table, [cleaned(row)["a"] for row in ROWS]
    for constant in (-1, 2):
        left = sum(a is not None and SIGNS[sign](a, constant) for a in numbers)
        right = sum(a is not None and SIGNS[sign](constant, a) for a in numbers)
        assert Count(where=f"a {sign} {constant}").measure(table) == ((left,),)
        assert Count(where=f"{constant} {sign} a").measure(table) == ((right,),)


def test_missing_values_satisfy_no_comparison_but_can_be_asked_for() -> None:
    table = tables()[0].table
    expected = {"r < 0": 1, "r >= 0": 5, "not r >= 0": 3, "r is None": 2, "r != 7": 6, "b != True": 3}
    for text, count in expected.items():
        assert Count(where=text).measure(table) == ((count,),), text


@pytest.mark.slow_cases("1/10")
@pytest.mark.parametrize("step", ["1/10", "1/3", "7"])
def test_constants_are_compared_exactly_with_what_cells_stand_for(step: str) -> None:
    """A constant is the decimal that was written: 0.1 is one tenth. `==` rounds it to the grid."""
    unit = Fraction(step)
    domain, values = Reals(-3 * unit, 30 * unit, unit=unit), [i * unit for i in range(-3, 31)]
    changing = Changing({"x": "DOUBLE"}, {"x": domain})
    changing.fill([(float(value),) for value in values])
    near = [value + unit * Fraction(k, 8) for value in values[::5] for k in (-3, -1, 0, 1, 3)]
    for constant in [*map(float, near), 0.1, 0.3, 1e300, -1e300, 5e-324, 0]:
        for sign in ("<", "<=", ">", ">="):
            expected = sum(SIGNS[sign](value, Fraction(repr(constant))) for value in values)
            assert Count(where=f"x {sign} {constant!r}").measure(changing.table) == ((expected,),), (sign, constant)
        equal = sum(value == on_grid(domain, Fraction(repr(constant))) for value in values)
        assert Count(where=f"x == {constant!r}").measure(changing.table) == ((equal,),), constant
        assert Count(where=f"x != {constant!r}").measure(changing.table) == ((len(values) - equal,),), constant
        assert Count(where=f"x in ({constant!r}, 1e9)").measure(changing.table) == ((equal,),), constant


HOSTILE = [
    "open('{path}', 'w')",
    "__import__('os').system('touch {path}')",
    "a < open('{path}', 'w')",
    "a < (lambda: 1)()",
    "[a for a in (1,)] == a",
    "a.__class__ == 1",
    "a[0] == 1",
    "(a := 1) == 1",
    "a == b",
    "a == a",
    "1 == 1",
    "a",
    "not a",
    "True",
    "a == None",
    "a is 1",
    "None is a",
    "a == 'x'",
    "c == 1",
    "b == 1",
    "k == True",
    "a == 1j",
    "c == b'x'",
    "c == f'{{a}}'",
    "c < 'x' 'y' + 'z'",
    "a == --1",
    "c == -'x'",
    "b == -True",
    "a == 9223372036854775808",
    "r < 1e999",
    "r == -1e999",
    "a in 5",
    "a in (b,)",
    "5 in (a,)",
    "a in ((1,),)",
    "a < 1 if b else a > 1",
    "a + 1 < 2",
    "a & b",
    "a == 1; b",
    "a = 1",
    "a == 1\nb",
    "a == 1 # \x00",
    "c == '\\ud800'",
    "*a",
    "a == ...",
    "await a",
    "yield",
    "{{a: 1}} == a",
    "unknown == 1",
    "optcomp_test0 == 1",
    "who == 1",
    "a == 1 --",
    "c == 'x' or 1=1",
    "); DROP TABLE people; --",
    "",
    "   ",
    "(" * 500 + "a" + ")" * 500,
    "not " * 400 + "a == 1",
    "-" * 900 + "1 < a",
    "a == " + "1" * 3000,
    "a" * 1999,
    5,
    0,
    True,
    b"a == 1",
    ["a == 1"],
    {"a": 1},
    object(),
]


@pytest.mark.parametrize("where", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_condition_is_refused_and_not_run(where: Any, tmp_path: Path) -> None:
    path = tmp_path / "made"
    where = where.format(path=path) if isinstance(where, str) else where
    table = tables()[1].table
    assert not fits(where)
    for statistic in (Count(where=where), Mean("a", where=where), Histogram("c", where=where)):
        with pytest.raises(InvalidInput) as caught:
            statistic.check(table)
        assert caught.value.argument == "where"
    assert not path.exists()


@settings(max_examples=200)
@given(st.text(max_size=40) | st.text("abcr k()=<>'\"1.-notadifs[]{}:,", max_size=25))
def test_any_text_is_a_condition_or_refused(where: str) -> None:
    accepted = False
    with suppress(InvalidInput):
        Count(where=where).measure(tables()[0].table)
        accepted = True
    assert fits(where) == accepted


def test_long_conditions_are_no_deeper_than_they_must_be() -> None:
    table = tables()[0].table
    assert Count(where=" or ".join(["a==0"] * 249)).measure(table) == ((1,),)
    assert Count(where="(" * 90 + "a==0" + ")" * 90).measure(table) == ((1,),)
    assert Count(where="not " * 50 + "a==0").measure(table) == ((1,),)
    assert Count(where=f"a in {tuple(range(300))}").measure(table) == ((5,),)


def test_text_without_quotes_is_told_of_them() -> None:
    with pytest.raises(
        InvalidInput, match=r"^where: is not a declared column \(.*\); text needs quotes, .*got 'north'$"
    ):
        Count("c == north").check(tables()[1].table)


def test_integers_that_no_float_holds_are_refused_as_constants() -> None:
    far = "1" + "0" * 400
    for where in (f"x < {far}", f"x == -{far}", f"x in (1, {far})"):
        for domain in (Integers(0, 5), Reals(0, 5), Categories([1, 2])):
            with pytest.raises(InvalidInput, match="constants of its kind"):
                check_condition(where, {"x": domain})


def test_a_column_whose_name_is_no_word_stands_between_backquotes() -> None:
    columns: dict[str, Domain] = {
        "gross wage": Integers(0, 9),
        "class": Categories(["x", "a`b"]),
        "_0": Integers(0, 9),
    }
    for where in ("`gross wage` >= 5 and _0 < 3", "not (`class` == 'a`b')", "0 <= `gross wage` < 7"):
        check_condition(where, columns)
    assert columns_of("_0 < 1 or `class` != 'a`b' or `gross wage` > 1", columns) == ("_0", "class", "gross wage")
    for wrong in ("`gross` > 1", "`gross wage > 1", "`` > 1", "`gross wage` `class`"):
        with pytest.raises(InvalidInput):
            check_condition(wrong, columns)


@pytest.mark.parametrize(
    "name", ["age", "gross wage", "class", "Löhne 2024", "a-b", "x'y", 'x"y', "1st", "a`b", "``", "a\nb", "Größe (m)"]
)
def test_what_a_name_is_written_as_names_that_column(name: str) -> None:
    written = in_condition(name)
    assert written is not None
    assert columns_of(f"{written} > 1", {name}) == (name,)


def test_a_name_that_no_condition_can_hold_has_no_writing() -> None:
    assert in_condition("") is None


@pytest.mark.parametrize(
    "where",
    [
        "{} == {}",
        "{} != {}",
        "{1} == {0}",
        "{0} in ({1}, {2})",
        "{0} not in ({2}, {1})",
        "not {} == {}",
        "a == 0 or {} == {}",
    ],
)
@pytest.mark.parametrize(
    ("name", "wrong", "right"), [("c", "'Y'", "'x'"), ("k", "2", "1"), ("c", "'(other)'", "''"), ("k", "1.5", "5")]
)
def test_a_category_that_was_never_declared_is_refused_by_name(where: str, name: str, wrong: str, right: str) -> None:
    text = where.format(name, wrong, right)
    for ask in (lambda: check_condition(text, COLUMNS), lambda: Count(text).measure(tables()[0].table)):
        with pytest.raises(InvalidInput) as found:
            ask()
        assert found.value.argument == "where"
        assert f"names {wrong}" in found.value.problem
        assert repr(name) in found.value.problem
    check_condition(where.format(name, right, right), COLUMNS)
    check_condition(f"{name} < {wrong}", COLUMNS)  # where it would stand among them is no question
