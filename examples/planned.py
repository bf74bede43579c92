"""A survey planned and released: errors before anything is spent, one release, and the same release when asked again.

Run by `make demo`, or by itself: `python examples/planned.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from optcomp.planner import make_plan, read_file
from optcomp.release.released import release_plan

HERE = Path(__file__).parent


def main() -> None:
    """Plan, release, and try to release once more."""
    document = read_file(HERE / "plan.yaml")
    plan = make_plan(document)
    print("examples/plan.yaml: eight statistics of the survey within (ε, δ) = (1, 1e-6).\n")
    with tempfile.TemporaryDirectory() as folder:
        target, ledger = Path(folder) / "plan.release.json", Path(folder) / "people.ledger"
        released, _ = release_plan(document, HERE / "people.parquet", target, ledger=ledger)
        again, fresh = release_plan(document, HERE / "people.parquet", target, ledger=ledger)
        print(f"  {'statistic':<38} {'planned ±':>10} {'sums of ε':>10} {'sums of ρ':>10}   released")
        for line, entry in zip(plan.lines, released["statistics"], strict=True):
            sums, value = (plan.naive[line.wish.name], plan.by_rho[line.wish.name]), entry.get("value")
            shown = f"{len(entry['cells'])} cells" if value is None else f"{value:,.6g}"
            others = " ".join(f"{error:>10.4g}" for error in sums)
            print(f"  {line.wish.statistic!s:<38} {line.error:>10.4g} {others}   {shown}")
        total = released["guarantee"]["total"]["epsilon"]
        print(f"\n  {plan.verdict()}")
        same = again["statistics"] == released["statistics"] and not fresh
        outcome = "the same release, nothing spent" if same else "FAILED"
        print(f"  The total is ε = {total}, proved.  Asked again: {outcome}.")


if __name__ == "__main__":
    main()
