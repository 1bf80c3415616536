"""The one door: every route passes through `current_actor`, and learns from it who asks."""

from typing import Annotated

from fastapi import Depends, Request

from scrapersky.api.office import Given
from scrapersky.store.audit import Actor


async def current_actor(request: Request, office: Given) -> Actor:
    """Whoever asks: the local operator, acting for the default tenant."""
    origin = request.client.host if request.client else "local socket"
    return Actor("local operator", office.tenant_id, "operator", f"api {origin}")


CurrentActor = Annotated[Actor, Depends(current_actor)]
