"""What an agent in this process may leave behind."""

import gc
import threading


def no_agent_is_left() -> None:
    """Waits for the threads that agents ran in, which must end; the garbage collector then finds what was forgotten."""
    for thread in threading.enumerate():
        if thread.name.startswith("golden-agent"):
            thread.join(10)
            assert not thread.is_alive()
    gc.collect()
