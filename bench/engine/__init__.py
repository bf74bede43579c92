"""The certified engine: long lists of different ε, hard lists, memory, first calls, growing lists, and plots.

`python -m bench --only engine` asks optcomp and the peers about the same lists in one run.  Our own bracket serves as
the truth; where an independent reference is affordable (k <= 1000) it is compared with that.
"""
