"""Sites that look like Squarespace: fluid blocks, and the site's context as one large script."""

import json

from scrapersky.sandbox.sites.fragments import Fragments

TWEAKS = "".join(
    f'[data-section-id="5f{number:06x}"] .sqs-block-content{{--tweak-{number}:{number}px;padding:{number % 17}px}}'
    f".fe-block-{number:04x}{{grid-area:{number + 1}/2/{number + 5}/26;z-index:{number % 9}}}"
    for number in range(90)
)
CONTEXT = json.dumps(
    {
        "showAnnouncementBar": False,
        "rollups": {
            f"squarespace-{name}": {"js": [f"/universal/scripts-compressed/{name}.js"]} for name in "abcdefghij"
        },
        "templateScriptsRootUrl": "/vta/scripts/",
        "impersonatedSession": False,
        "tzData": {"zones": [[60, "EU", "CE%sT", None]], "rules": {"EU": [[1981, "max", None, "Mar", "lastSun"]]}},
        "experiments": {f"experiment-{number}": {"variant": "control", "enabled": False} for number in range(120)},
    }
)


def frame(page: Fragments) -> str:
    """Render the whole page."""
    menu = "".join(
        f'<div class="header-nav-item header-nav-item--collection">'
        f'<a href="{path}" data-animation-role="header-element">{text}</a></div>'
        for path, text in page.menu
    )
    legal = "".join(f'<p><a href="{path}">{text}</a></p>' for path, text in page.legal)
    return f"""<!doctype html>
<html xmlns:og="http://opengraphprotocol.org/schema/" lang="{page.language}">
<head>
<meta http-equiv="X-UA-Compatible" content="IE=edge,chrome=1">
<meta name="viewport" content="width=device-width, initial-scale=1">
<!-- This is Squarespace. -->
<meta charset="utf-8" /><title>{page.title}</title>
<link rel="canonical" href="{page.url}"/>
<meta property="og:site_name" content="{page.name}"/><meta property="og:title" content="{page.title}"/>
<meta itemprop="name" content="{page.title}"/><meta name="description" content="{page.description}" />
<script data-name="static-context">Static = window.Static || {{}}; Static.SQUARESPACE_CONTEXT = {CONTEXT};</script>
<style id="fluidEngine">{TWEAKS}</style>
{page.head}
</head>
<body id="collection-5f0a" class="primary-button-style-solid header-overlay-alignment-center collection-type-page">
<div id="siteWrapper" class="clearfix site-wrapper">
<header data-test="header" id="header" class="header theme-col--primary"><div class="header-inner container--fluid">
<div class="header-title-text"><a id="site-title" href="/">{page.name}</a></div>{page.phone}
<nav class="header-nav-list">{menu}</nav></div></header>
<main id="page" class="container" role="main"><article class="sections" id="sections" data-page-sections="5f0a">
<section data-test="page-section" data-section-id="5f000001" class="page-section full-bleed-section">
<div class="content-wrapper">
<div class="fluid-engine"><div class="fe-block fe-block-0001"><div class="sqs-block html-block sqs-block-html">
<div class="sqs-block-content"><div class="sqs-html-content">
{page.main}
</div></div></div></div></div></div></section></article></main>
<footer class="sections" id="footer-sections" data-footer-sections><div class="sqs-block-content">{page.socials}{legal}
<p>© 2025 {page.name}</p>{page.credit}</div></footer>
</div>
<script defer="defer" src="/universal/scripts-compressed/commerce.js" data-sqs-type="commerce"></script>
</body>
</html>
"""
