"""The page of theorems: one card for each id, with hypotheses, source, proof, code, test, oracle and figure."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import optcomp as oc
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


def card_notes() -> dict[str, dict[str, str]]:
    """Proof and figure of each theorem, by its id."""
    found: dict[str, dict[str, str]] = tomllib.loads((DOCS / "theorem_cards.toml").read_text(encoding="utf8"))
    return found


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
    ]
    for record in oc.known_theorems():
        note = notes.get(record.id, {})
        lines += [f"## {record.id}", "", f"*{record.name}*", "", record.statement, ""]
        lines += [f"- Needs: {record.hypotheses}"]
        lines += [f"- Parameters: {record.parameters}. Interaction: {record.interaction}."]
        lines += [f"- Value: {'the best possible' if record.optimal else 'an upper bound'}."]
        lines += [f"- Also known as {', '.join(record.aliases)}."] if record.aliases else []
        lines += [f"- Source: {record.source}."]
        lines += [f"- Proof, or why it may be used: [{note['proof']}]({note['proof']})"] if "proof" in note else []
        lines += [f"- Code: {_links(code_of(record)) or 'none of its own'}"]
        lines += [f"- Test: {_links(tests_of(record)) or 'none yet'}"]
        lines += [f"- Oracle: {_links(oracles_of(record)) or 'within the test, in exact numbers'}"]
        lines += [f"- Figure: [{note['figure']}]({note['figure']})"] if "figure" in note else []
        lines += [""]
    return "\n".join(lines)


def _links(paths: list[str]) -> str:
    return ", ".join(f"[{path}](../{path})" for path in paths)


PAGES = {"theorems.md": theorem_page}
