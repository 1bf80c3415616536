"""Sets of options that a command receives as one parameter."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

Command = Callable[..., None]


def with_options(
    parameter: str, options: Mapping[str, Any], read: Callable[[dict[str, Any], Mapping[str, Any]], Any]
) -> Callable[[Command], Command]:
    """Build a decorator that replaces a parameter of a command by options.

    `options` has the annotation of each; `read` returns the value of the parameter, from the values of the options and
    the other arguments of the command.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [each for name, each in signature.parameters.items() if name != parameter]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()
        ]

        @wraps(command)
        def run(**arguments: Any) -> None:
            given = {name: arguments.pop(name, None) for name in options}
            command(**{parameter: read(given, arguments)}, **arguments)

        shown = [*own, *added]
        run.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in shown}
        del run.__wrapped__
        return run

    return decorate
