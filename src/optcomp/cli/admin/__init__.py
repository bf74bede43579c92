"""The commands `admin …`: for whoever runs a data centre."""
