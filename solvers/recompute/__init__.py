"""The reference numbers computed again, from relations of the catalogue and shipped data."""
