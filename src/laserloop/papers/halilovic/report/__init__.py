"""Figures, tables and the page about the paper. Nothing in this room simulates."""
