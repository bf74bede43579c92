"""A file as people have them: `python examples/make_dirty.py "Loehne 2024.csv"` writes one about invented people.

Names with blanks, decimal commas, points between thousands, Latin-1, dates as in German letters, several rows of a
person, 38 % of wages missing, and regions that are misspelled now and then.
"""

from __future__ import annotations

import datetime
import random
import sys
from pathlib import Path

REGIONS = ("Nord", "Süd", "Ost", "West")
MISSPELLED = {"Nord": "nord", "Süd": "Sued", "Ost": "Osten", "West": " West"}
HEADER = "Kunden-Nr;Alter (Jahre);Region;Lohn (EUR);Eintritt"


def text(people: int = 3000, seed: int = 1) -> str:
    """The lines of the file."""
    draw = random.Random(seed)
    lines = [HEADER]
    for person in range(people):
        age, region = draw.randint(18, 75), draw.choice(REGIONS)
        for _ in range(draw.choice((1, 1, 2, 3))):
            said = MISSPELLED[region] if draw.random() < 0.03 else region
            wage = "" if draw.random() < 0.38 else german(draw.triangular(900, 6500, 2600))
            day = datetime.date(2015, 1, 1) + datetime.timedelta(days=draw.randrange(3650))
            lines.append(f"{10_000 + person};{age};{said};{wage};{day:%d.%m.%Y}")
    return "\n".join(lines) + "\n"


def german(amount: float) -> str:
    """With a comma and points: 1.234,50."""
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(text().encode("latin-1"))
