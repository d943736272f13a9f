"""ONE ROOM PER PAPER: its settings, tables, claims and pages, assembled from the general rooms."""
