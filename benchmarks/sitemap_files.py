"""The files the sitemap benchmark reads: one rich, one rich and compressed, one plain, 50,000 URLs each."""

import gzip
from pathlib import Path

URLS = 50_000
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
)


def write_files(folder: Path) -> list[Path]:
    """Write big50k.xml, big50k.xml.gz and plain50k.xml."""
    big = (HEAD + "".join(_rich(number) for number in range(URLS)) + "</urlset>\n").encode()
    plain = (HEAD + "".join(_plain(number) for number in range(URLS)) + "</urlset>\n").encode()
    contents = {"big50k.xml": big, "big50k.xml.gz": gzip.compress(big, 6), "plain50k.xml": plain}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def _plain(number: int) -> str:
    return f"<url><loc>{_loc(number)}</loc><lastmod>{_day(number)}</lastmod></url>\n"


def _rich(number: int) -> str:
    """Add lastmod, changefreq and priority; some records also get entities, images, videos and languages."""
    query = f"?id={number}&amp;lang=en" if number % 10 == 0 else ""
    return (
        f"  <url>\n    <loc>{_loc(number)}{query}</loc>\n"
        f"    <lastmod>{_day(number)}T{number % 24:02d}:15:{number % 60:02d}+00:00</lastmod>\n"
        f"    <changefreq>weekly</changefreq>\n    <priority>0.{number % 10}</priority>\n"
        f"{_image(number) if number % 4 == 0 else ''}{_video(number) if number % 20 == 0 else ''}"
        f"{_languages(number) if number % 5 == 0 else ''}  </url>\n"
    )


def _loc(number: int) -> str:
    return f"https://www.example.com/category-{number % 97}/some-product-name-{number}.html"


def _day(number: int) -> str:
    return f"2025-{number % 12 + 1:02d}-{number % 28 + 1:02d}"


def _image(number: int) -> str:
    place = f"https://cdn.example.com/images/{number}.jpg"
    return (
        f"    <image:image>\n      <image:loc>{place}</image:loc>\n"
        f"      <image:title>Product {number}</image:title>\n    </image:image>\n"
    )


def _video(number: int) -> str:
    place = f"https://cdn.example.com/videos/{number}"
    return (
        f"    <video:video>\n      <video:thumbnail_loc>{place}.jpg</video:thumbnail_loc>\n"
        f"      <video:title>Video {number}</video:title>\n      <video:description>D {number}</video:description>\n"
        f"      <video:content_loc>{place}.mp4</video:content_loc>\n    </video:video>\n"
    )


def _languages(number: int) -> str:
    return "".join(
        f'    <xhtml:link rel="alternate" hreflang="{language}" href="{_loc(number)}?{language}"/>\n'
        for language in ("de", "fi")
    )
