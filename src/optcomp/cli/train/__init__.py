"""The command `train`: from the settings of a training run to a proved ε."""
