"""THE ANSWER: figures, tables and one page about what was simulated. Nothing in this room simulates.

May import `loop` and `data`, whose runs and episodes it shows, and nothing above them.
"""
