"""The pictures that stand for a site: its icon and its logo."""

from scrapersky.extract import regexes
from scrapersky.extract.business.organisation import Organisation
from scrapersky.extract.document.model import Document, HeadLink, Image
from scrapersky.extract.document.urls import Resolver

BEST_SIZE = 64  # pixels of an icon that is good enough everywhere


def favicon_of(document: Document, resolve: Resolver) -> str:
    """The icon a page states: one for browser tabs before one for telephones, the sharper before the smaller."""
    icons = [reference for reference in document.references if "icon" in reference.rel and reference.rel != "mask-icon"]
    for icon in sorted(icons, key=_icon_order):
        if address := resolve(icon.href):
            return address
    return ""


def _icon_order(icon: HeadLink) -> tuple[bool, int]:
    digits = icon.sizes.lower().partition("x")[0].strip()
    size = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 16
    size = BEST_SIZE if "svg" in icon.type or icon.sizes == "any" else size
    return "icon" not in icon.rel.split(), abs(size - BEST_SIZE)


def logo_of(document: Document, organisation: Organisation | None, resolve: Resolver) -> str:
    """The logo: as the structured data states it, else the image that is called so, in the header if possible."""
    stated = (organisation.logo if organisation else "", resolve(document.meta.get("og:logo", "")))
    for address in stated:
        if address:
            return address
    ranked = sorted(
        ((_logo_score(image), -index, image) for index, image in enumerate(document.images[:500])), reverse=True
    )
    for score, _, image in ranked:
        if score < 2:
            break
        if address := resolve(image.src):
            return address
    return ""


def _logo_score(image: Image) -> int:
    file_name = image.src.rpartition("/")[2][:200]
    said = [bool(regexes.LOGO.search(text[:300])) for text in (image.names, file_name, image.alt)]
    if not any(said):
        return 0
    score = 2 * sum(said) + (3 if "header" in image.zones or "nav" in image.zones else 0)
    if "footer" in image.zones or regexes.FOREIGN_LOGO.search(f"{image.names} {file_name}"[:500]):
        score -= 3
    return score
