"""The deployment space: its best configuration with a proof, and why there is none."""
