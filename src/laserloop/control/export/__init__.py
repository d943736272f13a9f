"""The realtime solver as C99: source to deploy, and the same source compiled for this machine."""

from laserloop.control.export.package import export_c

__all__ = ["export_c"]
