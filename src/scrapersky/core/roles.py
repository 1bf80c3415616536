"""The four roles of a tenant's users, in order, and the scopes of API keys."""

from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What a user may do in their tenant; each role includes the ones before it."""

    VIEWER = "viewer"  # reads
    CURATOR = "curator"  # curates rows, requests searches, edits contacts
    OPERATOR = "operator"  # queues, retries and drops rows, imports files
    ADMIN = "admin"  # manages users, keys and settings of the tenant

    def covers(self, needed: "Role") -> bool:
        """Check that this role includes the needed one."""
        return _ORDER[self] >= _ORDER[needed]


class Scope(StrEnum):
    """What an API key may be used for; a key never has more rights than its user."""

    READ = "read"
    CURATE = "curate"
    OPERATE = "operate"
    ADMIN = "admin"


_ORDER = {role: place for place, role in enumerate(Role)}
SCOPE_OF = dict(zip(Role, Scope, strict=True))


def scopes_cover(scopes: Iterable[str], needed: Role) -> bool:
    """Check that the scopes contain the one of the needed role; a scope does not include others."""
    return SCOPE_OF[needed].value in scopes


def scopes_of(role: Role) -> list[str]:
    """Return every scope that a user of this role may give to a key."""
    return [scope.value for one, scope in SCOPE_OF.items() if role.covers(one)]
