"""THE ANSWER: figures, tables and one page about what was simulated. Nothing in this room simulates."""
