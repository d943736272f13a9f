"""THE WHOLE PATH AT ONCE: power and speed of a file's vectors, planned without a camera and simulated.

May import paths, process, plant, data, predict, control and native; `job` and `verify` are its doors.
"""
