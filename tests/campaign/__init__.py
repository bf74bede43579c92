"""The soundness campaign: random instances through the certified engine, judged by oracles that share no code with it.

`python -m tests.campaign --help` tells how to run it, or a single instance of it again.
"""
