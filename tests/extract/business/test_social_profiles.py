"""Social profiles: one address for each account; shares, posts and placeholders are rejected."""

import pytest

from scrapersky.extract.business.social_profiles import parse_profile
from scrapersky.extract.contacts import read_contacts


def found(html: str) -> list[tuple[str, str]]:
    return [(social.platform, social.url) for social in read_contacts(html).socials]


@pytest.mark.parametrize(
    ("url", "platform", "canonical"),
    [
        ("https://de-de.facebook.com/kontor/?ref=x", "facebook", "https://www.facebook.com/kontor"),
        ("http://fb.com/pages/Kontor/123456", "facebook", "https://www.facebook.com/pages/Kontor/123456"),
        (
            "https://www.facebook.com/profile.php?id=1000&x=1",
            "facebook",
            "https://www.facebook.com/profile.php?id=1000",
        ),
        ("https://www.facebook.com/kontor/photos/a.1/2", "facebook", "https://www.facebook.com/kontor"),
        ("//instagram.com/kontor/", "instagram", "https://www.instagram.com/kontor"),
        ("https://twitter.com/@kontor", "twitter", "https://x.com/kontor"),
        ("https://fi.linkedin.com/in/kim-lind/?trk=x", "linkedin", "https://www.linkedin.com/in/kim-lind"),
        ("https://www.linkedin.com/company/kontor/about/", "linkedin", "https://www.linkedin.com/company/kontor"),
        ("https://www.youtube.com/@kontor/videos", "youtube", "https://www.youtube.com/@kontor"),
        ("https://m.youtube.com/channel/UC123", "youtube", "https://www.youtube.com/channel/UC123"),
        ("https://www.tiktok.com/@kontor", "tiktok", "https://www.tiktok.com/@kontor"),
        ("https://www.pinterest.de/kontor/", "pinterest", "https://www.pinterest.com/kontor"),
        ("https://github.com/kontor", "github", "https://github.com/kontor"),
        ("https://www.xing.com/profile/Kim_Lind", "xing", "https://www.xing.com/profile/Kim_Lind"),
        ("https://vk.com/kontor", "vk", "https://vk.com/kontor"),
        ("https://www.threads.net/@kontor", "threads", "https://www.threads.net/@kontor"),
        ("https://mastodon.social/@kontor", "mastodon", "https://mastodon.social/@kontor"),
        ("https://t.me/kontor", "telegram", "https://t.me/kontor"),
    ],
)
def test_an_account_has_one_address(url: str, platform: str, canonical: str) -> None:
    assert found(f"<a href='{url}'>x</a>") == [(platform, canonical)]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/",
        "https://www.facebook.com/sharer/sharer.php?u=x",
        "https://www.facebook.com/plugins/page.php?href=x",
        "https://www.facebook.com/yourpage",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/kontor/status/12345",
        "https://www.instagram.com/p/Cabc/",
        "https://www.linkedin.com/shareArticle?url=x",
        "https://www.youtube.com/watch?v=abc",
        "https://www.youtube.com/embed/abc",
        "https://pinterest.com/pin/create/button/?url=x",
        "https://github.com/kontor/theme",
        "https://www.facebook.com/wix",
        "https://vimeo.com/123456",
        "https://facebook.com.evil.example/kontor",
        "https://notfacebook.com/kontor",
    ],
)
def test_share_links_posts_and_placeholders_are_no_profiles(url: str) -> None:
    assert found(f"<a href='{url}'>x</a>") == []


def test_profiles_come_from_structured_data_and_from_plain_text() -> None:
    html = """<script type="application/ld+json">{"@type": "Hotel", "sameAs": ["https://instagram.com/kontor"]}</script>
    <p>Find us: facebook.com/kontor.hotel</p>"""
    assert {platform for platform, _ in found(html)} == {"instagram", "facebook"}


def test_the_profile_of_the_page_s_maker_is_rejected() -> None:
    contacts = read_contacts("<p>Web design by <a href='https://x.com/werkstatt'>Werkstatt</a></p>")
    assert contacts.socials == ()
    assert contacts.rejected[0].reason == "maker of the page or theme"


def test_a_malformed_address_is_ignored() -> None:
    assert parse_profile("https://[facebook.com/x") is None


def test_a_handle_behind_the_name_of_the_platform_is_a_profile() -> None:
    found = read_contacts("<p>Instagram: @kuzguncuk.seramik</p><p>TikTok @kuzguncuk</p><p>Mail us @ noon</p>").socials
    assert [social.url for social in found] == [
        "https://www.instagram.com/kuzguncuk.seramik",
        "https://www.tiktok.com/@kuzguncuk",
    ]
