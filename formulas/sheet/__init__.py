"""The cheat sheet, one module for each of its sections."""
