"""The screens that are checked for accessibility and for a width of 320 px: one line for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Screen:
    """A page: its path below /console (`{contacts}` is the id of a contact), who opens it, what is clicked first."""

    path: str
    role: str = "admin"  # empty: nobody is logged in
    click: str = ""  # a selector: a menu or a dialog that is checked open


SCREENS = (
    Screen("/login", ""),
    Screen("/line"),
    Screen("/line", "viewer"),
    Screen("/searches"),
    Screen("/searches/new", "curator"),
    Screen("/searches/new?text=bakeries+in+Turku", "curator"),
    Screen("/searches/{searches}"),
    Screen("/searches/{searches}?tab=businesses", "viewer"),
    Screen("/searches/{searches}?tab=files", "viewer"),
    Screen("/searches/{searches}", "viewer", ".head .menu summary"),
    Screen("/searches/new?text=bakeries+in+Turku%0Ahotels&near=60.1,24.9", "curator"),
    Screen("/searches/{searches}/change", "curator"),
    Screen("/searches/{searches}/schedule", "viewer"),
    Screen("/searches/{campaigns}/schedule", "curator", ".head .menu summary"),
    Screen("/schedules", "curator"),
    Screen("/schedules?paused=true", "viewer"),
    Screen("/searches?provider=campaign", "curator"),
    Screen("/searches/{campaigns}?tab=searches", "curator", ".head .menu:nth-of-type(2) summary"),
    Screen("/searches?campaign_id={campaigns}&place_search_status=Completed"),
    Screen("/account"),
    Screen("/account", "viewer", ".top summary"),
    Screen("/nothing"),
    Screen("/import", "operator"),
    Screen("/deliveries"),
    Screen("/deliveries/new", "operator"),
    Screen("/destinations"),
    Screen("/destinations/new"),
    Screen("/destinations/new?kind=brevo"),
    Screen("/files", "viewer"),
    Screen("/people"),
    Screen("/keys", "viewer"),
    Screen("/privacy"),
    Screen("/audit"),
    Screen("/audit?actor=nobody"),
    Screen("/help", "viewer"),
    *(Screen(f"/{noun}") for noun in ("places", "businesses", "domains", "sitemaps", "pages", "contacts")),
    *(Screen(f"/{noun}/{{{noun}}}") for noun in ("places", "businesses", "domains", "sitemaps", "pages", "contacts")),
    Screen("/contacts?open={contacts}"),
    Screen("/contacts?verdict=risky&text=zzz"),
    Screen("/contacts", "viewer", "a[data-key=f]"),
    *(Screen(f"/contacts?verdict=deliverable&menu={menu}") for menu in ("verdict", "columns", "views")),
    Screen("/contacts", "operator", ".decide summary"),
    Screen("/contacts/new", "curator"),
    Screen("/contacts/{contacts}/edit", "curator"),
    Screen("/contacts/duplicates?by=phone", "curator"),
    Screen("/contacts/deliver?has_email=true", "operator"),
    Screen("/find?find=a"),
    Screen("/map"),
    Screen("/map?search_id={searches}&box=24,60,26,61", "viewer"),
    Screen("/places/matching?search_id={searches}", "curator"),
    *(
        Screen(f"/queues/{name}", click=click)
        for name, click in (("domain_metadata", ".as-table summary"), ("delivery", ""))
    ),
    Screen("/queues/page_curation?section=skipped&of=own&period=7d", "operator", ".pause summary"),
    Screen("/queues/page_curation", "viewer"),
    *(Screen(path) for path in ("/dead-letters", "/dead-letters/rows", "/dead-letters/drop", "/runs", "/jobs")),
    *(Screen(path) for path in ("/system", "/system/tenants", "/system/settings")),
    Screen("/runs?since=yesterday"),
)
