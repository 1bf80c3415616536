"""The condition of a site: most work, some have a fault."""

from enum import StrEnum

from scrapersky.sandbox.world.stratified_draw import build_pool


class Condition(StrEnum):
    """What is special about a business's site."""

    HEALTHY = "healthy"
    WWW = "www"  # the bare name redirects to www
    SLOW = "slow"  # drips for a second or two
    SOFT_404 = "soft_404"  # every address answers 200
    SHARED = "shared"  # the same site as another business
    CLOSED = "closed"  # the business has closed, its site is still there
    BROKEN = "broken"  # 500 always
    TRUNCATED = "truncated"  # the answer ends before its end
    BLOCKED = "blocked"  # 403
    BUSY = "busy"  # 429
    ROBOTS = "robots"  # robots.txt disallows everything
    PARKED = "parked"  # a page that offers the domain for sale
    LOGIN = "login"  # nothing without a password
    JAVASCRIPT = "javascript"  # a shell that a script would fill
    BOT_CHECK = "bot_check"  # asks every visitor to prove that they are human
    CONSENT = "consent"  # nothing before the visitor accepts cookies
    UNFINISHED = "unfinished"  # a page that announces the site
    DEAD = "dead"  # hangs up without an answer
    EXPIRED = "expired"  # its certificate has expired
    MISNAMED = "misnamed"  # its certificate is for another name
    PROFILE = "profile"  # the website is a page on a platform
    NONE = "none"  # no website
    UNLISTED = "unlisted"  # a working site that its map does not know


SHARES = {
    Condition.HEALTHY: 67,
    Condition.UNLISTED: 4,
    Condition.JAVASCRIPT: 1,
    Condition.BOT_CHECK: 1,
    Condition.CONSENT: 1,
    Condition.UNFINISHED: 1,
    Condition.WWW: 3,
    Condition.SLOW: 2,
    Condition.SOFT_404: 1,
    Condition.SHARED: 2,
    Condition.CLOSED: 1,
    Condition.BROKEN: 2,
    Condition.TRUNCATED: 1,
    Condition.BLOCKED: 2,
    Condition.BUSY: 1,
    Condition.ROBOTS: 1,
    Condition.PARKED: 1,
    Condition.LOGIN: 1,
    Condition.DEAD: 1,
    Condition.EXPIRED: 1,
    Condition.MISNAMED: 1,
    Condition.PROFILE: 2,
    Condition.NONE: 2,
}
DECK = build_pool(SHARES)

# Why nothing can be read from a site in this condition.
WHY_UNREACHABLE = {
    Condition.BROKEN: "every answer is 500",
    Condition.TRUNCATED: "every answer ends before its end",
    Condition.BLOCKED: "every answer is 403",
    Condition.BUSY: "every answer is 429",
    Condition.ROBOTS: "robots.txt disallows everything",
    Condition.PARKED: "the domain is parked",
    Condition.LOGIN: "every page asks for a password",
    Condition.JAVASCRIPT: "every page is drawn by JavaScript",
    Condition.BOT_CHECK: "every page asks for a bot check",
    Condition.CONSENT: "every page asks for consent first",
    Condition.UNFINISHED: "the site is under construction",
    Condition.DEAD: "the server hangs up",
    Condition.EXPIRED: "its certificate has expired",
    Condition.MISNAMED: "its certificate is for another name",
    Condition.PROFILE: "the website is a profile on a platform",
    Condition.NONE: "there is no website",
}
