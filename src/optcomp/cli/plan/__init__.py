"""The commands `plan`, `plan check`, `plan release`, `plan schema`."""
