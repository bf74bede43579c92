"""Receipts: where in which ledger something was entered, to be kept by whoever was given an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from optcomp.errors import InvalidInput, Written
from optcomp.ledger.chain import commitment


@dataclass(frozen=True, repr=False)
class Receipt(Written):
    """Proof for whoever keeps it that a ledger had come this far: a ledger without this head has lost something."""

    ledger: str
    account: str
    sequence: int
    head: str
    commitment: str | None = None
    """SHA-256 of a secret salt and the answer, if there is an answer."""

    def opens(self, salt: str, answer: str) -> bool:
        """Whether this answer is the one that was committed to: both texts as `Ledger.opening` gives them."""
        return self.commitment is not None and commitment(salt, answer) == self.commitment

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    @classmethod
    def read(cls, document: object) -> Receipt:
        """A receipt as `document` wrote it."""
        if not isinstance(document, Mapping) or set(document) != set(cls.__dataclass_fields__):
            raise InvalidInput("receipt", document, f"must have the entries {', '.join(cls.__dataclass_fields__)}")
        texts = [document[name] for name in ("ledger", "account", "head")]
        sequence, committed = document["sequence"], document["commitment"]
        whole = isinstance(sequence, int) and not isinstance(sequence, bool) and sequence >= 0
        if not whole or not all(isinstance(text, str) for text in texts) or not isinstance(committed, str | None):
            raise InvalidInput("receipt", document, "is not as it was written")
        return cls(texts[0], texts[1], sequence, texts[2], committed)
