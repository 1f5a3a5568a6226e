"""The trip desk, whose calls take objects and lists of objects."""

from pathlib import Path

TRIP_DESK = Path(__file__).parents[1] / "data" / "trip_desk"
