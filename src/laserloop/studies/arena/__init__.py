"""WHO IS BEST: tasks, entrants, runs, scores and the leaderboard; killed at any moment, it goes on.

Task ─► Scenario ─┐
                  ├─► run (record on disk) ─► scores ─► ranking ─► leaderboard
Entrant ──────────┘
"""
