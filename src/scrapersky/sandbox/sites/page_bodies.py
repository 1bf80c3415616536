"""The main part of every kind of page, before a style puts its frame around it."""

from html import escape

from scrapersky.sandbox.sites import obfuscation
from scrapersky.sandbox.sites.lure_pages import branches
from scrapersky.sandbox.sites.plan import SitePage, SitePageKind, SitePlan
from scrapersky.sandbox.world.business import Business, InventedPerson
from scrapersky.sandbox.world.phone_numbers import national, pick
from scrapersky.sandbox.world.unlisted import Unlisted

AGENCY = "Pixelkontor Nord"
AGENCY_HOST = "pixelkontor-nord-9z.com"
AUTHORITY_HOST = "valvonta-kontrolle-9z.org"


def main_part(site: SitePlan, page: SitePage) -> str:
    """Render the part between menu and footer."""
    return {
        SitePageKind.HOME: _home,
        SitePageKind.CONTACT: _contact,
        SitePageKind.ABOUT: _about,
        SitePageKind.TEAM: _team,
        SitePageKind.IMPRINT: _imprint,
        SitePageKind.SERVICES: _services,
        SitePageKind.BLOG: _blog,
        SitePageKind.POST: _post,
        SitePageKind.PRIVACY: _privacy,
    }[page.kind](site, page)


def _home(site: SitePlan, page: SitePage) -> str:
    owner, words = site.owner, site.owner.language
    contact, services = site.page(SitePageKind.CONTACT), site.page(SitePageKind.SERVICES)
    offers = "".join(
        f'<li class="card"><h3>{offer}</h3><p>{_blurb(site, index)}</p></li>'
        for index, offer in enumerate(words.offers)
    )
    email = obfuscation.email("mailto", owner.email, owner) if site.email_on_home else ""
    return (
        f"<h1>{words.welcome} {escape(owner.name)}</h1><p>{_blurb(site, 1)} {_blurb(site, 2)}</p>"
        f'<img src="/images/front@2x.jpg" alt="" width="1200" height="630">'
        f'<section class="offers"><h2>{words.services}</h2><ul>{offers}</ul>'
        f'<p><a href="{services.path}">{words.more}</a></p></section>{_reviews(site)}'
        f"{branches(owner) if owner.unlisted is Unlisted.CHAIN else ''}"
        f'<section class="visit"><h2>{words.hours}</h2>{_hours(owner)}{email}'
        f'<p><a class="button" href="{contact.path}">{words.contact}</a></p></section>'
    )


def _contact(site: SitePlan, page: SitePage) -> str:
    words = site.owner.language
    reach = "".join(_reach(site, business) for business in site.businesses)
    form = (
        '<form action="/send" method="post"><label>'
        f'{words.email}</label><input type="email" name="email" placeholder="name@example.com">'
        f'<p class="hint">{words.placeholder} name@example.com</p><textarea name="message"></textarea>'
        f'<button type="submit">{words.send}</button></form>'
    )
    return f"<h1>{words.contact}</h1><p>{_blurb(site, 3)}</p>{reach}{form}"


def _reach(site: SitePlan, business: Business) -> str:
    """Render every contact of one business."""
    words = business.language
    parts = [
        f"<address>{escape(business.name)}<br>{_address(business)}</address>",
        obfuscation.phone(site.phone_form, business.phone, words.phone),
        obfuscation.email(site.email_form, business.email, business),
    ]
    if business.mobile:
        parts.append(obfuscation.phone("link", business.mobile, words.mobile))
    if business.fax:
        parts.append(obfuscation.phone("national", business.fax, words.fax))
    if business.second_email:
        parts.append(obfuscation.email(site.second_form, business.second_email, business))
    return f'<div class="contact-block">{"".join(parts)}<h3>{words.hours}</h3>{_hours(business)}</div>'


def _about(site: SitePlan, page: SitePage) -> str:
    words = site.owner.language
    prose = "".join(f"<p>{_blurb(site, index)} {_blurb(site, index + 3)}</p>" for index in range(4))
    team = site.page(SitePageKind.TEAM)
    return f'<h1>{words.about}</h1>{prose}<p><a href="{team.path}">{words.team}</a></p>{_reviews(site)}'


def _team(site: SitePlan, page: SitePage) -> str:
    words = site.owner.language
    people = [person for business in site.businesses for person in business.people]
    cards = "".join(_card(site.team_layout, person) for person in people)
    tag = {"table": "table", "list": "ul", "definition": "dl"}.get(site.team_layout, "div")
    return f'<h1>{words.team}</h1><p>{_blurb(site, 4)}</p><{tag} class="team">{cards}</{tag}>'


def _card(layout: str, person: InventedPerson) -> str:
    """Render one person in one of the layouts of real sites."""
    email = f'<a href="mailto:{person.email}">{person.email}</a>' if person.email else ""
    name, title = f"{person.degree}{escape(person.name)}", escape(person.title)
    return {
        "cards": f'<div class="team-member"><img src="/images/portrait.jpg" alt="" loading="lazy">'
        f'<h3 class="name">{name}</h3><p class="role">{title}</p>{email}</div>',
        "lines": f"<p><strong>{name}</strong><br>{title}<br>{email}</p>",
        "table": f"<tr><td>{name}</td><td>{title}</td><td>{email}</td></tr>",
        "list": f"<li><strong>{name}</strong> – {title} {email}</li>",
        "definition": f"<dt>{title}</dt><dd>{name} {email}</dd>",
    }[layout]


