"""The pseudo-language on a phone: every word is translated, and no button is cut although words are longer."""

from playwright.async_api import Page

from tests.browser.conftest import OpenTab, Site

SCREENS = (
    ("", "/login"),
    ("curator", "/searches"),
    ("curator", "/searches/new?text=bakeries+in+Turku"),
    ("operator", "/searches/{searches}?tab=files"),
    ("curator", "/searches/{searches}/change"),
    ("operator", "/searches/{searches}/deliver"),
    ("operator", "/import"),
    ("operator", "/deliveries/new"),
    ("admin", "/destinations/new?kind=brevo"),
    ("viewer", "/files"),
    ("admin", "/people"),
    ("viewer", "/keys"),
    ("admin", "/privacy"),
    ("admin", "/audit"),
    ("viewer", "/account"),
    ("viewer", "/help"),
)
# Text that is not in brackets, outside of data (bdi), times, names of programs and file formats.
PLAIN = """() => {
    const found = [];
    const data = ".grid-form tbody :is(th, td:not(:has(span))), bdi";
    const skipped = data + ", time, code, kbd, script, style, option, textarea, .brand, .file-links, .why, title";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const rest = node.textContent.replace(/\\[[^\\]]*\\]/g, "");
        if (/\\p{L}{2}/u.test(rest) && !node.parentElement.closest(skipped)) found.push(node.textContent.trim());
    }
    return found;
}"""
CUT = """() => [...document.querySelectorAll("button, .button")].filter(one => {
    const box = one.getBoundingClientRect();
    return one.checkVisibility() && !one.closest(".scroll, .rail") && (one.scrollWidth > one.clientWidth + 1
        || box.right > innerWidth + 1 || box.left < -1);
}).map(one => one.textContent.trim())"""


async def test_no_word_is_untranslated_and_no_button_is_cut(tab: OpenTab, site: Site):
    wrong = []
    for role, path in SCREENS:
        page: Page = await tab(role, width=320)
        await page.context.add_cookies([{"name": "scrapersky-language", "value": "en-XA", "url": site.url}])
        await page.goto(site.path(path))
        assert await page.evaluate("document.documentElement.lang") == "en-XA"
        wrong += [f"{path}: untranslated {text!r}" for text in await page.evaluate(PLAIN)]
        wrong += [f"{path}: cut {text!r}" for text in await page.evaluate(CUT)]
        if (width := await page.evaluate("document.documentElement.scrollWidth")) > 320:
            wrong.append(f"{path}: {width} px wide")
    assert not wrong, "\n".join(wrong)
