"""What can be asked of a table: domains, sensitivities, expressions; nothing here spends budget."""
