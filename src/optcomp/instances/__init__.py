"""What is composed: (ε, δ) parts, mixtures with mechanisms and Rényi bounds, leaks and sums; no theorem is known."""

from optcomp.instances.coins import coins_of
from optcomp.instances.leaks import leak, log_kept, slack, with_leaks
from optcomp.instances.mixture import Laws, Mixture, check_neighbours
from optcomp.instances.moments import (
    at_most_one,
    delta_sum,
    epsilon_sum,
    mean_loss,
    squares,
    total_delta,
    total_epsilon,
    within,
)
from optcomp.instances.parts import Group, Parts

__all__ = [
    "Group",
    "Laws",
    "Mixture",
    "Parts",
    "at_most_one",
    "check_neighbours",
    "coins_of",
    "delta_sum",
    "epsilon_sum",
    "leak",
    "log_kept",
    "mean_loss",
    "slack",
    "squares",
    "total_delta",
    "total_epsilon",
    "with_leaks",
    "within",
]
