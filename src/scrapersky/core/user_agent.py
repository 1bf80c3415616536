"""The User-Agent of the crawler: a name, or any honest string that names the robot and a contact."""

import re

# Names in the User-Agent of browsers, which name no robot.
BROWSER_NAMES = frozenset(
    (
        *("mozilla", "compatible", "applewebkit", "khtml", "like", "gecko", "chrome", "safari", "firefox", "version"),
        *("mobile", "windows", "macintosh", "linux", "android", "iphone", "ipad", "edg", "opr"),
    )
)
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{0,39}")
_PRODUCT = re.compile(r"(?:^|[\s(;])([A-Za-z][A-Za-z_-]{0,39})(?=/|;|\)|$|\s{0,3}\()")
_CONTACT = re.compile(r"https?://[!-~]{3,200}|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,190}", re.ASCII)


def is_name(text: str) -> bool:
    """Return whether the text is a name alone, to which version and contact are added."""
    return _NAME.fullmatch(text) is not None


def robot_name(text: str) -> str:
    """Return the name of the robot, which robots.txt may address. Raises ValueError with the cure."""
    if is_name(text):
        return text
    if not (text.isascii() and text.isprintable() and len(text) <= 250):
        raise ValueError("must be at most 250 printable ASCII characters")
    name = next((name for name in _PRODUCT.findall(text) if name.lower() not in BROWSER_NAMES), None)
    if name is None or _CONTACT.search(text) is None:
        raise ValueError(
            "must name the robot and a contact, such as Mozilla/5.0 (compatible; acme-bot/1.0; +https://acme.example/bot)"
        )
    return str(name)
