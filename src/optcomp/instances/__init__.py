"""What is composed: (ε, δ) parts, mixtures with mechanisms and Rényi bounds, leaks and sums; no theorem is known."""

from optcomp.instances.coins import coins_of
from optcomp.instances.leaks import leak, log_kept, slack, with_leaks
from optcomp.instances.mixture import Laws, Mixture
from optcomp.instances.parts import Group, Parts

__all__ = ["Group", "Laws", "Mixture", "Parts", "coins_of", "leak", "log_kept", "slack", "with_leaks"]
