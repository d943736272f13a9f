"""To be opened."""
