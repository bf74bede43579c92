"""The commands `data check` and `data prepare`: for whoever holds the data."""
