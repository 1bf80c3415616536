"""Being asked to end: an error on the way out must not hide it."""

import asyncio


def raise_if_cancelled(error: BaseException) -> None:
    """Raise CancelledError if somebody wants this task to end.

    Whoever catches an error in order to go on calls this first: a connection that breaks because it was cancelled
    raises an error of its own in place of the cancellation, and the loop would go on for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from error
