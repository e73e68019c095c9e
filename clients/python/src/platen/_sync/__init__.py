# Made by `make generate` from _async/__init__.py; do not edit.
"""The synchronous client."""
