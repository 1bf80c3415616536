"""Why a row of a file of leads has no contact, as an expression of SQL: the first thing that stood in the way."""

_UNCHOSEN = "'not read: neither a person nor a rule has chosen it'"
_OPEN = "IN ('Queued', 'Processing')"
_VAIN = "IN ('Skipped', 'Error')"


def _because(said: str, error: str) -> str:
    """The sentence with its reason; what waits has one only when it was tried before."""
    return f"'{said}' || coalesce(': ' || {error}, '')"


def _commonest(status: str) -> str:
    return f"mode() WITHIN GROUP (ORDER BY r.error) FILTER (WHERE r.status {status})"


def _any(status: str) -> str:
    return f"bool_or(r.status {status})"


# How the pages of a site ended: some are still to come, some were read, or none could be.
_OF_PAGES = f"""(
    SELECT CASE
        WHEN {_any(_OPEN)} THEN {_because("not read yet", _commonest(_OPEN))}
        WHEN count(*) FILTER (WHERE r.status = 'Completed') = 1 THEN 'no contact on the one page that was read'
        WHEN {_any("= 'Completed'")} THEN
            'no contact on the ' || count(*) FILTER (WHERE r.status = 'Completed') || ' pages that were read'
        WHEN {_any(_VAIN)} THEN {_because("its pages could not be read", _commonest(_VAIN))} END
    FROM (SELECT page_processing_status AS status, page_processing_error AS error
        FROM page WHERE domain_id = d.id AND page_processing_status <> 'New') r)"""  # noqa: S608 - own names

# Where no page was chosen: its sitemaps are still to come, could not be read, or named nothing worth reading.
_OF_SITEMAPS = f"""(
    SELECT CASE
        WHEN {_any(_OPEN)} THEN {_because("not read yet", _commonest(_OPEN))}
        WHEN {_any("= 'Completed'")} THEN NULL
        WHEN {_any(_VAIN)} THEN {_because("its sitemaps could not be read", _commonest(_VAIN))}
        WHEN count(*) > 0 THEN {_UNCHOSEN} END
    FROM (SELECT sitemap_import_status AS status, sitemap_import_error AS error
        FROM sitemap_file WHERE domain_id = d.id AND kind IS DISTINCT FROM 'index') r)"""  # noqa: S608 - own names

# Of an owner `o` and its domain `d`, which may be missing. Each part is asked only when those before it said nothing.
WHY_NO_CONTACT = f"""CASE
        WHEN d.id IS NULL THEN coalesce(o.domain_extraction_error,
            CASE WHEN o.profiles IS NOT NULL THEN 'its website is a profile elsewhere' END, 'no web site yet')
        WHEN EXISTS (SELECT FROM contact t WHERE t.domain_id = d.id AND coalesce(t.email, t.phone) IS NOT NULL) THEN
            'every contact was turned down or is suppressed'
        WHEN d.domain_metadata_status {_VAIN} THEN d.domain_metadata_error
        WHEN d.domain_metadata_status {_OPEN} THEN
            {_because("not read yet", "d.domain_metadata_error")}
        WHEN d.sitemap_analysis_status {_VAIN} THEN d.sitemap_analysis_error
        WHEN d.sitemap_analysis_status {_OPEN} THEN
            {_because("not read yet", "d.sitemap_analysis_error")}
        ELSE coalesce({_OF_PAGES},
            CASE WHEN d.sitemap_analysis_status = 'New' THEN {_UNCHOSEN} END,
            {_OF_SITEMAPS},
            (SELECT {_UNCHOSEN} FROM search q WHERE q.id = :search AND q.rules ->> 'page_curation' = 'off'),
            'no page worth reading was found') END"""  # noqa: S608 - own names
