"""The generator of the contact corpus: invented businesses in sixteen languages, with every form of address.

    python -m tests.corpus.make_contacts

The pages and their labels are committed; running it again changes nothing; a test checks this.
"""

import base64
import codecs
import html
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).parent
FOLDER = HERE / "contacts"
Site = dict[str, Any]


def cloudflare(address: str) -> str:
    """Encode an address for data-cfemail."""
    key = 0x5A
    return f"{key:02x}" + "".join(f"{byte ^ key:02x}" for byte in address.encode())


def shifted(text: str) -> str:
    """Shift every character by one within its range, like TYPO3."""
    ranges = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))
    moved = ""
    for character in text:
        code = ord(character)
        for low, high in ranges:
            if low <= code <= high:
                code = (code + 1 - low) % (high - low + 1) + low
                break
        moved += chr(code)
    return moved


def spoken(address: str, at: str, dot: str) -> str:
    """Spell out an address: info [at] firm [dot] example."""
    local, _, domain = address.partition("@")
    return f"{local} [{at}] {domain.replace('.', f' [{dot}] ')}"


def split(address: str) -> str:
    """Split an address into three attributes."""
    local, _, domain = address.partition("@")
    name, _, ending = domain.rpartition(".")
    return f'<a class="mail" href="#" data-user="{local}" data-domain="{name}" data-tld="{ending}">E-Mail</a>'


def added(address: str) -> str:
    """Write a script that adds the parts of an address."""
    local, _, domain = address.partition("@")
    written = "document.write('<a href=\"mailto:' + u + '@' + d + '\">x</a>');"
    return f"<script>var u = '{local}'; var d = \"{domain}\"; {written}</script>"


def coded(address: str) -> str:
    """Write a script with character codes."""
    return f"<script>document.write(String.fromCharCode({','.join(str(ord(one)) for one in address)}))</script>"


FORMS: dict[str, Callable[[str, Site], str]] = {
    "text": lambda a, s: f"<p>{s['mail_word']}: {a}</p>",
    "mailto": lambda a, s: f'<p><a href="mailto:{a}?subject=Hello">{s["write_us"]}</a></p>',
    "entities": lambda a, s: f"<p>{s['mail_word']}: {''.join(f'&#{ord(one)};' for one in a)}</p>",
    "percent": lambda a, s: f'<p><a href="mailto:{quote("Team <" + a + ">")}">{s["write_us"]}</a></p>',
    "cloudflare": lambda a, s: (
        f'<p><span class="__cf_email__" data-cfemail="{cloudflare(a)}">[email&#160;protected]</span></p>'
    ),
    "cloudflare link": lambda a, s: f'<p><a href="/cdn-cgi/l/email-protection#{cloudflare(a)}">{s["write_us"]}</a></p>',
    "written out": lambda a, s: f"<p>{s['mail_word']}: {spoken(a, s['at'], s['dot'])}</p>",
    "round brackets": lambda a, s: f"<p>{s['mail_word']}: {a.replace('@', '(at)')}</p>",
    "attributes": lambda a, s: f"<p>{split(a)}</p>",
    "reversed": lambda a, s: f'<p><span style="unicode-bidi:bidi-override;direction:rtl">{a[::-1]}</span></p>',
    "rot13": lambda a, s: f'<p><a class="r" href="mailto:{codecs.encode(a, "rot13")}">{s["write_us"]}</a></p>',
    "script": lambda a, s: added(a),
    "codes": lambda a, s: coded(a),
    "base64": lambda a, s: (
        f'<p><a href="#" data-email="{base64.b64encode(a.encode()).decode()}">{s["write_us"]}</a></p>'
    ),
    "shifted": lambda a, s: (
        f'<p><a href="javascript:linkTo_UnCryptMailto(%27{shifted("mailto:" + a)}%27);">{s["write_us"]}</a></p>'
    ),
    "spaced": lambda a, s: f"<p>{s['mail_word']}: {a.replace('@', ' @ ')}</p>",
    "split spans": lambda a, s: "<p>" + "@".join(f"<span>{part}</span>" for part in a.split("@")) + "</p>",
    "stale code": lambda a, s: f'<p><a href="mailto:info@yoursite.com"><span>{a}</span></a></p>',
    "structured data": lambda a, s: ld({"@type": "LocalBusiness", "name": s["name"], "email": "mailto:" + a}),
}


