"""The forms in which sites write addresses and numbers: plainly, as links, or hidden from machines."""

from base64 import b64encode
from html import escape

from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.phone_numbers import international, national, with_trunk_zero

CLOUDFLARE_KEY = 0x5A
PROTECTED = "[email&#160;protected]"


def email(form: str, address: str, business: Business) -> str:
    """Render the address in this form as HTML; empty for forms in structured data only."""
    words = business.language
    local, _, domain = address.partition("@")
    name, _, ending = domain.rpartition(".")
    coded = cloudflare(address)
    written = f"{local} [{words.at}] {domain.replace('.', f' [{words.dot}] ')}"
    link = "'<a href=\"mailto:' + u + '@' + d + '\">' + u + '</a>'"
    build = f"var u = '{local}'; var d = '{domain}'; document.write({link});"
    codes = ",".join(str(ord(letter)) for letter in address)
    return {
        "text": f"<p>{words.email}: {address}</p>",
        "mailto": f'<p><a class="mail" href="mailto:{address}">{escape(words.write_us)}</a></p>',
        "entities": f"<p>{words.email}: {''.join(f'&#{ord(letter)};' for letter in address)}</p>",
        "cloudflare": f'<p>{words.email}: <span class="__cf_email__" data-cfemail="{coded}">{PROTECTED}</span></p>',
        "cloudflare_link": f'<p><a href="/cdn-cgi/l/email-protection#{coded}">{escape(words.write_us)}</a></p>',
        "written_out": f"<p>{words.email}: {written}</p>",
        "round_brackets": f"<p>{words.email}: {local}(at){domain}</p>",
        "attributes": f'<p><a href="#" data-user="{local}" data-domain="{name}" data-tld="{ending}">@</a></p>',
        "script": f"<p>{words.email}: <script>{build}</script></p>",
        "codes": f"<p>{words.email}: <script>document.write(String.fromCharCode({codes}))</script></p>",
        "split_spans": f"<p>{words.email}: <span>{local}</span>@<span>{domain}</span></p>",
        "reversed": f'<p><span style="unicode-bidi:bidi-override;direction:rtl">{address[::-1]}</span></p>',
        "base64": f'<p><a href="#" data-email="{b64encode(address.encode()).decode()}">{words.email}</a></p>',
        "structured": "",
    }[form]


def phone(form: str, number: str, label: str) -> str:
    """Render the number in this form as HTML; empty for forms in structured data only."""
    local, foreign = national(number), international(number)
    return {
        "link": f'<p>{label}: <a href="tel:{number}">{local}</a></p>',
        "national": f"<p>{label}: {local}</p>",
        "international": f"<p>{label} {foreign}</p>",
        "dotted": f"<p>{label} {local.replace(' ', '.')}</p>",
        "trunk": f"<p>{label} {with_trunk_zero(number)}</p>",
        "table": f"<table><tr><th>{label}</th><td>{local}</td></tr></table>",
        "structured": "",
    }[form]


def cloudflare(address: str) -> str:
    """Encode the address as Cloudflare's data-cfemail: the key, then every byte xored with it."""
    return f"{CLOUDFLARE_KEY:02x}" + "".join(f"{byte ^ CLOUDFLARE_KEY:02x}" for byte in address.encode())
