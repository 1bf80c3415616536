"""The contact, team and imprint pages that a home page links are among the five that are read."""

from scrapersky.extract.pages.select import select_pages
from tests.extract.pages.menus import menus


def test_linked_contact_team_and_imprint_pages_are_among_the_five() -> None:
    sites = list(menus())
    missed = []
    for site in sites:
        picked = {page.url for page in select_pages(site.links, 5)}
        missed += [(site.name, link.text) for link in site.links if link.url in site.wanted - picked]
    wanted = sum(len(site.wanted) for site in sites)
    languages = {site.name.split()[1] for site in sites}
    assert (len(sites) >= 60, len(languages) >= 25) == (True, True)
    assert 1 - len(missed) / wanted >= 0.97, missed
