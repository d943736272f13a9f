"""Stored runs in a browser: what a folder holds, a small server on this machine, one page."""
