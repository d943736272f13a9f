"""Environments for learners: the loop of a task on the plant, and many loops at once on the twin."""
