"""How a log line looks: a static event name and its fields, as JSON or as text, without a secret in either."""

import logging
import sys

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from scrapersky.core.redaction import Mask, escape_forging, everywhere, masker, shorten_addresses
from scrapersky.core.settings import Settings

OURS = ("timestamp", "level", "logger")  # written by us, looked at by nobody's pattern


def configure_logs(settings: Settings) -> None:
    """Send structlog and the standard library through one renderer to standard error."""
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.log_level.upper()]),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=sink(settings, as_text))
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    # APScheduler says "maximum number of running instances reached" in its own words; ours are events.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    logging.getLogger("alembic").setLevel(logging.WARNING)


def sink(settings: Settings, as_text: bool) -> list[Processor]:
    """What every line passes before it is written, whoever said it: nothing is trusted to be clean."""
    cleaning: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        _clean(masker(settings)),
    ]
    if as_text:
        return [*cleaning, _on_one_line, structlog.dev.ConsoleRenderer()]
    return [*cleaning, structlog.processors.JSONRenderer()]  # in ASCII: it escapes what could forge a line


def _clean(mask: Mask) -> Processor:
    def without_people(text: str) -> str:
        return shorten_addresses(mask(text))

    def clean(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
        change = mask if line.get("level") == "debug" else without_people
        kept = {name: line.pop(name) for name in OURS if name in line}
        return {**everywhere(line, change), **kept}

    return clean


def _on_one_line(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    return {
        name: escape_forging(value, is_stack=name == "exception") if isinstance(value, str) else value
        for name, value in line.items()
    }
