"""Opening the house for one command: settings read, logs set, connections given back at the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scrapersky.bootstrap import Application, open_application
from scrapersky.core.database import is_connection_error
from scrapersky.core.errors import Unavailable
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load


def quiet_logs(environment: Environment) -> None:
    """A command says itself what it did: of the log only errors are shown, unless somebody asks for more."""
    settings = load(environment)
    if environment.source("SCRAPERSKY_LOG_LEVEL") == "default":
        settings = settings.model_copy(update={"log_level": "error"})
    configure_logs(settings)


@asynccontextmanager
async def opened() -> AsyncIterator[Application]:
    """The house of this environment, closed behind the command."""
    environment = Environment()
    quiet_logs(environment)
    application = await open_application(environment)
    try:
        yield application
    except Exception as error:
        if not is_connection_error(error):
            raise
        raise Unavailable(
            f"The database went away in the middle ({type(error).__name__}: {error}). Try again when it is back."
        ) from error
    finally:
        await application.close()