def _imprint(site: SitePlan, page: SitePage) -> str:
    """Render the imprint, with register numbers that are not phone numbers and the authority's own contacts."""
    words = site.owner.language
    parts = []
    for business in site.businesses:
        head = business.people[0]
        parts.append(
            f"<p>{escape(business.legal_name)}<br>{_address(business)}</p><p>{business.tax}</p>"
            f"<p>{escape(head.title)}: {escape(head.name)}</p>"
            + obfuscation.phone("national", business.phone, words.phone)
            + obfuscation.email("text", business.email, business)
        )
    return (
        f"<h1>{words.imprint}</h1>{''.join(parts)}<h2>{words.authority}</h2>"
        f"<p>{words.authority_name}, {words.phone} {_authority_phone(site.owner)}, post@{AUTHORITY_HOST}</p>"
    )


def _authority_phone(business: Business) -> str:
    """Return a number of the city that no business has: the last of its range."""
    return national(pick(business.city.landline, 0, -1, business.country.code))


def _services(site: SitePlan, page: SitePage) -> str:
    words = site.owner.language
    rows = "".join(
        f"<tr><td>{offer}</td><td>{(site.salt >> index) % 140 + 25},00 €</td></tr>"
        for index, offer in enumerate(words.offers)
    )
    prose = "".join(f"<h2>{offer}</h2><p>{_blurb(site, index)}</p>" for index, offer in enumerate(words.offers))
    return f"<h1>{words.services}</h1>{prose}<table>{rows}</table>"


def _blog(site: SitePlan, page: SitePage) -> str:
    posts = [other for other in site.pages if other.kind is SitePageKind.POST]
    cards = "".join(
        f'<article><h2><a href="{post.path}">{post.title}</a></h2><time>{_date(post.number)}</time>'
        f"<p>{_blurb(site, post.number)}</p></article>"
        for post in posts
    )
    return f"<h1>{site.owner.language.blog}</h1>{cards}"


def _post(site: SitePlan, page: SitePage) -> str:
    prose = "".join(f"<p>{_blurb(site, page.number + index)} {_blurb(site, index)}</p>" for index in range(5))
    return f"<article><h1>{page.title}</h1><time>{_date(page.number)}</time>{prose}</article>"


def _privacy(site: SitePlan, page: SitePage) -> str:
    words = site.owner.language
    prose = "".join(f"<h2>{number}.</h2><p>{words.cookies} {_blurb(site, number)}</p>" for number in range(1, 6))
    return f"<h1>{words.privacy}</h1>{prose}"


def credit(site: SitePlan) -> str:
    """Render the credit of the web designer, whose contact is not the business's."""
    words = site.owner.language
    return (
        f'<p class="credit">{words.credit} <a href="https://www.{AGENCY_HOST}/">{AGENCY}</a>, studio@{AGENCY_HOST}</p>'
    )


def social_links(site: SitePlan) -> str:
    """Render the profiles, and links that only share the page."""
    links = [
        f'<a class="social" rel="me" href="{url}" aria-label="{url.split("/")[2]}"><i class="icon"></i></a>'
        for business in site.businesses
        for url in business.socials
    ]
    share = f"https://www.facebook.com/sharer/sharer.php?u={site.origin}/"
    return f'<div class="socials">{"".join(links)}<a href="{share}">{site.owner.language.share}</a></div>'


def _reviews(site: SitePlan) -> str:
    """Render reviews by customers, who are not people of the business."""
    words = site.owner.language
    voices = []
    for index, praise in enumerate(words.praise):
        given = words.given[(site.salt + index * 5) % len(words.given)]
        family = words.family[(site.salt // 7 + index * 3) % len(words.family)]
        voices.append(
            f'<blockquote class="testimonial"><p>“{praise}”</p>'
            f"<cite>{given} {family}, {words.customer}</cite></blockquote>"
        )
    return f'<section class="reviews"><h2>{words.reviews}</h2>{"".join(voices)}</section>'


def _hours(business: Business) -> str:
    hours, days = business.hours, business.language.days
    rows = f"<li>{days[0]}–{days[4]} {hours.opens:02}:00–{hours.closes:02}:00</li>"
    if hours.saturday:
        rows += f"<li>{days[5]} 10:00–{hours.saturday:02}:00</li>"
    return f'<ul class="hours">{rows}</ul>'


def _address(business: Business) -> str:
    if business.country.code in ("GB", "US"):
        return f"{escape(business.street)}<br>{business.city.name} {business.postcode}"
    return f"{escape(business.street)}<br>{business.postcode} {business.city.name}"


def _blurb(site: SitePlan, index: int) -> str:
    blurbs = site.owner.language.blurbs
    return blurbs[(site.salt + index) % len(blurbs)]


def _date(number: int) -> str:
    return f"2025-{number + 3:02}-14"
