"""The version, in a file of its own so that every floor may read it."""

__version__ = "0.1.0"