def ld(thing: dict[str, Any]) -> str:
    """Write a JSON-LD script."""
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **thing})}</script>'


def layout(site: Site, title: str, main: str) -> str:
    """Write a page with the head, menu and footer of the site."""
    menu = "".join(f'<li class="nav-item"><a href="/{word.lower()}">{word}</a></li>' for word in site["menu"])
    name = html.escape(site["name"])
    return f"""<!doctype html>
<html lang="{site["lang"]}">
<head><meta charset="utf-8"><title>{html.escape(title)} – {name}</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/css/site.css?v=4.1.3">
<script src="https://cdn.example/bootstrap@5.3.3/dist/js/bootstrap.min.js"></script></head>
<body>
<header class="site-header"><a class="brand" href="/"><img src="/img/logo@2x.png" alt="Logo"> {name}</a>
<nav><ul class="menu">{menu}</ul></nav></header>
<main>
{main}
</main>
<footer class="site-footer"><div class="share">
<a href="https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2F{site["domain"]}%2F">{site["share"]}</a>
<a href="https://x.com/intent/tweet?text=hello">{site["share"]}</a></div>
<p>© 2024 {name}</p>
<p class="credit">{site["credit"]} <a href="https://pixelwerk.example">Pixelwerk</a>, studio@pixelwerk.example</p>
</footer>
</body></html>
"""


def home(site: Site) -> tuple[str, dict[str, Any]]:
    """Write a home page: greeting, services, reviews by customers, the number and the profiles below."""
    services = "".join(f"<li><h3>{word}</h3><p>{site['blurb']}</p></li>" for word in site["services"])
    reviews = "".join(
        f'<div class="item"><p>“{site["praise"]}”</p><h4>{name}</h4><span>{site["customer"]}</span></div>'
        for name in site["reviewers"]
    )
    socials = "".join(f'<a href="{url}"><i class="fa fa-{name}"></i></a>' for name, url in site["socials"].items())
    main = (
        f"<h1>{site['welcome']}</h1><p>{site['blurb']}</p><ul class='cards'>{services}</ul>"
        f"<section><h2>{site['reviews']}</h2>{reviews}</section>"
        f"<section class='contact'><h2>{site['contact']}</h2>{FORMS[site['forms'][0]](site['email'], site)}"
        f"<p>{site['phone_word']} <a href='tel:{site['e164']}'>{site['phone']}</a></p>"
        f"<p>{site['hours']}: 08.00-16.30, 12.03.2019 – 14.03.2019, 2009-2024</p>{socials}</section>"
    )
    label = {"emails": [site["email"]], "phones": [site["e164"]], "socials": site["socials"]}
    return layout(site, site["welcome"], main), label


def contact(site: Site) -> tuple[str, dict[str, Any]]:
    """Write a contact page: address, number and fax, second address, a form full of examples."""
    form = (
        f"<form action='/send' method='post'><label>{site['mail_word']}</label>"
        f"<input type='email' name='email' placeholder='name@example.com'><p class='hint'>{site['example']}</p>"
        "<textarea name='text'></textarea><button>OK</button></form>"
    )
    main = (
        f"<h1>{site['contact']}</h1><address>{site['name']}<br>{site['street']}<br>{site['place']}</address>"
        f"<table><tr><th>{site['phone_word']}</th><td>{site['phone']}</td></tr>"
        f"<tr><th>{site['fax_word']}</th><td>{site['fax']}</td></tr></table>"
        f"{FORMS[site['forms'][1]](site['second'], site)}"
        f"<p><a href='https://wa.me/{site['mobile'].lstrip('+')}'>WhatsApp</a></p>{form}"
    )
    label = {"emails": [site["second"]], "phones": [site["e164"], site["mobile"]], "fax": [site["fax_e164"]]}
    return layout(site, site["contact"], main), label


