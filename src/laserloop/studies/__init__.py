"""STUDIES: whole investigations made with the rooms below; each has its cases, stages, claims and report.

A study may import any room, and no room imports a study: a reader of the library never needs to open one.
"""
