"""The paper's questions: its tables, claims and ablations, with its figures beside ours."""
