"""The total of a release, beside what other theorems prove, and one refusal.

Run by `make demo`, or by itself: `python examples/total.py`.  The release is examples/release.csv: statistics published
about the same people, each with its own ε (and sometimes δ); the question is their total at δ = 1e-6.
"""

from __future__ import annotations

import csv
from pathlib import Path

import optcomp as oc

RELEASE = Path(__file__).with_name("release.csv")
DELTA = "1e-6"


def main() -> None:
    """Compose the release, compare the theorems, and show one refusal."""
    with RELEASE.open(encoding="utf8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    parts: dict[oc.ApproxDP, int] = {}
    for row in rows:
        guarantee = oc.ApproxDP(row["epsilon"], row["delta"] or "0")
        parts[guarantee] = parts.get(guarantee, 0) + int(row["count"] or 1)

    total = oc.compose(parts, delta=DELTA)
    print(f"{total.count} statistics from {RELEASE.name}, about the same people, at a total δ of {DELTA}:")
    print(f"\n  ε = {total.epsilon} is enough, and no ε below {total.lower} would be:")
    name = oc.theorem(total.theorem).name
    print(f"  that is the optimal total, proved by {total.theorem}, {name} ({total.method})\n")
    for bound in oc.compare(parts, delta=DELTA):
        print(f"  {bound.upper:10.6f}  {bound.theorem:<12} {oc.theorem(bound.theorem).name}")
    print("\nHad the ε been chosen after seeing answers, that theorem would not cover them:")
    try:
        oc.compose(parts, delta=DELTA, method="exact", parameters="adaptive")
    except oc.HypothesisNotMet as error:
        print(f"  {error}")


if __name__ == "__main__":
    main()
