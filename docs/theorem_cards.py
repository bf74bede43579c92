"""The page of theorems: one card for each id, with hypotheses, source, proof, code, test, oracle and figure."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import optcomp as oc
from optcomp.pages.manual_text import anchor_of
from optcomp.theorems.register import CONCURRENT, Theorem

DOCS = Path(__file__).parent
ROOT = DOCS.parent
_MOST = 3
"""Files of code that a card names."""
_NOT_CODE = (
    "cli/",
    "theorems/register.py",
    "composition/left_out.py",
    "proofs/figures.py",
    "center/",
    "interactive/audit/",
)
"""Files that name theorems to tell about them."""


_BEGINNING = [
    "| you look for | its card |",
    "|---|---|",
    "| optimal composition of (ε, δ) | [KOV15-3.3](#kov15-33) for equal pairs, [MV18-1.5](#mv18-15) for any |",
    "| mechanisms with a known loss: Laplace, discrete noise, randomized response | [ZDW22](#zdw22) |",
    "| Gaussian noise alone | [DRS22](#drs22) |",
    "| Gaussian or Laplace noise on a Poisson sample | [ZDW22](#zdw22) for a person added or removed, "
    "[REPLACE](#replace) for a record replaced |",
    "| the same on batches of a fixed size | [ZDW22-11](#zdw22-11) |",
    "| Rényi DP, zCDP | [M17](#m17), [CKS20](#cks20), [BS16](#bs16), [BDRS18](#bdrs18) |",
    "| budgets for questions that nobody knows in advance | [RRUV16](#rruv16), [FZ21](#fz21), [WRRW23](#wrrw23), "
    "[BEST-FILTER](#best-filter) |",
    "| conversations with several mechanisms at once | [Lyu22-1](#lyu22-1), [Lyu22-2](#lyu22-2), [VZ22](#vz22) |",
    "",
    "Each card names a test, and the oracle that the test compares with. Run one in a clone, after `make setup`:",
    "",
    "```sh",
    ".venv/bin/python -m pytest -n0 tests/theorems/test_mv18_1_5.py",
    "```",
    "",
]
"""What a reader looks for, and how to run a test."""


def card_notes() -> dict[str, dict[str, Any]]:
    """Proof and figure of each theorem, by its id."""
    found: dict[str, dict[str, Any]] = tomllib.loads((DOCS / "theorem_cards.toml").read_text(encoding="utf8"))
    return found


def proofs_of(note: dict[str, Any]) -> list[str]:
    """Where a theorem is proved or explained: pages, perhaps with an anchor."""
    told = note.get("proof", [])
    found: list[str] = [told] if isinstance(told, str) else list(told)
    return found


def _titled(target: str) -> str:
    """A link to a page or to one of its sections, named by its title."""
    path, _, anchor = target.partition("#")
    titles = re.findall(r"^#+ (.+)$", (DOCS / path).read_text(encoding="utf8"), re.MULTILINE)
    section = [title for title in titles if anchor and anchor_of(title) == anchor]
    return f"[{': '.join([titles[0], *section[:1]]).replace('`', '')}]({target})"


def code_of(record: Theorem) -> list[str]:
    """Files that carry a theorem out: the one of its name, else those that name it, as paths below the root."""
    own = ROOT / "src" / "optcomp" / "theorems" / f"{_stem(record.id)}.py"
    if own.is_file():
        return [own.relative_to(ROOT).as_posix()]
    named = re.compile(rf"(?<![\w.-]){re.escape(record.id)}(?![\w-]|\.\d)")
    source = ROOT / "src" / "optcomp"
    found = [path for path in sorted(source.rglob("*.py")) if named.search(path.read_text(encoding="utf8"))]
    kept = [path for path in found if not path.relative_to(source).as_posix().startswith(_NOT_CODE)]
    kept.sort(key=lambda path: (path.parent.name != "theorems", path.as_posix()))
    return [path.relative_to(ROOT).as_posix() for path in kept[:_MOST]]


def tests_of(record: Theorem) -> list[str]:
    """The test of a theorem, if it is there."""
    name = f"tests/theorems/test_{_stem(record.id)}.py"
    return [name] if (ROOT / name).is_file() else []


def oracles_of(record: Theorem) -> list[str]:
    """What its test compares with: modules that share no code with the library."""
    text = "".join((ROOT / name).read_text(encoding="utf8") for name in tests_of(record))
    names = sorted(set(re.findall(r"tests\.oracles\.(\w+) import", text)) - {"checks", "instances"})
    return [f"tests/oracles/{name}.py" for name in names]


def _stem(id: str) -> str:
    return re.sub(r"[.-]", "_", id.lower())


def theorem_page() -> str:
    """One card for each theorem of the register."""
    notes = card_notes()
    lines = [
        "# Theorems",
        "",
        "Every answer names the theorem that proves it. The same text is shown by `optcomp theorems ID`. Printed",
        "proofs had to be corrected in places: [corrections to the sources](proofs/corrections.md).",
        "",
        f"Why interaction may be concurrent: {CONCURRENT}.",
        "",
        *_BEGINNING,
    ]
    for record in oc.known_theorems():
        note = notes.get(record.id, {})
        lines += [f"## {record.id}", "", f"*{record.name}*", "", record.statement, ""]
        lines += [f"- Needs: {record.hypotheses}"]
        lines += [f"- Parameters: {record.parameters}. Interaction: {record.interaction}."]
        lines += [f"- Value: {'the best possible' if record.optimal else 'an upper bound'}."]
        lines += [f"- Also known as {', '.join(record.aliases)}."] if record.aliases else []
        lines += [f"- Source: {record.source}."]
        lines += [f"- Proof, or why it may be used: {'; '.join(map(_titled, proofs_of(note)))}"]
        lines += [f"- Code: {_links(code_of(record)) or 'none of its own'}"]
        lines += [f"- Test: {_links(tests_of(record)) or 'none yet'}"]
        lines += [f"- Oracle: {_links(oracles_of(record)) or 'within the test, in exact numbers'}"]
        lines += [f"- Figure: [{note['figure']}]({note['figure']})"] if "figure" in note else []
        lines += [""]
    return "\n".join(lines)


def _links(paths: list[str]) -> str:
    return ", ".join(f"[{path}](../{path})" for path in paths)


PAGES = {"theorems.md": theorem_page}
