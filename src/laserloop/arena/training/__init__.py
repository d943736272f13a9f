"""How entrants learn that act by a small network alone: from the twin's planner, or by trial and reward."""
