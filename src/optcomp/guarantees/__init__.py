"""What a mechanism promises, as immutable values; nothing here composes anything."""

from optcomp.guarantees.approximate import ApproxDP, Guarantee, PureDP

__all__ = ["ApproxDP", "Guarantee", "PureDP"]
