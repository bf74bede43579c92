"""What `compose` and `compare` need beyond tables: the plot of totals, and which theorems are left out."""
