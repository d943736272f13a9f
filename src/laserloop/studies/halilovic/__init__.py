"""THE PAPER BY ONE COMMAND: stages on disk, from nothing to the report; killed at any moment, it goes on."""
