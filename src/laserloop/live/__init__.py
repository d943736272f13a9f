"""WHAT HAPPENS NOW: runs that are watched and steered while they compute, one process for each.

May import every room from process to report but data and identification; only the command line imports it.
"""
