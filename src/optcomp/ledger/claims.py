"""What an account claims in advance: the total of a cap that was fixed before its first request.

A cap that is chosen after answers were seen limits what comes, but the choice may depend on the answers: it is no
promise about them.  The first cap, if there was one, stays the promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.interactive import Filter, restore


def with_cap(about: Mapping[str, Any], opened: object, *, used: bool) -> dict[str, Any]:
    """What is said about an account that is given another cap; `opened` is the document of the cap it had."""
    if not used:
        return {**about, "capped": True}
    promise = about.get("promise", opened if about["capped"] else None)
    return {**about, "capped": True, "promise": promise}


def promised(about: Mapping[str, Any], opened: object) -> Filter | None:
    """The filter whose total is claimed, whatever was asked; None if no cap was fixed in advance."""
    found = about.get("promise", opened) if about["capped"] else None
    return None if found is None else restore(found)
