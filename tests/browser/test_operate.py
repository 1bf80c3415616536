"""The operator's work in a browser: a chart and its table, pause and resume by keyboard, a group of dead letters."""

import asyncpg
from playwright.async_api import expect

STEP = "contact_verification"
FAIL = """
WITH row AS (
    UPDATE contact SET contact_verification_status = 'Error', contact_verification_error = 'no answer in 5 s'
    WHERE id IN (SELECT id FROM contact WHERE email <> '' ORDER BY id LIMIT 4) RETURNING id, tenant_id
)
INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message)
SELECT tenant_id, 'contact.contact_verification', id, 5, 'TimedOut', 'no answer in 5 s' FROM row"""


async def test_the_table_of_a_chart_has_the_links_of_its_bars(tab, site):
    page = await tab("operator")
    await page.goto(site.path("/queues/page_curation"))
    bars = await page.locator(".plot a").count()
    assert bars > 0
    figure = page.locator("figure.chart").first
    await figure.locator("summary").focus()
    await page.keyboard.press("Enter")
    link = figure.locator("tbody a").first
    await expect(link).to_be_visible()
    await link.click()
    await expect(page.locator("h1")).to_have_text("Runs")
    await expect(page.locator("tbody tr").first.get_by_role("rowheader")).to_have_text("pages")


async def test_a_step_is_paused_and_resumed_by_keyboard_alone(tab, site):
    page = await tab("operator")
    await page.goto(site.path("/line"))
    await page.get_by_role("button", name=f"Pause {STEP}").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".notice")).to_contain_text(f"{STEP} is paused")
    resume = page.get_by_role("button", name=f"Resume {STEP}")
    await resume.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".notice")).to_contain_text(f"{STEP} runs again")
    await expect(page.get_by_role("button", name=f"Pause {STEP}")).to_be_visible()


async def test_a_group_of_dead_letters_is_retried_without_javascript(tab, site, server):
    page = await tab("operator", javascript=False)
    await page.goto(site.path(f"/queues/{STEP}"))
    await page.get_by_role("button", name=f"Run {STEP} now").wait_for()
    connection = await asyncpg.connect(server.url("browser"))
    try:
        await connection.execute(FAIL)
        await page.goto(site.path("/dead-letters"))
        await page.get_by_role("button", name=f"Retry {STEP}, 4 rows").click()
        await expect(page.locator(".notice")).to_contain_text("4 rows are queued again.")
        left = "SELECT count(*) FROM dead_letter WHERE message = 'no answer in 5 s'"
        assert await connection.fetchval(left) == 0
    finally:
        await connection.close()
