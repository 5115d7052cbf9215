"""What `tools/figures.py` draws."""
