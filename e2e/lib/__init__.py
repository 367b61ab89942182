"""The parts of the whole-system tests; `run.py` puts them together."""
