"""Rooms whose names are fetched from their files when first used: to open a room's door costs nothing."""

from collections.abc import Callable, Mapping
from importlib import import_module


def fetch_from(room: str, files: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a room, given the names that each of its files has."""
    places = {name: f"{room}.{file}" for file, names in files.items() for name in names}

    def fetch(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return fetch
