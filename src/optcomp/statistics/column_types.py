"""Which types of columns can hold what is declared of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcomp.errors import InvalidInput
from optcomp.statistics.dates import Dates
from optcomp.statistics.domains import Domain, Numbers

if TYPE_CHECKING:
    import pyarrow as pa


def fits(name: str, domain: Domain | None, kind: pa.DataType) -> None:
    """Refuses columns of a type that cannot hold what is declared; `None` is the column of people."""
    import pyarrow as pa

    is_a = pa.types
    while is_a.is_dictionary(kind):
        kind = kind.value_type
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    number = is_a.is_integer(kind) or is_a.is_floating(kind) or is_a.is_decimal(kind) or is_a.is_boolean(kind)
    text = is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind) or is_a.is_null(kind)
    raw = is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_binary_view(kind)
    if number or text or raw:
        return
    if isinstance(domain, Dates):
        if is_a.is_date(kind) or is_a.is_timestamp(kind):
            return
        raise InvalidInput("columns", name, f"must hold dates or text to be declared as dates, and holds {kind}")
    if isinstance(domain, Numbers):
        raise InvalidInput("columns", name, f"must hold numbers to be declared as numbers, and holds {kind}")
    if not (is_a.is_temporal(kind) or is_a.is_fixed_size_binary(kind)):
        raise InvalidInput("columns", name, f"must hold text, numbers, truth values or dates, and holds {kind}")
