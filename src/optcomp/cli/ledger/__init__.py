"""The commands `ledger …`: for whoever owns a ledger, and for auditors."""
