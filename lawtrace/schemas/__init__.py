"""Rows, events, recipes and errors: data only. Imports nothing else of lawtrace."""
