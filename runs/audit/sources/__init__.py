"""The sources that ``lawtrace audit`` reads, one module each; `reading.py` detects them."""
