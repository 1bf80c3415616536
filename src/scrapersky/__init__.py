"""scrapersky turns a search into people you can write to."""

__version__: str


def __getattr__(name: str) -> str:
    """Read `__version__` from the package metadata, declared in pyproject.toml alone, when it is first needed."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("scrapersky")
