"""Symmetric equations with two bands beside the diagonal, in plain floats: for guesses."""

from __future__ import annotations

import numpy as np

from optcomp.numerics.blocked import Floats


def solved(bands: tuple[Floats, Floats, Floats], one: Floats, two: Floats) -> tuple[Floats, Floats]:
    """Both solutions: the diagonal and the bands one and two beside it, and two right sides.

    The matrix must be positive definite; row i of a band stands for (i, i), (i, i + 1) and (i, i + 2).
    """
    pivots, near, far = ([*band.tolist(), 0.0, 0.0] for band in bands)
    a, b = [*one.tolist(), 0.0, 0.0], [*two.tolist(), 0.0, 0.0]
    size = one.size
    for i in range(size):
        first, second = near[i] / pivots[i], far[i] / pivots[i]
        pivots[i + 1] -= first * near[i]
        near[i + 1] -= first * far[i]
        pivots[i + 2] -= second * far[i]
        a[i + 1] -= first * a[i]
        a[i + 2] -= second * a[i]
        b[i + 1] -= first * b[i]
        b[i + 2] -= second * b[i]
    a[size:] = b[size:] = [0.0, 0.0]
    for i in range(size - 1, -1, -1):
        a[i] = (a[i] - near[i] * a[i + 1] - far[i] * a[i + 2]) / pivots[i]
        b[i] = (b[i] - near[i] * b[i + 1] - far[i] * b[i + 2]) / pivots[i]
    return np.array(a[:size]), np.array(b[:size])
