"""Mechanisms whose privacy loss is known: Gaussian, Laplace, randomized response, subsampled Gaussian, and a mixture.

`python -m bench --only losses` asks optcomp and the peers the same questions in one run.  A question is written in
optcomp's mechanisms; each peer translates them into its own.  Our bracket serves as the truth, and an independent
computation in floats (`bench.losses.references`) says whether it agrees.
"""
