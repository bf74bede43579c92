"""Certified arithmetic that knows nothing of privacy.

A *coin* of size x > 0 lands on +x with probability e^x/(1+e^x) and on -x otherwise; L is a sum of
independent coins.  Everything here encloses the law of L and its *excess* E(1 - e^{y-L})_+, either in
ball arithmetic (scalars, arbitrary precision) or in float64 arrays with every rounding counted.
"""