def card(layout_name: str, name: str, role: str, mail: str) -> str:
    """Write the card of one person in one of several styles."""
    reach = f'<a href="mailto:{mail}">{mail}</a>' if mail else ""
    return {
        "cards": f'<div class="team-member"><img src="/p.jpg" alt=""><h3 class="name">{name}</h3><p class="role">{role}</p>{reach}</div>',  # noqa: E501  # markup reads best in one line
        "table": f"<tr><td>{name}</td><td>{role}</td><td>{reach}</td></tr>",
        "list": f"<li><strong>{name}</strong> – {role} {reach}</li>",
        "definition": f"<dt>{role}</dt><dd>{name} {reach}</dd>",
        "lines": f"<p>{name}<br>{role}<br>{reach}</p>",
    }[layout_name]


def team(site: Site) -> tuple[str, dict[str, Any]]:
    """Write a team page with a quotation by another person."""
    people = [(name, role) for name, role in site["people"]]
    wraps = {"cards": "<div class='row'>{}</div>", "table": "<table>{}</table>", "list": "<ul>{}</ul>"}
    wrap = {**wraps, "definition": "<dl>{}</dl>", "lines": "<div>{}</div>"}[site["layout"]]
    mails = [site["personal"]] + [""] * (len(people) - 1)
    cards = "".join(card(site["layout"], name, role, mail) for (name, role), mail in zip(people, mails, strict=True))
    main = (
        f"<h1>{site['team']}</h1><p>{site['blurb']}</p>{wrap.format(cards)}"
        f"<blockquote><p>{site['praise']}</p><cite>{site['reviewers'][0]}</cite></blockquote>"
    )
    label = {"emails": [site["personal"]], "people": [{"name": n, "title": r} for n, r in people]}
    return layout(site, site["team"], main), label


def imprint(site: Site) -> tuple[str, dict[str, Any]]:
    """Write an imprint: who is responsible, register and tax numbers, an authority and a host with contacts of their own."""  # noqa: E501  # markup reads best in one line
    owner, role = site["people"][0]
    main = (
        f"<h1>{site['imprint']}</h1><p>{site['name']}<br>{site['street']}<br>{site['place']}</p>"
        f"<p>{role}: {owner}</p><p>{site['phone_word']} {site['phone']}</p>"
        f"{FORMS[site['forms'][2]](site['email'], site)}<p>{site['tax']}</p>"
        f"<h2>{site['authority']}</h2><p>{site['authority_name']}, post@{site['authority_domain']}</p>"
        f"<p>name@domain.com</p>"
    )
    label = {
        "emails": [site["email"]],
        "phones": [site["e164"]],
        "people": [{"name": owner, "title": role}],
    }
    return layout(site, site["imprint"], main), label


PAGES = {"index.html": home, "contact.html": contact, "team.html": team, "imprint.html": imprint}


def sites() -> dict[str, Site]:
    """Load the invented businesses."""
    return tomllib.loads((HERE / "contact_sites.toml").read_text("utf-8"))


def pages() -> dict[str, str]:
    """Return every file of the corpus by its path, with the labels."""
    made: dict[str, str] = {}
    labels = []
    for key, site in sites().items():
        for page, make in PAGES.items():
            text, label = make(site)
            made[f"{key}/{page}"] = text
            empty: dict[str, Any] = {"emails": [], "phones": [], "fax": [], "socials": {}, "people": []}
            row = {"site": key, "page": page, "file": f"{key}/{page}", "url": f"https://www.{site['domain']}/{page}"}
            row |= {"region": site["region"], **empty, **label}
            labels.append(json.dumps(row, ensure_ascii=False))
    made["labels.jsonl"] = "\n".join(labels) + "\n"
    return made


def write() -> None:
    """Put the files where the tests look for them."""
    for name, text in pages().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
