"""Parts of `tools/package.py`: what is in a package, and how each kind is written."""
