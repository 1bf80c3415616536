"""Task cancellation that another exception must not hide."""

import asyncio


def raise_if_cancelled(error: BaseException) -> None:
    """Raise CancelledError if this task is being cancelled.

    Call it first in every handler that catches an exception and continues: a connection that breaks because it was
    cancelled raises its own exception instead of the cancellation, and the loop would never end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from error
