"""JAX-Privacy through dp-accounting: a configuration whose accountant answers with our bounds.

Optional: `pip install 'optcomp[interop]' jax-privacy`.
"""

from __future__ import annotations

from dataclasses import dataclass

from optcomp.extras import needed

needed("dp_accounting", "interop")
needed("jax_privacy", "interop")

from jax_privacy.accounting import DpAccountantConfig

from optcomp.interop.accountant import OptcompAccountant


@dataclass(kw_only=True, slots=True)
class OptcompAccountantConfig(DpAccountantConfig):  # type: ignore[misc]  # JAX-Privacy is not typed for us
    """In place of `RdpAccountantConfig` or `PldAccountantConfig`; records are added or removed."""

    def create_accountant(self) -> OptcompAccountant:
        """A new accountant with nothing in it."""
        return OptcompAccountant()
