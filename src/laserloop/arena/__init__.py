"""WHO IS BEST: tasks, entrants, runs, scores and the leaderboard.

Task ─► Scenario ─┐
                  ├─► run (record on disk) ─► scores ─► tables ─► leaderboard
Entrant ──────────┘
"""
