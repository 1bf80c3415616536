"""Sites that look like Wix: nested grids with generated names, and the page's model beside it as JSON."""

import json

from scrapersky.sandbox.sites.fragments import Fragments

COLOURS = "".join(
    f"--color_{number}:{number * 5 % 256},{number * 11 % 256},{number * 17 % 256};" for number in range(66)
)
FONTS = "".join(
    f"--font_{number}:normal normal 400 {14 + number}px/1.4em avenir-lt-w01_35-light1475496;" for number in range(11)
)
GRIDS = "".join(
    f"#comp-kx{number:03x}{{--bg:var(--color_{number % 60});grid-area:{number + 1}/1/{number + 2}/2}}"
    f"[data-mesh-id=comp-kx{number:03x}inlineContent]{{height:auto;width:100%;min-height:{number}px}}"
    for number in range(80)
)
MODEL = json.dumps(
    {
        "platform": {"ssrPropsUpdates": [{f"comp-kx{number:03x}": {"isOpen": False}} for number in range(60)]},
        "pages": {"compIdToTypeMap": {f"comp-kx{number:03x}": "WRichText" for number in range(120)}},
        "appsWarmupData": {"1380b703-ce81-ff05-f115-39571d94dfcd": {"revision": "1732104000000"}},
    }
)


def frame(page: Fragments) -> str:
    """Render the whole page."""
    menu = "".join(
        f'<li id="comp-menu{number}" class="itemDepth02233374943 wixui-dropdown-menu__item">'
        f'<a data-testid="linkElement" href="{path}" target="_self"><div class="JS76Uv"><p>{text}</p></div></a></li>'
        for number, (path, text) in enumerate(page.menu)
    )
    legal = "".join(
        f'<p class="font_8 wixui-rich-text__text"><a href="{path}">{text}</a></p>' for path, text in page.legal
    )
    return f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset='utf-8'>
<meta name="viewport" content="width=device-width, initial-scale=1" id="wixDesktopViewport" />
<meta http-equiv="X-UA-Compatible" content="IE=edge">
<meta name="generator" content="Wix.com Website Builder"/>
<title>{page.title}</title>
<meta name="description" content="{page.description}"/>
<link rel="canonical" href="{page.url}"/>
<meta property="og:title" content="{page.title}"/><meta property="og:url" content="{page.url}"/>
<style id="css_masterPage">:root{{{COLOURS}{FONTS}}}{GRIDS}</style>
{page.head}
</head>
<body>
<div id="SITE_CONTAINER"><div id="main_MF" class="main_MF"><div id="site-root" class="site-root">
<div id="masterPage" class="mesh-layout">
<header id="SITE_HEADER" class="x4zVYf SITE_HEADER wixui-header" tabindex="-1"><div class="_C0cVf"><div class="lvxhkV">
<div id="comp-kx001" class="KcpHeO wixui-rich-text" data-testid="richTextElement">
<h6 class="font_6"><a href="/">{page.name}</a></h6></div>
{page.phone}
<nav id="comp-kx002" aria-label="Site" class="XwCBRN hidden-during-prerender wixui-dropdown-menu"><ul>{menu}</ul></nav>
</div></div></header>
<main id="PAGES_CONTAINER" class="PAGES_CONTAINER"><div id="SITE_PAGES">
<div class="K_YxMd theme-vars"><div class="wixui-page">
<section id="comp-kx003" class="Oqnisf wixui-section"><div data-testid="columns" class="V5AUxf">
<div id="comp-kx004" class="comp-kx004 YzqVVZ wixui-column-strip__column"><div class="mesh-container">
{page.main}
</div></div></div></section></div></div></div></main>
<footer id="SITE_FOOTER" class="SITE_FOOTER_WRAPPER wixui-footer"><div id="comp-kx005">{page.socials}{legal}
<p class="font_8 wixui-rich-text__text">© 2025 {page.name}</p>{page.credit}</div></footer>
</div></div></div></div>
<script type="application/json" id="wix-warmup-data">{MODEL}</script>
<script type="application/json" id="wix-essential-viewer-model">{MODEL}</script>
</body>
</html>
"""
