"""The four roles of a tenant's people, in order, and the scopes that narrow a key."""

from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What somebody may do in their tenant; each may do all that those before it may."""

    VIEWER = "viewer"  # reads
    CURATOR = "curator"  # decides about rows, asks for searches, writes contacts
    OPERATOR = "operator"  # moves queues, imports, retries and drops
    ADMIN = "admin"  # people, keys, settings of the tenant

    def covers(self, needed: "Role") -> bool:
        """Whether this role may do what needs that one."""
        return _ORDER[self] >= _ORDER[needed]


class Scope(StrEnum):
    """What a key may be used for; each stands for a role, and a key never has more than its user."""

    READ = "read"
    CURATE = "curate"
    OPERATE = "operate"
    ADMIN = "admin"


_ORDER = {role: place for place, role in enumerate(Role)}
SCOPE_OF = dict(zip(Role, Scope, strict=True))


def scopes_cover(scopes: Iterable[str], needed: Role) -> bool:
    """Whether a key with these scopes may do what needs this role: each scope opens its own role's doors only."""
    return SCOPE_OF[needed].value in scopes


def scopes_of(role: Role) -> list[str]:
    """Every scope that makes sense for a key of somebody with this role."""
    return [scope.value for one, scope in SCOPE_OF.items() if role.covers(one)]
