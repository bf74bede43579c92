"""What `compare` needs beyond tables: the plot of totals."""
