"""What tells the cases of a run apart."""

from unicodedata import normalize


def unique_id(case_id: str) -> str:
    """Returns what no two ids of a run may have in common: case does not count, as files are named after ids."""
    return normalize("NFC", normalize("NFC", case_id).casefold())
