"""The reason why a row of leads has no contact, as a SQL expression: the first step that did not succeed.

`b` is the business of the row, `d` its domain (one of them may be NULL), `site.hidden_reason` why its site shows
nothing to a plain reader (store/line/hidden_sites.py), `:searches` the searches. A part is evaluated only if the parts
before it give no reason.
"""

_NOT_SELECTED = "'not read: neither a person nor a rule has selected it'"
_WAITING = "IN ('Queued', 'Processing')"
_FAILED = "IN ('Skipped', 'Error')"

# Of a site that was read and has nothing to read.
_OF_HIDDEN = """CASE site.hidden_reason
        WHEN 'javascript' THEN 'its pages are drawn by JavaScript: '
            || coalesce(d.browser ->> 'result', 'their HTML has no text; a browser may read them (CRAWL_BROWSER)')
        WHEN 'bot_check' THEN 'its pages ask for a proof that the visitor is human; '
            || coalesce(d.browser ->> 'result', 'a browser may pass it (CRAWL_BROWSER)')
        WHEN 'login' THEN 'its pages ask for a login'
        WHEN 'consent' THEN 'its pages ask for consent to cookies, or for the age of the visitor, first'
        WHEN 'parked' THEN 'the domain is parked'
        WHEN 'unfinished' THEN 'the site is under construction or in maintenance' END"""

_OF_PAGES = f"""(
    SELECT CASE
        WHEN count(*) FILTER (WHERE waiting) > 0 THEN
            'not read yet' || coalesce(': ' || mode() WITHIN GROUP (ORDER BY error) FILTER (WHERE waiting), '')
        WHEN site.hidden_reason IS NOT NULL THEN {_OF_HIDDEN}
        WHEN count(*) FILTER (WHERE completed) = 1 THEN 'no contact on the one page that was read'
        WHEN count(*) FILTER (WHERE completed) > 1 THEN
            'no contact on the ' || count(*) FILTER (WHERE completed) || ' pages that were read'
        WHEN count(*) > 0 THEN
            'its pages could not be read' || coalesce(': ' || mode() WITHIN GROUP (ORDER BY error), '') END
    FROM (SELECT page_processing_status {_WAITING} AS waiting, page_processing_status = 'Completed' AS completed,
            page_processing_error AS error
        FROM page WHERE domain_id = d.id AND page_processing_status <> 'New') read)"""  # noqa: S608 - own names

# Of a site none of whose pages was selected.
_OF_SITEMAPS = f"""(
    SELECT CASE
        WHEN count(*) FILTER (WHERE waiting) > 0 THEN
            'not read yet' || coalesce(': ' || mode() WITHIN GROUP (ORDER BY error) FILTER (WHERE waiting), '')
        WHEN count(*) FILTER (WHERE completed) > 0 THEN NULL
        WHEN count(*) FILTER (WHERE failed) > 0 THEN 'its sitemaps could not be read'
            || coalesce(': ' || mode() WITHIN GROUP (ORDER BY error) FILTER (WHERE failed), '')
        WHEN count(*) > 0 THEN {_NOT_SELECTED} END
    FROM (SELECT sitemap_import_status {_WAITING} AS waiting, sitemap_import_status = 'Completed' AS completed,
            sitemap_import_status {_FAILED} AS failed, sitemap_import_error AS error
        FROM sitemap_file WHERE domain_id = d.id AND kind IS DISTINCT FROM 'index') read)"""  # noqa: S608 - own names

NO_CONTACT_REASON = f"""CASE
    WHEN d.id IS NULL THEN coalesce(b.domain_extraction_error, b.site_search_error,
        CASE WHEN b.profiles IS NOT NULL THEN 'its website is a profile elsewhere' END, 'no web site yet')
    WHEN EXISTS (SELECT FROM contact t WHERE t.domain_id = d.id AND (t.email IS NOT NULL
        OR (t.phone IS NOT NULL AND t.found_by IS DISTINCT FROM 'provider'))) THEN
        'every contact was rejected or is suppressed'
    WHEN d.domain_metadata_status {_FAILED} THEN d.domain_metadata_error
    WHEN d.domain_metadata_status {_WAITING} THEN 'not read yet' || coalesce(': ' || d.domain_metadata_error, '')
    WHEN d.sitemap_analysis_status {_FAILED} THEN d.sitemap_analysis_error
    WHEN d.sitemap_analysis_status {_WAITING} THEN 'not read yet' || coalesce(': ' || d.sitemap_analysis_error, '')
    ELSE coalesce({_OF_PAGES},
        CASE WHEN d.sitemap_analysis_status = 'New' THEN {_NOT_SELECTED} END,
        {_OF_SITEMAPS},
        (SELECT {_NOT_SELECTED} FROM search q WHERE q.id = ANY (CAST(:searches AS uuid[]))
            AND q.rules ->> 'page_curation' = 'off' LIMIT 1),
        'no page worth reading was found') END"""  # noqa: S608 - own names
