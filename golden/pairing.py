"""The best pairing there is: calls to expectations, as bits of numbers. It knows nothing of what either is."""

from collections.abc import Sequence


def assigned(rows: Sequence[int], needs: Sequence[int], columns: int) -> list[int]:
    """Pairs columns to rows, each column to at most one row: as many as can be.

    Rows are served in their order, and none that was served loses what it has, so which rows go without depends on that
    order and on nothing else.

    Args:
        rows: for each row the columns that it may have, as the bits of a number.
        needs: how many it needs.
        columns: how many columns there are.

    Returns:
        For each row the columns that it has, as bits: at most as many as it needs.
    """
    # Augmenting paths (Berge, Kuhn). A row that finds none now finds none later: the sets of rows that can be served
    # together are the independent sets of a matroid, so serving them one by one ends at the most there are.
    held = [0] * len(rows)
    holder = [0] * columns
    free = (1 << columns) - 1
    for row, need in enumerate(needs):
        for _ in range(need):
            taken = _augmented(row, rows, held, holder, free)
            if not taken:
                break
            free ^= taken
    return held


def _augmented(start: int, rows: Sequence[int], held: list[int], holder: list[int], free: int) -> int:
    """Gives `start` one more column, others passing theirs on where need be; returns the free one taken, else 0."""
    passes: dict[int, tuple[int, int]] = {}  # for a row: who takes which of its columns
    unseen = ~free
    queue = [start]
    for row in queue:
        if spare := rows[row] & free:
            taken = column = spare & -spare
            while True:
                held[row] |= column
                holder[column.bit_length() - 1] = row
                if row == start:
                    return taken
                taker, passed = passes[row]
                held[row] ^= passed
                row, column = taker, passed
        # A row is reached once, by one of its columns; the others would lead to it again.
        while asked := rows[row] & unseen:
            column = asked & -asked
            other = holder[column.bit_length() - 1]
            unseen &= ~held[other]
            passes[other] = (row, column)
            queue.append(other)
    return 0
