"""Sites that look like WordPress with a block theme: presets, blocks, and the scripts of a few plugins."""

from scrapersky.sandbox.sites.fragments import Fragments

_COLOURS = ("black", "cyan-bluish-gray", "white", "pale-pink", "vivid-red", "luminous-vivid-orange", "vivid-green-cyan")
_SIZES = ("small", "medium", "large", "x-large")
_BLOCKS = (
    *("archives", "avatar", "button", "buttons", "calendar", "categories", "code", "columns", "cover", "details"),
    *("file", "gallery", "group", "heading", "image", "latest-posts", "media-text", "navigation", "paragraph", "quote"),
    *("search", "separator", "social-links", "spacer", "table", "tag-cloud", "verse", "video"),
)
PRESETS = "".join(
    [
        ":root{",
        *(f"--wp--preset--color--{name}:#{number * 111_111 % 999_999:06d};" for number, name in enumerate(_COLOURS)),
        *(f"--wp--preset--font-size--{name}:{13 + number * 7}px;" for number, name in enumerate(_SIZES)),
        *(f"--wp--preset--spacing--{step}:{0.44 * step / 20:.2f}rem;" for step in range(20, 90, 10)),
        "}",
        *(f".has-{name}-color{{color:var(--wp--preset--color--{name})!important}}" for name in _COLOURS),
        *(f".has-{name}-background-color{{background-color:var(--wp--preset--color--{name})}}" for name in _COLOURS),
        *(f".has-{name}-font-size{{font-size:var(--wp--preset--font-size--{name})!important}}" for name in _SIZES),
    ]
)
LIBRARY = "".join(
    f".wp-block-{name}{{box-sizing:border-box}}.wp-block-{name}.alignwide{{margin:calc(1.5*var(--space)) auto}}"
    f".wp-block-{name}.is-style-rounded img{{border-radius:9999px}}"
    f".wp-block-{name}.has-background{{padding:1.25em 2.375em}}"
    f".editor-styles-wrapper .wp-block-{name}:where(.has-text-align-center){{text-align:center}}"
    for name in _BLOCKS
)
EMOJI = (
    "window._wpemojiSettings={baseUrl:'/wp-includes/images/core/emoji/15.0.3/72x72/',ext:'.png',"
    "source:{concatemoji:'/wp-includes/js/wp-emoji-release.min.js?ver=6.7.1'}};"
    + "".join(
        f"function t{number}(e,n){{e.clearRect(0,0,e.canvas.width,e.canvas.height);e.fillText(n,0,0);return e}}"
        for number in range(60)
    )
)


def frame(page: Fragments) -> str:
    """Render the whole page."""
    menu = "".join(
        f'<li class="wp-block-navigation-item"><a class="wp-block-navigation-item__content" href="{path}">'
        f'<span class="wp-block-navigation-item__label">{text}</span></a></li>'
        for path, text in page.menu
    )
    legal = "".join(f'<li class="menu-item"><a href="{path}">{text}</a></li>' for path, text in page.legal)
    return f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="UTF-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="robots" content="max-image-preview:large" />
<title>{page.title}</title>
<meta name="description" content="{page.description}" />
<link rel="canonical" href="{page.url}" />
<meta property="og:type" content="website" /><meta property="og:title" content="{page.title}" />
<meta property="og:url" content="{page.url}" /><meta name="generator" content="WordPress 6.7.1" />
<link rel="https://api.w.org/" href="/wp-json/" /><link rel="shortlink" href="/?p=42" />
<style id="wp-block-library-inline-css">{LIBRARY}</style>
<style id="global-styles-inline-css">{PRESETS}</style>
<link rel="stylesheet" id="theme-style-css" href="/wp-content/themes/kelo/style.css?ver=1.4.2" media="all" />
<script>{EMOJI}</script>
<script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1" id="jquery-core-js"></script>
{page.head}
</head>
<body class="home wp-singular page-template-default page page-id-42 wp-embed-responsive">
<a class="skip-link screen-reader-text" href="#wp--skip-link--target">↓</a>
<div class="wp-site-blocks">
<header class="wp-block-template-part"><div class="wp-block-group alignwide is-layout-flex">
<p class="wp-block-site-title"><a href="/" rel="home">{page.name}</a></p>{page.phone}
<nav class="wp-block-navigation is-responsive"><ul class="wp-block-navigation__container">{menu}</ul></nav>
</div></header>
<main id="wp--skip-link--target" class="wp-block-group"><div class="entry-content wp-block-post-content">
{page.main}
</div></main>
<footer class="wp-block-template-part"><div class="wp-block-group has-small-font-size">{page.socials}
<ul class="menu">{legal}</ul><p>© 2025 {page.name}</p>{page.credit}</div></footer>
</div>
<script id="wp-block-template-skip-link-js-after">(function(){{var s=document.querySelector('main');}}());</script>
<script src="/wp-content/plugins/contact-form-7/includes/js/index.js?ver=6.0.3" id="contact-form-7-js"></script>
</body>
</html>
"""
