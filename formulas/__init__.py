"""What is known: units, quantities, formulas, numbers, hardware and models."""
