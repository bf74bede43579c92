"""Training with noisy gradients over the whole range of settings, and losses on a lattice.

`python -m bench --only training` asks optcomp and the peers the same questions in one run of some minutes.  Questions
are those of `bench.losses` in form; the peers that trainers use are beside us, in the way that Opacus asks them.
"""
