"""One module for each theorem: pure functions, guarantees in, `Bound` out.  They do not choose between themselves."""

from optcomp.theorems.bound import Bound
from optcomp.theorems.register import Theorem, known_theorems, theorem

__all__ = ["Bound", "Theorem", "known_theorems", "theorem"]
