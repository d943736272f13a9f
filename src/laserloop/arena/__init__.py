"""WHO IS BEST: tasks, entrants, runs, scores and the leaderboard.

Task ─► LoopCase ─┐
                  ├─► run (record on disk) ─► scores ─► tables ─► leaderboard
Entrant ──────────┘
"""
