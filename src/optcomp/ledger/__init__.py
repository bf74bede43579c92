"""Durable accounts of groups of people: budgets that outlive the process."""
