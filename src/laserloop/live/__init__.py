"""WHAT HAPPENS NOW: runs that are watched and steered while they compute, one process for each."""
