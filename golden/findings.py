"""What is odd about a stream, as it is read: each kind once, with how often it was seen."""

from golden.sse import whole
from golden.transcript import Finding


class Findings:
    """Takes what is odd. However much comes, it holds one message of a kind."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, int]] = {}  # kind → first message, how often

    def note(self, kind: str, message: str) -> None:
        """Adds one; of several of one kind the first is told, with how many there were."""
        first, count = self._seen.get(kind, (message, 0))
        self._seen[kind] = (first, count + 1)

    def mended(self, text: str) -> str:
        """Returns the same as `whole`; a half of a surrogate pair that stands alone is a finding."""
        mended = whole(text)
        if mended.count("\ufffd") > text.count("\ufffd"):
            self.note("surrogates", "half of a surrogate pair stands alone")
        return mended

    def all(self) -> tuple[Finding, ...]:
        """Returns them, in the order in which their kinds were first seen."""
        return tuple(
            Finding(kind, whole(message) if count == 1 else f"{whole(message)} ({count} times)")
            for kind, (message, count) in self._seen.items()
        )
