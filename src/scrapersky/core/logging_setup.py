"""The format of log lines: a static event name and its fields, as JSON or text, with secrets redacted."""

import logging
import sys

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from scrapersky.core.connection_pool import ShrinkingPool
from scrapersky.core.redaction import Mask, escape_forging, map_texts, redactor, shorten_addresses
from scrapersky.core.settings import Settings

OURS = ("timestamp", "level", "logger")  # written by us: not redacted


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
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=clean_event(settings, as_text))
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    # The engine publishes scheduler events itself; APScheduler's own lines would repeat them.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    # The pool logs a traceback for each connection that it discards; a lost database is one event of the engine.
    for pool in ("sqlalchemy.pool", ShrinkingPool.__module__):
        logging.getLogger(pool).setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)


def clean_event(settings: Settings, as_text: bool) -> list[Processor]:
    """Return the processors that every line passes before it is written; no source is trusted to be clean."""
    cleaning: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        _clean(redactor(settings)),
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
        return {**map_texts(line, change), **kept}

    return clean


def _on_one_line(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    return {
        name: escape_forging(value, is_stack=name == "exception") if isinstance(value, str) else value
        for name, value in line.items()
    }
