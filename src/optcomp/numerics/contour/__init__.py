"""The excess E(1 - e^{y-L})_+ of a long sum of coins by a smoothed contour integral, every error bounded.

`docs/engine.md` has the proof; each module names the part of it that it implements.
"""
