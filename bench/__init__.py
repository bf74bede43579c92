"""Side-by-side measurements: optcomp, the accountants of other packages, and Murtagh–Vadhan as published.

`python -m bench` asks every contender the same questions in one run and writes the answers to `results.md`.
Every contender answers in a process of its own with a limit on time and memory; imports are not timed.  A peer is
shown with its default settings and with the best settings found for it, each as a row of its own.
"""
