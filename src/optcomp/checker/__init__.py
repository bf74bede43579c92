"""An independent check of certificates: claims are proved again in ball arithmetic, with no code of the other rooms.

What is trusted here is Arb (through python-flint) and Python's integers and fractions; floats and numpy only make
choices.
"""

from optcomp.checker.balls import Exact
from optcomp.checker.document import digest, from_json
from optcomp.checker.verify import Verdict, check

__all__ = ["Exact", "Verdict", "check", "digest", "from_json"]
