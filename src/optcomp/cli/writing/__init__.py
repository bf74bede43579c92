"""What is printed: numbers, tables, lines and JSON."""
