"""Sites written by hand: layout by tables, a menu, and old HTML."""

from scrapersky.sandbox.sites.fragments import Fragments

_SIDES = ("top", "right", "bottom", "left")
STYLES = "\n".join(
    [
        "body{font-family:Verdana,sans-serif;margin:0 auto;max-width:960px;color:#333}",
        "header,footer{background:#f3efe6;padding:12px}nav ul{list-style:none;padding:0}nav li{display:inline-block}",
        *(f".m{side[0]}{size}{{margin-{side}:{size}px}}" for side in _SIDES for size in range(0, 65, 1)),
        *(f".p{side[0]}{size}{{padding-{side}:{size}px}}" for side in _SIDES for size in range(0, 65, 1)),
        *(f".w{share}{{width:{share}%}}" for share in range(1, 101)),
    ]
)
SCRIPT = """
function openMenu(){var m=document.getElementById('menu');m.style.display=m.style.display==='block'?'none':'block';}
function slide(n){var s=document.getElementsByClassName('slide');
for(var i=0;i<s.length;i++){s[i].hidden=(i!==n%s.length);}}
var current=0;setInterval(function(){slide(current++);},5000);
"""


def frame(page: Fragments) -> str:
    """Render the whole page."""
    menu = "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in page.menu)
    legal = " | ".join(f'<a href="{path}">{text}</a>' for path, text in page.legal)
    return f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="utf-8">
<title>{page.title}</title>
<meta name="description" content="{page.description}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="canonical" href="{page.url}"><link rel="icon" href="/favicon.ico">
<style>
{STYLES}
</style>
{page.head}
</head>
<body>
<header><a href="/"><img src="/images/logo@2x.png" alt="{page.name}" width="180" height="60"></a> {page.phone}
<nav><ul id="menu">{menu}</ul></nav></header>
<main>
{page.main}
</main>
<footer>{page.socials}<p>© 2025 {page.name} | {legal}</p>{page.credit}</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""
