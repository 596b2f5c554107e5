"""The deployment model: how the sheet's formulas compose into one serving deployment."""
