"""A survey of invented people, in the manner of a public-use file: what the demonstration is about.

60,000 rows about 40,000 people who answered once or twice; no row is about anybody.  The columns hang together
as in life (income on age, education, hours and region), so that models of them have something to find; some values are
missing, and a few are plainly wrong, as always.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from optcomp.statistics import Categories, Domain, Integers, Reals

REGIONS = ("north", "east", "south", "west", "centre", "islands")
"""Where people live."""
EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
"""What they learned, in order."""
COLUMNS: dict[str, Domain] = {
    "year": Integers(2021, 2023),
    "region": Categories(REGIONS),
    "age": Integers(16, 100),
    "woman": Categories([False, True]),
    "education": Categories(EDUCATION),
    "employed": Categories([False, True]),
    "hours": Integers(0, 80),
    "household": Integers(1, 8),
    "income": Reals(0, 150_000),
    "satisfaction": Integers(0, 10),
}
"""What each column may hold; a person has up to two rows."""
VISITS = "visits.csv"
"""The name of the file of visits to a clinic, which nobody has cleaned."""
_PATIENTS = 1200
"""How many there are in it."""
_PEOPLE, _ROWS, _SEED = 40_000, 60_000, 20_250_701
"""How many there are, and where their numbers begin: the table is the same everywhere."""


def invented_people() -> pa.Table:
    """The table: the same whenever it is made."""
    rng = np.random.default_rng(_SEED)
    waves = 1 + (rng.permutation(_PEOPLE) < _ROWS - _PEOPLE).astype(np.int64)
    person = np.repeat(np.arange(_PEOPLE), waves)
    first = np.concatenate(([0], np.cumsum(waves)[:-1]))
    wave = np.arange(_ROWS) - first[person] + rng.integers(0, 4 - waves)[person]

    region = rng.choice(len(REGIONS), _PEOPLE, p=[0.22, 0.18, 0.25, 0.15, 0.17, 0.03])
    age = 16 + (84 * rng.beta(1.5, 2.1, _PEOPLE)).astype(int)
    learned = rng.normal(0, 1, _PEOPLE) - 0.02 * (age - 45) + np.array([0.1, 0, -0.1, 0.2, 0.5, -0.3])[region]
    education = np.digitize(learned, [-1.1, 0.0, 0.7, 1.4])
    woman = rng.random(_PEOPLE) < 0.51
    works = 1 / (1 + np.exp(-(1.2 - 0.002 * (age - 42.0) ** 2 + 0.3 * education - 0.4 * woman)))
    logs = 9.6 + 0.16 * education + 0.9 * np.sin(np.clip(age - 16, 0, 60) / 60 * np.pi) - 0.12 * woman
    logs = logs + np.array([0.1, 0.0, -0.15, 0.05, 0.2, -0.1])[region] + rng.normal(0, 0.45, _PEOPLE)

    now = age[person] + wave
    employed = rng.random(_ROWS) < works[person]
    hours = np.where(employed, np.clip(rng.normal(37 - 5 * woman[person], 9), 2, 80), 0).round()
    income = np.exp(logs[person] + 0.02 * wave + rng.normal(0, 0.1, _ROWS)) * np.where(employed, 0.5 + hours / 74, 0.45)
    content = np.clip(np.round(6.2 + 0.35 * np.log(income / 20000) + rng.normal(0, 1.7, _ROWS)), 0, 10)
    household = 1 + rng.poisson(np.where(now < 30, 1.1, np.where(now < 60, 1.9, 0.8)))

    income = np.where(rng.random(_ROWS) < 0.001, income * 1000, income)  # a decimal point gone astray
    hidden = rng.random(_ROWS) < 0.06
    silent = rng.random(_ROWS) < 0.03
    named = np.array(EDUCATION, dtype=object)[education][person]
    named[rng.random(_ROWS) < 0.004] = "n/a"
    order = rng.permutation(_ROWS)
    columns = {
        "person": person,
        "year": 2021 + wave,
        "region": np.array(REGIONS, dtype=object)[region][person],
        "age": now,
        "woman": woman[person],
        "education": named,
        "employed": employed,
        "hours": hours.astype(int),
        "household": household,
    }
    table = {name: pa.array(values[order]) for name, values in columns.items()}
    table["income"] = pa.array(np.round(income[order], 2), mask=hidden[order])
    table["satisfaction"] = pa.array(content[order].astype(int), mask=silent[order])
    return pa.table(table)


def invented_visits() -> str:
    """Visits of invented patients to a clinic, as a file of lines with the usual dirt in it.

    Some patients came more often than others; some cells are empty, words, units or dates where numbers belong; wards
    are spelt in several ways; and a few lines lack a cell.
    """
    rng = np.random.default_rng(_SEED)
    lines = ["patient,age,sex,ward,days,cost"]
    wards = ("surgery", "medicine", "children", "maternity", "Surgery ", "med.")
    for patient in range(_PATIENTS):
        age, sex = int(rng.integers(0, 101)), str(rng.choice(["f", "m"]))
        for _ in range(1 + int(rng.poisson(0.8))):
            days = int(rng.geometric(0.3))
            cells = [f"P{patient:04d}", str(age), sex, str(rng.choice(wards, p=[0.4, 0.3, 0.15, 0.1, 0.03, 0.02]))]
            cells += [str(days), f"{days * 410 * rng.lognormal(0, 0.3):.2f}"]
            lines.append(",".join(_dirty(cells, rng)))
    return "\n".join(lines) + "\n"


def _dirty(cells: list[str], rng: np.random.Generator) -> list[str]:
    """One record, with something wrong in it now and then."""
    chance = rng.random()
    if chance < 0.01:
        return cells[:-1]
    wrong = {
        0.03: (1, "unknown"),
        0.05: (1, ""),
        0.06: (4, "3 days"),
        0.08: (5, "n/a"),
        0.09: (5, "1.200,00"),
        0.1: (0, ""),
    }
    found = next((each for limit, each in wrong.items() if chance < limit), None)
    if found is not None:
        cells[found[0]] = found[1]
    return cells
