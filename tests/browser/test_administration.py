"""Import by paste, an invitation, and an erasure after its preview: by keyboard alone, and without violations."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_screens import violations, wrong_with

TABLE = "Firma;E-Mail;Telefon\nKuusi Oy;anna.kuusi@kuusi-dental.fi;+358401234567\nBad;no address;12\n"


async def press(page: Page, name: str) -> None:
    """Press a button by its name, with the keyboard, and wait for the page that comes."""
    await page.get_by_role("button", name=name, exact=True).focus()
    async with page.expect_navigation():
        await page.keyboard.press("Enter")


async def fill(page: Page, label: str, text: str) -> None:
    """Type into the field whose label begins like this; the shortest such label is meant."""
    exact = page.get_by_label(label, exact=True)
    await (exact if await exact.count() else page.get_by_label(label)).focus()
    await page.keyboard.insert_text(text)


async def test_contacts_are_imported_by_paste_and_a_person_among_them_is_erased(tab, site):
    page = await tab("admin")
    await page.goto(site.path("/import"))
    await fill(page, "Or paste", TABLE)
    await press(page, "Look at the columns")
    assert await page.get_by_label("What the column E-Mail is taken for").input_value() == ""
    found = await violations(page)
    await press(page, "Rehearse")
    assert await page.locator("#errors").is_visible()
    found += await violations(page)
    await press(page, "Import 1 row")
    assert "The import is done." in await page.locator(".notice").inner_text()
    found += await violations(page)
    await page.goto(site.path("/privacy"))
    await fill(page, "Email address", "anna.kuusi@kuusi-dental.fi")
    await press(page, "Look up")
    shown = (await page.locator("main").inner_text()).replace("\n", " ")
    assert "1 contact is deleted" in shown, shown
    found += await violations(page)
    await press(page, "Erase for ever")
    assert await page.get_by_role("heading", name="The person is erased").is_visible()
    assert not found, "\n".join(found)


async def test_an_invited_person_chooses_a_name_and_a_password(tab, site):
    page = await tab("admin")
    await page.goto(site.path("/people"))
    await page.get_by_label("Role of the new person").select_option("curator")
    await press(page, "Invite")
    link = await page.get_by_label("Send this link").input_value()
    assert not await violations(page)
    guest = await tab("", javascript=False)
    await guest.goto(link)
    await fill(guest, "Name", "grace")
    await fill(guest, "Password", "correct horse battery staple")
    async with guest.expect_navigation():
        await guest.keyboard.press("Enter")
    await guest.goto(site.path("/account"))
    assert await guest.get_by_role("heading", name="Your logins").is_visible()


async def test_choices_of_times_and_density_are_kept(tab, site):
    page = await tab("viewer")
    await page.goto(site.path("/account"))
    await page.get_by_label("day and hour").check()
    await page.get_by_label("dense").check()
    await fill(page, "Time zone", "Asia/Tokyo")
    await press(page, "Keep")
    shown = await page.locator("time").first.inner_text()
    assert "ago" not in shown
    assert await page.locator("html").get_attribute("data-density") == "dense"
    for label in ("“2 min ago”", "normal"):
        await page.get_by_label(label).check()
    await page.get_by_label("Time zone").fill("")
    await press(page, "Keep")
    assert await page.locator("html").get_attribute("data-density") is None


@pytest.mark.parametrize("javascript", [True, False])
async def test_what_cannot_be_undone_asks_first(tab, site, javascript):
    page: Page = await tab("curator", width=320, javascript=javascript)
    await page.goto(site.path("/keys"))
    name = f"nightly {javascript}"
    await page.get_by_label("Name of the new key").fill(name)
    await page.get_by_role("button", name="Create the key").click()
    await page.goto(site.path("/keys"))
    question = page.get_by_role("dialog", name=f"Revoke the key {name}")
    await page.get_by_role("button", name=f"Revoke the key {name}").click()
    await expect(question).to_contain_text("A program that uses it is refused")
    if javascript:
        assert not await wrong_with(page)
    await question.get_by_role("button", name="Back").click()
    await expect(question).to_be_hidden()
    await page.get_by_role("button", name=f"Revoke the key {name}").click()
    await question.get_by_role("button", name="Revoke for ever").click()
    await expect(page.locator("tr", has_text=name)).to_contain_text("revoked")
