-- The schema of a migrated database, written by `make schema`. Do not edit: change migrations/ instead.
-- A picture and a sentence about each table are in schema.md; the reasons are in the comments of migrations/sql.

CREATE TABLE alarm (
    id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    message text NOT NULL,
    raised_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    raised_to uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    resolved_to uuid[] DEFAULT '{}'::uuid[] NOT NULL
);

CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE api_key (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    secret_hash text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY api_key FORCE ROW LEVEL SECURITY;

CREATE TABLE applied_revision (
    "position" integer NOT NULL,
    revision text NOT NULL,
    oldest_code text
);

CREATE TABLE audit (
    id bigint NOT NULL,
    tenant_id uuid,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    actor_id uuid,
    origin text NOT NULL,
    channel text GENERATED ALWAYS AS (split_part(origin, ' '::text, 1)) STORED,
    request_id text,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb
);

ALTER TABLE ONLY audit FORCE ROW LEVEL SECURITY;

CREATE TABLE business_domain (
    business_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    url text,
    linked_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY business_domain FORCE ROW LEVEL SECURITY;

CREATE TABLE campaign_search (
    campaign_id uuid NOT NULL,
    search_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    "position" integer NOT NULL
);

ALTER TABLE ONLY campaign_search FORCE ROW LEVEL SECURITY;

CREATE TABLE contact (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    domain_id uuid,
    page_id uuid,
    business_id uuid,
    merged_into_id uuid,
    identity text NOT NULL,
    name text,
    title text,
    email text,
    email_host text GENERATED ALWAYS AS ((reverse(split_part(lower(email), '@'::text, 2)) || '.'::text)) STORED COLLATE pg_catalog."C",
    email_kind text,
    phone text,
    fax text,
    profiles jsonb,
    address text,
    source_url text,
    snippet text,
    found_by text,
    confidence double precision,
    verdict text,
    verification jsonb,
    name_key text GENERATED ALWAYS AS (lower("left"(name, 200))) STORED COLLATE pg_catalog."C",
    suppressed_at timestamp with time zone,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    edited_at timestamp with time zone,
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    contact_verification_status text DEFAULT 'New'::text NOT NULL,
    contact_verification_error text,
    contact_verification_attempts integer DEFAULT 0 NOT NULL,
    contact_verification_allowance integer DEFAULT 0 NOT NULL,
    contact_verification_due_at timestamp with time zone,
    contact_verification_order bigint DEFAULT 0 NOT NULL,
    contact_verification_revert_to text,
    company text,
    contact_verification_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    contact_verification_waits_for text,
    evidence_rank text,
    fact_ranks jsonb,
    first_name text,
    last_name text,
    honorific text,
    degree text,
    name_latin text,
    sources jsonb,
    is_merged_by_rule boolean DEFAULT false NOT NULL,
    is_separate boolean DEFAULT false NOT NULL,
    last_name_key text GENERATED ALWAYS AS (lower("left"(last_name, 200))) STORED COLLATE pg_catalog."C",
    changed_at timestamp with time zone,
    field_changes jsonb,
    CONSTRAINT contact_contact_verification_leased CHECK (((contact_verification_status <> 'Processing'::text) OR (contact_verification_due_at IS NOT NULL))),
    CONSTRAINT contact_contact_verification_revert_to_check CHECK ((contact_verification_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT contact_contact_verification_status_check CHECK ((contact_verification_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT contact_contact_verification_waits_for_check CHECK ((contact_verification_waits_for = ANY (ARRAY['tenant'::text, 'money'::text]))),
    CONSTRAINT contact_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT contact_verdict_check CHECK ((verdict = ANY (ARRAY['deliverable'::text, 'risky'::text, 'undeliverable'::text, 'unknown'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY contact FORCE ROW LEVEL SECURITY;

CREATE TABLE curation_action (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    resource text NOT NULL,
    curation_status text NOT NULL,
    actor text NOT NULL,
    row_count integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    undone_at timestamp with time zone,
    undone_by text
);

ALTER TABLE ONLY curation_action FORCE ROW LEVEL SECURITY;

CREATE TABLE curation_change (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    action_id uuid NOT NULL,
    resource text NOT NULL,
    row_id uuid NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL
);

ALTER TABLE ONLY curation_change FORCE ROW LEVEL SECURITY;

CREATE TABLE dead_letter (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    queue text NOT NULL,
    row_id uuid NOT NULL,
    attempts integer NOT NULL,
    error_type text NOT NULL,
    message text NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text GENERATED ALWAYS AS ("left"(regexp_replace(regexp_replace(message, 'https?://[^[:space:]]*[^[:space:].,;:)]|\m(?!robots[.]txt\M|sitemap[^[:space:]]*[.]xml\M)[[:alnum:]@_-]+([.][[:alnum:]@_-]+)*[.]([a-z]{2,}|[0-9]+)(:[0-9]+)?\M'::text, 'a site'::text, 'gi'::text), '\m(?![345][0-9][0-9]\M(?! (s|ms|seconds|minutes|bytes|KB|MB)\M))[0-9]+([.,][0-9]+)*'::text, '…'::text, 'g'::text), 300)) STORED
);

ALTER TABLE ONLY dead_letter FORCE ROW LEVEL SECURITY;

CREATE TABLE delivery (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    destination_id uuid NOT NULL,
    contact_id uuid,
    external_id text,
    fingerprint text,
    delivered_at timestamp with time zone,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    delivery_status text DEFAULT 'New'::text NOT NULL,
    delivery_error text,
    delivery_attempts integer DEFAULT 0 NOT NULL,
    delivery_allowance integer DEFAULT 0 NOT NULL,
    delivery_due_at timestamp with time zone,
    delivery_order bigint DEFAULT 0 NOT NULL,
    delivery_revert_to text,
    delivery_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    delivery_waits_for text,
    run_id uuid,
    CONSTRAINT delivery_delivery_leased CHECK (((delivery_status <> 'Processing'::text) OR (delivery_due_at IS NOT NULL))),
    CONSTRAINT delivery_delivery_revert_to_check CHECK ((delivery_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT delivery_delivery_status_check CHECK ((delivery_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT delivery_delivery_waits_for_check CHECK ((delivery_waits_for = ANY (ARRAY['tenant'::text, 'money'::text]))),
    CONSTRAINT delivery_one_subject CHECK ((num_nonnulls(contact_id, run_id) = 1))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY delivery FORCE ROW LEVEL SECURITY;

CREATE TABLE destination (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    url text,
    secret text,
    previous_secret text,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    rule jsonb DEFAULT '{}'::jsonb NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    cooldown_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY destination FORCE ROW LEVEL SECURITY;

CREATE TABLE domain (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    search_id uuid,
    name text NOT NULL,
    unicode_name text,
    country text,
    start_url text,
    final_url text,
    http_status integer,
    title text,
    description text,
    language text,
    favicon text,
    logo text,
    generator text,
    technologies text[] DEFAULT '{}'::text[] NOT NULL,
    facts jsonb,
    sitemap_reason text,
    sitemap_result text,
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    domain_metadata_status text DEFAULT 'New'::text NOT NULL,
    domain_metadata_error text,
    domain_metadata_attempts integer DEFAULT 0 NOT NULL,
    domain_metadata_allowance integer DEFAULT 0 NOT NULL,
    domain_metadata_due_at timestamp with time zone,
    domain_metadata_order bigint DEFAULT 0 NOT NULL,
    domain_metadata_revert_to text,
    sitemap_analysis_status text DEFAULT 'New'::text NOT NULL,
    sitemap_analysis_error text,
    sitemap_analysis_attempts integer DEFAULT 0 NOT NULL,
    sitemap_analysis_allowance integer DEFAULT 0 NOT NULL,
    sitemap_analysis_due_at timestamp with time zone,
    sitemap_analysis_order bigint DEFAULT 0 NOT NULL,
    sitemap_analysis_revert_to text,
    domain_metadata_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    domain_metadata_waits_for text,
    sitemap_analysis_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    sitemap_analysis_waits_for text,
    hidden_reason text,
    browser jsonb,
    CONSTRAINT domain_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT domain_domain_metadata_leased CHECK (((domain_metadata_status <> 'Processing'::text) OR (domain_metadata_due_at IS NOT NULL))),
    CONSTRAINT domain_domain_metadata_revert_to_check CHECK ((domain_metadata_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT domain_domain_metadata_status_check CHECK ((domain_metadata_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT domain_domain_metadata_waits_for_check CHECK ((domain_metadata_waits_for = ANY (ARRAY['tenant'::text, 'money'::text]))),
    CONSTRAINT domain_hidden_reason_check CHECK ((hidden_reason = ANY (ARRAY['javascript'::text, 'bot_check'::text, 'login'::text, 'consent'::text, 'parked'::text, 'unfinished'::text]))),
    CONSTRAINT domain_sitemap_analysis_leased CHECK (((sitemap_analysis_status <> 'Processing'::text) OR (sitemap_analysis_due_at IS NOT NULL))),
    CONSTRAINT domain_sitemap_analysis_revert_to_check CHECK ((sitemap_analysis_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT domain_sitemap_analysis_status_check CHECK ((sitemap_analysis_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT domain_sitemap_analysis_waits_for_check CHECK ((sitemap_analysis_waits_for = ANY (ARRAY['tenant'::text, 'money'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY domain FORCE ROW LEVEL SECURITY;

CREATE TABLE exported_lead (
    lead_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    file text NOT NULL,
    exported_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY exported_lead FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE fetched_body (
    url_hash bytea NOT NULL,
    head text NOT NULL,
    body bytea NOT NULL,
    size_bytes integer NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY fetched_body ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE host_limit (
    host text NOT NULL,
    next_allowed_at timestamp with time zone NOT NULL,
    permits jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE idempotency_key (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    status_code smallint NOT NULL,
    response jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY idempotency_key FORCE ROW LEVEL SECURITY;

CREATE TABLE invitation (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    role text NOT NULL,
    token_hash text NOT NULL,
    created_by uuid,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY invitation FORCE ROW LEVEL SECURITY;

CREATE TABLE job (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    progress double precision DEFAULT 0 NOT NULL,
    parameters jsonb NOT NULL,
    result jsonb,
    error text,
    subject_id uuid,
    requested_by uuid,
    cancel_requested_at timestamp with time zone,
    finished_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY job FORCE ROW LEVEL SECURITY;

CREATE TABLE local_business (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    place_id uuid,
    search_id uuid,
    name text NOT NULL,
    address text,
    street text,
    city text,
    region text,
    postcode text,
    country text,
    latitude double precision,
    longitude double precision,
    timezone text,
    phone text,
    website text,
    profiles jsonb,
    categories text[] DEFAULT '{}'::text[] NOT NULL,
    rating double precision,
    rating_count integer,
    price_level integer,
    hours jsonb,
    business_status text,
    details jsonb,
    name_key text GENERATED ALWAYS AS (lower("left"(name, 200))) STORED COLLATE pg_catalog."C",
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    domain_extraction_status text DEFAULT 'New'::text NOT NULL,
    domain_extraction_error text,
    domain_extraction_attempts integer DEFAULT 0 NOT NULL,
    domain_extraction_allowance integer DEFAULT 0 NOT NULL,
    domain_extraction_due_at timestamp with time zone,
    domain_extraction_order bigint DEFAULT 0 NOT NULL,
    domain_extraction_revert_to text,
    domain_extraction_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    domain_extraction_waits_for text,
    city_key text GENERATED ALWAYS AS (lower("left"(city, 200))) STORED COLLATE pg_catalog."C",
    expired_at timestamp with time zone,
    site_search_status text DEFAULT 'New'::text NOT NULL,
    site_search_error text,
    site_search_attempts integer DEFAULT 0 NOT NULL,
    site_search_allowance integer DEFAULT 0 NOT NULL,
    site_search_due_at timestamp with time zone,
    site_search_order bigint DEFAULT 0 NOT NULL,
    site_search_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    site_search_waits_for text,
    site_search_revert_to text,
    website_how text,
    website_confidence double precision,
    website_proof text,
    rejected_websites text[] DEFAULT '{}'::text[] NOT NULL,
    same_as_id uuid,
    same_reason text,
    same_confidence double precision,
    same_by text,
    separate_from uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    compared_at timestamp with time zone,
    chain text,
    changed_at timestamp with time zone,
    field_changes jsonb,
    CONSTRAINT local_business_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT local_business_domain_extraction_leased CHECK (((domain_extraction_status <> 'Processing'::text) OR (domain_extraction_due_at IS NOT NULL))),
    CONSTRAINT local_business_domain_extraction_revert_to_check CHECK ((domain_extraction_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT local_business_domain_extraction_status_check CHECK ((domain_extraction_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT local_business_domain_extraction_waits_for_check CHECK ((domain_extraction_waits_for = ANY (ARRAY['tenant'::text, 'money'::text]))),
    CONSTRAINT local_business_same_by_check CHECK ((same_by = ANY (ARRAY['rule'::text, 'person'::text]))),
    CONSTRAINT local_business_site_search_leased CHECK (((site_search_status <> 'Processing'::text) OR (site_search_due_at IS NOT NULL))),
    CONSTRAINT local_business_site_search_revert_to_check CHECK ((site_search_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT local_business_site_search_status_check CHECK ((site_search_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT local_business_site_search_waits_for_check CHECK ((site_search_waits_for = ANY (ARRAY['tenant'::text, 'money'::text]))),
    CONSTRAINT local_business_website_how_check CHECK ((website_how = ANY (ARRAY['email'::text, 'record'::text, 'name'::text, 'search'::text, 'person'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY local_business FORCE ROW LEVEL SECURITY;

CREATE TABLE maintenance (
    name text NOT NULL,
    ran_at timestamp with time zone,
    seconds double precision,
    result text,
    error text
);

CREATE TABLE match_key (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    business_id uuid NOT NULL
);

ALTER TABLE ONLY match_key FORCE ROW LEVEL SECURITY;

CREATE TABLE page (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    sitemap_file_id uuid,
    url text NOT NULL,
    country text,
    kind text,
    kind_score double precision,
    kind_reason text,
    depth smallint,
    last_modified timestamp with time zone,
    title text,
    http_status integer,
    etag text,
    fetched_at timestamp with time zone,
    contact_count integer,
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    page_processing_status text DEFAULT 'New'::text NOT NULL,
    page_processing_error text,
    page_processing_attempts integer DEFAULT 0 NOT NULL,
    page_processing_allowance integer DEFAULT 0 NOT NULL,
    page_processing_due_at timestamp with time zone,
    page_processing_order bigint DEFAULT 0 NOT NULL,
    page_processing_revert_to text,
    page_processing_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    page_processing_waits_for text,
    hidden_reason text,
    has_contact_form boolean,
    browser jsonb,
    CONSTRAINT page_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT page_hidden_reason_check CHECK ((hidden_reason = ANY (ARRAY['javascript'::text, 'bot_check'::text, 'login'::text, 'consent'::text, 'parked'::text, 'unfinished'::text]))),
    CONSTRAINT page_page_processing_leased CHECK (((page_processing_status <> 'Processing'::text) OR (page_processing_due_at IS NOT NULL))),
    CONSTRAINT page_page_processing_revert_to_check CHECK ((page_processing_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT page_page_processing_status_check CHECK ((page_processing_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT page_page_processing_waits_for_check CHECK ((page_processing_waits_for = ANY (ARRAY['tenant'::text, 'money'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY page FORCE ROW LEVEL SECURITY;

CREATE TABLE place (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    search_id uuid,
    provider text NOT NULL,
    provider_id text NOT NULL,
    name text NOT NULL,
    address text,
    latitude double precision,
    longitude double precision,
    phone text,
    website text,
    categories text[] DEFAULT '{}'::text[] NOT NULL,
    rating double precision,
    rating_count integer,
    business_status text,
    licence text,
    fetched_at timestamp with time zone,
    expires_at timestamp with time zone,
    details jsonb,
    name_key text GENERATED ALWAYS AS (lower("left"(name, 200))) STORED COLLATE pg_catalog."C",
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deep_scan_status text DEFAULT 'New'::text NOT NULL,
    deep_scan_error text,
    deep_scan_attempts integer DEFAULT 0 NOT NULL,
    deep_scan_allowance integer DEFAULT 0 NOT NULL,
    deep_scan_due_at timestamp with time zone,
    deep_scan_order bigint DEFAULT 0 NOT NULL,
    deep_scan_revert_to text,
    deep_scan_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    deep_scan_waits_for text,
    cell bigint GENERATED ALWAYS AS (map_cell(latitude, longitude)) STORED,
    CONSTRAINT place_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT place_deep_scan_leased CHECK (((deep_scan_status <> 'Processing'::text) OR (deep_scan_due_at IS NOT NULL))),
    CONSTRAINT place_deep_scan_revert_to_check CHECK ((deep_scan_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT place_deep_scan_status_check CHECK ((deep_scan_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT place_deep_scan_waits_for_check CHECK ((deep_scan_waits_for = ANY (ARRAY['tenant'::text, 'money'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY place FORCE ROW LEVEL SECURITY;

CREATE TABLE provider_cooldown (
    name text NOT NULL,
    until timestamp with time zone NOT NULL,
    reason text NOT NULL,
    failures integer DEFAULT 0 NOT NULL
);

CREATE TABLE provider_response (
    request_hash text NOT NULL,
    response text NOT NULL,
    size_bytes integer NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE quota_reschedule (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    after_order bigint DEFAULT '-9223372036854775808'::bigint NOT NULL,
    after_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    until_order bigint NOT NULL
);

ALTER TABLE ONLY quota_reschedule FORCE ROW LEVEL SECURITY;

CREATE TABLE quota_usage (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    day date NOT NULL,
    used integer NOT NULL
);

ALTER TABLE ONLY quota_usage FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE rate_limit (
    key text NOT NULL,
    tokens double precision NOT NULL,
    refilled_at timestamp with time zone NOT NULL
);

CREATE TABLE retention (
    name text NOT NULL,
    days integer NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT retention_days_check CHECK (((days >= 0) AND (days <= 36500)))
);

CREATE TABLE run (
    id bigint NOT NULL,
    workflow text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seconds double precision NOT NULL,
    claimed integer NOT NULL,
    completed integer NOT NULL,
    skipped integer NOT NULL,
    postponed integer NOT NULL,
    retried integer NOT NULL,
    failed integer NOT NULL,
    returned integer NOT NULL,
    lost integer NOT NULL,
    histogram bigint[] NOT NULL,
    error text,
    cycles integer DEFAULT 1 NOT NULL
);

CREATE TABLE saved_view (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    tenant_id uuid NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    user_id uuid NOT NULL,
    noun text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    shared boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY saved_view FORCE ROW LEVEL SECURITY;

CREATE TABLE schedule (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    tenant_id uuid NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_id uuid NOT NULL,
    every_seconds integer,
    cron text,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    next_run_at timestamp with time zone NOT NULL,
    last_run_at timestamp with time zone,
    last_outcome text,
    last_reason text,
    run_count integer DEFAULT 0 NOT NULL,
    paused_at timestamp with time zone,
    paused_by text,
    created_by uuid,
    CONSTRAINT schedule_last_outcome CHECK ((last_outcome = ANY (ARRAY['started'::text, 'skipped'::text, 'refused'::text]))),
    CONSTRAINT schedule_one_recurrence CHECK (((every_seconds IS NULL) <> (cron IS NULL)))
);

ALTER TABLE ONLY schedule FORCE ROW LEVEL SECURITY;

CREATE TABLE search (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    text text NOT NULL,
    area text,
    provider text NOT NULL,
    result_limit integer,
    budget_cents integer,
    cost_cents integer DEFAULT 0 NOT NULL,
    spent_cents integer DEFAULT 0 NOT NULL,
    call_count integer DEFAULT 0 NOT NULL,
    details_count integer DEFAULT 0 NOT NULL,
    details_cents integer DEFAULT 0 NOT NULL,
    result_count integer DEFAULT 0 NOT NULL,
    stopped_by_budget boolean DEFAULT false NOT NULL,
    notes text,
    cancelled_by text,
    rules jsonb,
    requested_by uuid,
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    place_search_status text DEFAULT 'New'::text NOT NULL,
    place_search_error text,
    place_search_attempts integer DEFAULT 0 NOT NULL,
    place_search_allowance integer DEFAULT 0 NOT NULL,
    place_search_due_at timestamp with time zone,
    place_search_order bigint DEFAULT 0 NOT NULL,
    place_search_revert_to text,
    cost_micros bigint DEFAULT 0 NOT NULL,
    spent_micros bigint DEFAULT 0 NOT NULL,
    details_micros bigint DEFAULT 0 NOT NULL,
    place_search_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    place_search_waits_for text,
    area_request jsonb,
    area_found jsonb,
    name text,
    campaign_id uuid,
    is_partial boolean DEFAULT false NOT NULL,
    CONSTRAINT search_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT search_place_search_leased CHECK (((place_search_status <> 'Processing'::text) OR (place_search_due_at IS NOT NULL))),
    CONSTRAINT search_place_search_revert_to_check CHECK ((place_search_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT search_place_search_status_check CHECK ((place_search_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT search_place_search_waits_for_check CHECK ((place_search_waits_for = ANY (ARRAY['tenant'::text, 'money'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY search FORCE ROW LEVEL SECURITY;

CREATE TABLE search_business (
    search_id uuid NOT NULL,
    business_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    found_at timestamp with time zone DEFAULT now(),
    seen_at timestamp with time zone DEFAULT now()
);

ALTER TABLE ONLY search_business FORCE ROW LEVEL SECURITY;

CREATE TABLE search_contact (
    search_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY search_contact FORCE ROW LEVEL SECURITY;

CREATE TABLE search_domain (
    search_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    found_at timestamp with time zone DEFAULT now()
);

ALTER TABLE ONLY search_domain FORCE ROW LEVEL SECURITY;

CREATE TABLE search_journal (
    search_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    query text NOT NULL,
    page_token text NOT NULL,
    page jsonb NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY search_journal FORCE ROW LEVEL SECURITY;

CREATE TABLE search_place (
    search_id uuid NOT NULL,
    place_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    found_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now()
);

ALTER TABLE ONLY search_place FORCE ROW LEVEL SECURITY;

CREATE TABLE search_progress (
    search_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    counted_at timestamp with time zone NOT NULL,
    seconds double precision NOT NULL,
    is_done boolean NOT NULL,
    snapshot jsonb NOT NULL
);

ALTER TABLE ONLY search_progress FORCE ROW LEVEL SECURITY;

CREATE TABLE search_run (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    search_id uuid NOT NULL,
    number integer NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    is_complete boolean DEFAULT false NOT NULL,
    is_whole boolean DEFAULT false NOT NULL,
    counts jsonb,
    found jsonb,
    notified uuid[] DEFAULT '{}'::uuid[] NOT NULL
);

ALTER TABLE ONLY search_run FORCE ROW LEVEL SECURITY;

CREATE TABLE session (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_hash text NOT NULL,
    previous_token_hash text,
    family_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    origin text NOT NULL,
    user_agent text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    browser_hash text
);

ALTER TABLE ONLY session FORCE ROW LEVEL SECURITY;

CREATE TABLE sitemap_file (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    parent_id uuid,
    url text NOT NULL,
    kind text,
    discovered_by text,
    url_count integer,
    size_bytes integer,
    last_modified timestamp with time zone,
    etag text,
    partial_reason text,
    curation_status text DEFAULT 'New'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    sitemap_import_status text DEFAULT 'New'::text NOT NULL,
    sitemap_import_error text,
    sitemap_import_attempts integer DEFAULT 0 NOT NULL,
    sitemap_import_allowance integer DEFAULT 0 NOT NULL,
    sitemap_import_due_at timestamp with time zone,
    sitemap_import_order bigint DEFAULT 0 NOT NULL,
    sitemap_import_revert_to text,
    sitemap_import_flow uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    sitemap_import_waits_for text,
    CONSTRAINT sitemap_file_curation_status_check CHECK ((curation_status = ANY (ARRAY['New'::text, 'Selected'::text, 'Maybe'::text, 'Not a Fit'::text, 'Archived'::text]))),
    CONSTRAINT sitemap_file_sitemap_import_leased CHECK (((sitemap_import_status <> 'Processing'::text) OR (sitemap_import_due_at IS NOT NULL))),
    CONSTRAINT sitemap_file_sitemap_import_revert_to_check CHECK ((sitemap_import_revert_to = ANY (ARRAY['New'::text, 'Completed'::text]))),
    CONSTRAINT sitemap_file_sitemap_import_status_check CHECK ((sitemap_import_status = ANY (ARRAY['New'::text, 'Queued'::text, 'Processing'::text, 'Completed'::text, 'Skipped'::text, 'Error'::text]))),
    CONSTRAINT sitemap_file_sitemap_import_waits_for_check CHECK ((sitemap_import_waits_for = ANY (ARRAY['tenant'::text, 'money'::text])))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY sitemap_file FORCE ROW LEVEL SECURITY;

CREATE TABLE spending (
    tenant_id uuid NOT NULL,
    provider text NOT NULL,
    method text NOT NULL,
    month date NOT NULL,
    calls integer NOT NULL,
    cents integer NOT NULL,
    micros bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY spending FORCE ROW LEVEL SECURITY;

CREATE TABLE suppression (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    value text,
    value_hash text NOT NULL,
    reason text,
    origin text DEFAULT 'person'::text NOT NULL,
    created_by uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT suppression_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'domain'::text, 'phone'::text, 'person'::text])))
);

ALTER TABLE ONLY suppression FORCE ROW LEVEL SECURITY;

CREATE TABLE tenant (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    is_operator boolean DEFAULT false NOT NULL,
    disabled_at timestamp with time zone,
    searches_per_day integer,
    pages_per_day integer,
    cents_per_month integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_cents_per_month_check CHECK ((cents_per_month >= 0)),
    CONSTRAINT tenant_pages_per_day_check CHECK ((pages_per_day >= 0)),
    CONSTRAINT tenant_searches_per_day_check CHECK ((searches_per_day >= 0))
);

ALTER TABLE ONLY tenant FORCE ROW LEVEL SECURITY;

CREATE TABLE unanswered_call (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    search_id uuid,
    provider text NOT NULL,
    method text NOT NULL,
    month date NOT NULL,
    micros bigint NOT NULL,
    called_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY unanswered_call FORCE ROW LEVEL SECURITY;

CREATE TABLE "user" (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid,
    name text NOT NULL,
    password_hash text,
    role text DEFAULT 'viewer'::text NOT NULL,
    is_system boolean DEFAULT false NOT NULL,
    disabled_at timestamp with time zone,
    password_changed_at timestamp with time zone,
    last_login_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    preferences jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT user_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'curator'::text, 'operator'::text, 'admin'::text])))
);

ALTER TABLE ONLY "user" FORCE ROW LEVEL SECURITY;

CREATE TABLE worker (
    id uuid NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE workflow_control (
    workflow text NOT NULL,
    paused_at timestamp with time zone,
    paused_by text,
    pause_reason text,
    breaker text DEFAULT 'closed'::text NOT NULL,
    breaker_until timestamp with time zone,
    breaker_reason text,
    breaker_trips integer DEFAULT 0 NOT NULL,
    window_started_at timestamp with time zone DEFAULT now() NOT NULL,
    window_successes integer DEFAULT 0 NOT NULL,
    window_failures integer DEFAULT 0 NOT NULL,
    depth integer DEFAULT 0 NOT NULL,
    item_seconds double precision DEFAULT 0 NOT NULL,
    batch_size integer,
    interval_seconds double precision,
    held_by text,
    run_requested_at timestamp with time zone,
    measured_at timestamp with time zone,
    max_per_minute integer DEFAULT 0 NOT NULL,
    throttle_tokens double precision,
    throttle_at timestamp with time zone,
    CONSTRAINT workflow_control_breaker_check CHECK ((breaker = ANY (ARRAY['closed'::text, 'open'::text, 'half-open'::text])))
)
WITH (fillfactor='50');

ALTER TABLE audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE contact_contact_verification_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE curation_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME curation_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE delivery_delivery_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE domain_domain_metadata_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE domain_sitemap_analysis_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE local_business_domain_extraction_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE local_business_site_search_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE page_page_processing_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE place_deep_scan_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE search_place_search_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE sitemap_file_sitemap_import_notified
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE ONLY alarm
    ADD CONSTRAINT alarm_pkey PRIMARY KEY (id);

ALTER TABLE ONLY alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_prefix_key UNIQUE (prefix);

ALTER TABLE ONLY applied_revision
    ADD CONSTRAINT applied_revision_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY applied_revision
    ADD CONSTRAINT applied_revision_revision_key UNIQUE (revision);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY business_domain
    ADD CONSTRAINT business_domain_pkey PRIMARY KEY (business_id, domain_id);

ALTER TABLE ONLY campaign_search
    ADD CONSTRAINT campaign_search_pkey PRIMARY KEY (campaign_id, search_id);

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_pkey PRIMARY KEY (id);

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_tenant_id_domain_id_identity_key UNIQUE (tenant_id, domain_id, identity);

ALTER TABLE ONLY curation_action
    ADD CONSTRAINT curation_action_pkey PRIMARY KEY (id);

ALTER TABLE ONLY curation_change
    ADD CONSTRAINT curation_change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

ALTER TABLE ONLY dead_letter
    ADD CONSTRAINT dead_letter_queue_row_id_key UNIQUE (queue, row_id);

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_destination_id_contact_id_key UNIQUE (destination_id, contact_id);

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY destination
    ADD CONSTRAINT destination_pkey PRIMARY KEY (id);

ALTER TABLE ONLY destination
    ADD CONSTRAINT destination_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY domain
    ADD CONSTRAINT domain_pkey PRIMARY KEY (id);

ALTER TABLE ONLY domain
    ADD CONSTRAINT domain_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY exported_lead
    ADD CONSTRAINT exported_lead_pkey PRIMARY KEY (lead_id);

ALTER TABLE ONLY fetched_body
    ADD CONSTRAINT fetched_body_pkey PRIMARY KEY (url_hash);

ALTER TABLE ONLY host_limit
    ADD CONSTRAINT host_limit_pkey PRIMARY KEY (host);

ALTER TABLE ONLY idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (tenant_id, key);

ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_pkey PRIMARY KEY (id);

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_tenant_id_place_id_key UNIQUE (tenant_id, place_id);

ALTER TABLE ONLY maintenance
    ADD CONSTRAINT maintenance_pkey PRIMARY KEY (name);

ALTER TABLE ONLY match_key
    ADD CONSTRAINT match_key_pkey PRIMARY KEY (tenant_id, key, business_id);

ALTER TABLE ONLY page
    ADD CONSTRAINT page_pkey PRIMARY KEY (id);

ALTER TABLE ONLY page
    ADD CONSTRAINT page_tenant_id_domain_id_url_key UNIQUE (tenant_id, domain_id, url);

ALTER TABLE ONLY place
    ADD CONSTRAINT place_pkey PRIMARY KEY (id);

ALTER TABLE ONLY place
    ADD CONSTRAINT place_tenant_id_provider_provider_id_key UNIQUE (tenant_id, provider, provider_id);

ALTER TABLE ONLY provider_cooldown
    ADD CONSTRAINT provider_cooldown_pkey PRIMARY KEY (name);

ALTER TABLE ONLY provider_response
    ADD CONSTRAINT provider_response_pkey PRIMARY KEY (request_hash);

ALTER TABLE ONLY quota_reschedule
    ADD CONSTRAINT quota_reschedule_pkey PRIMARY KEY (tenant_id, kind);

ALTER TABLE ONLY quota_usage
    ADD CONSTRAINT quota_usage_pkey PRIMARY KEY (tenant_id, kind, day);

ALTER TABLE ONLY rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (key);

ALTER TABLE ONLY retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (name);

ALTER TABLE ONLY run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT saved_view_pkey PRIMARY KEY (id);

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT saved_view_user_id_noun_name_key UNIQUE (user_id, noun, name);

ALTER TABLE ONLY schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (id);

ALTER TABLE ONLY schedule
    ADD CONSTRAINT schedule_search_id_key UNIQUE (search_id);

ALTER TABLE ONLY search_business
    ADD CONSTRAINT search_business_pkey PRIMARY KEY (search_id, business_id);

ALTER TABLE ONLY search_contact
    ADD CONSTRAINT search_contact_pkey PRIMARY KEY (search_id, contact_id);

ALTER TABLE ONLY search_domain
    ADD CONSTRAINT search_domain_pkey PRIMARY KEY (search_id, domain_id);

ALTER TABLE ONLY search_journal
    ADD CONSTRAINT search_journal_pkey PRIMARY KEY (search_id, query, page_token);

ALTER TABLE ONLY search
    ADD CONSTRAINT search_pkey PRIMARY KEY (id);

ALTER TABLE ONLY search_place
    ADD CONSTRAINT search_place_pkey PRIMARY KEY (search_id, place_id);

ALTER TABLE ONLY search_progress
    ADD CONSTRAINT search_progress_pkey PRIMARY KEY (search_id);

ALTER TABLE ONLY search_run
    ADD CONSTRAINT search_run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY search_run
    ADD CONSTRAINT search_run_search_id_number_key UNIQUE (search_id, number);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_browser_hash_key UNIQUE (browser_hash);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_family_hash_key UNIQUE (family_hash);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY sitemap_file
    ADD CONSTRAINT sitemap_file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sitemap_file
    ADD CONSTRAINT sitemap_file_tenant_id_domain_id_url_key UNIQUE (tenant_id, domain_id, url);

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_pkey PRIMARY KEY (tenant_id, provider, method, month);

ALTER TABLE ONLY suppression
    ADD CONSTRAINT suppression_pkey PRIMARY KEY (id);

ALTER TABLE ONLY suppression
    ADD CONSTRAINT suppression_tenant_id_value_hash_kind_key UNIQUE (tenant_id, value_hash, kind);

ALTER TABLE ONLY tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

ALTER TABLE ONLY tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY unanswered_call
    ADD CONSTRAINT unanswered_call_pkey PRIMARY KEY (id);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (id);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);

ALTER TABLE ONLY workflow_control
    ADD CONSTRAINT workflow_control_pkey PRIMARY KEY (workflow);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE;

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY business_domain
    ADD CONSTRAINT business_domain_business_id_fkey FOREIGN KEY (business_id) REFERENCES local_business(id) ON DELETE CASCADE;

ALTER TABLE ONLY business_domain
    ADD CONSTRAINT business_domain_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON DELETE CASCADE;

ALTER TABLE ONLY business_domain
    ADD CONSTRAINT business_domain_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY campaign_search
    ADD CONSTRAINT campaign_search_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY campaign_search
    ADD CONSTRAINT campaign_search_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY campaign_search
    ADD CONSTRAINT campaign_search_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_business_id_fkey FOREIGN KEY (business_id) REFERENCES local_business(id) ON DELETE SET NULL;

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON DELETE CASCADE;

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_merged_into_id_fkey FOREIGN KEY (merged_into_id) REFERENCES contact(id) ON DELETE SET NULL;

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_page_id_fkey FOREIGN KEY (page_id) REFERENCES page(id) ON DELETE SET NULL;

ALTER TABLE ONLY contact
    ADD CONSTRAINT contact_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY curation_action
    ADD CONSTRAINT curation_action_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY curation_change
    ADD CONSTRAINT curation_change_action_id_fkey FOREIGN KEY (action_id) REFERENCES curation_action(id) ON DELETE CASCADE;

ALTER TABLE ONLY curation_change
    ADD CONSTRAINT curation_change_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY dead_letter
    ADD CONSTRAINT dead_letter_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE;

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES destination(id) ON DELETE CASCADE;

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_run_id_fkey FOREIGN KEY (run_id) REFERENCES search_run(id) ON DELETE CASCADE;

ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY destination
    ADD CONSTRAINT destination_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY domain
    ADD CONSTRAINT domain_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE SET NULL;

ALTER TABLE ONLY domain
    ADD CONSTRAINT domain_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY exported_lead
    ADD CONSTRAINT exported_lead_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY idempotency_key
    ADD CONSTRAINT idempotency_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_created_by_fkey FOREIGN KEY (created_by) REFERENCES "user"(id) ON DELETE SET NULL;

ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY job
    ADD CONSTRAINT job_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES "user"(id) ON DELETE SET NULL;

ALTER TABLE ONLY job
    ADD CONSTRAINT job_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_place_id_fkey FOREIGN KEY (place_id) REFERENCES place(id) ON DELETE SET NULL;

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_same_as_id_fkey FOREIGN KEY (same_as_id) REFERENCES local_business(id) ON DELETE SET NULL;

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE SET NULL;

ALTER TABLE ONLY local_business
    ADD CONSTRAINT local_business_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY match_key
    ADD CONSTRAINT match_key_business_id_fkey FOREIGN KEY (business_id) REFERENCES local_business(id) ON DELETE CASCADE;

ALTER TABLE ONLY match_key
    ADD CONSTRAINT match_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY page
    ADD CONSTRAINT page_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON DELETE CASCADE;

ALTER TABLE ONLY page
    ADD CONSTRAINT page_sitemap_file_id_fkey FOREIGN KEY (sitemap_file_id) REFERENCES sitemap_file(id) ON DELETE SET NULL;

ALTER TABLE ONLY page
    ADD CONSTRAINT page_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY place
    ADD CONSTRAINT place_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE SET NULL;

ALTER TABLE ONLY place
    ADD CONSTRAINT place_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY quota_reschedule
    ADD CONSTRAINT quota_reschedule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY quota_usage
    ADD CONSTRAINT quota_usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT saved_view_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT saved_view_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE;

ALTER TABLE ONLY schedule
    ADD CONSTRAINT schedule_created_by_fkey FOREIGN KEY (created_by) REFERENCES "user"(id) ON DELETE SET NULL;

ALTER TABLE ONLY schedule
    ADD CONSTRAINT schedule_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY schedule
    ADD CONSTRAINT schedule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_business
    ADD CONSTRAINT search_business_business_id_fkey FOREIGN KEY (business_id) REFERENCES local_business(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_business
    ADD CONSTRAINT search_business_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_business
    ADD CONSTRAINT search_business_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search
    ADD CONSTRAINT search_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES search(id) ON DELETE SET NULL;

ALTER TABLE ONLY search_contact
    ADD CONSTRAINT search_contact_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_contact
    ADD CONSTRAINT search_contact_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_contact
    ADD CONSTRAINT search_contact_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_domain
    ADD CONSTRAINT search_domain_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_domain
    ADD CONSTRAINT search_domain_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_domain
    ADD CONSTRAINT search_domain_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_journal
    ADD CONSTRAINT search_journal_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_journal
    ADD CONSTRAINT search_journal_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_place
    ADD CONSTRAINT search_place_place_id_fkey FOREIGN KEY (place_id) REFERENCES place(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_place
    ADD CONSTRAINT search_place_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_place
    ADD CONSTRAINT search_place_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_progress
    ADD CONSTRAINT search_progress_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_progress
    ADD CONSTRAINT search_progress_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search
    ADD CONSTRAINT search_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES "user"(id) ON DELETE SET NULL;

ALTER TABLE ONLY search_run
    ADD CONSTRAINT search_run_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE CASCADE;

ALTER TABLE ONLY search_run
    ADD CONSTRAINT search_run_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY search
    ADD CONSTRAINT search_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY session
    ADD CONSTRAINT session_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY session
    ADD CONSTRAINT session_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE;

ALTER TABLE ONLY sitemap_file
    ADD CONSTRAINT sitemap_file_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON DELETE CASCADE;

ALTER TABLE ONLY sitemap_file
    ADD CONSTRAINT sitemap_file_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES sitemap_file(id) ON DELETE SET NULL;

ALTER TABLE ONLY sitemap_file
    ADD CONSTRAINT sitemap_file_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY suppression
    ADD CONSTRAINT suppression_created_by_fkey FOREIGN KEY (created_by) REFERENCES "user"(id) ON DELETE SET NULL;

ALTER TABLE ONLY suppression
    ADD CONSTRAINT suppression_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY unanswered_call
    ADD CONSTRAINT unanswered_call_search_id_fkey FOREIGN KEY (search_id) REFERENCES search(id) ON DELETE SET NULL;

ALTER TABLE ONLY unanswered_call
    ADD CONSTRAINT unanswered_call_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

CREATE UNIQUE INDEX alarm_active ON alarm USING btree (kind, subject) WHERE (resolved_at IS NULL);

CREATE INDEX alarm_by_end ON alarm USING btree (resolved_at);

CREATE INDEX api_key_user_id ON api_key USING btree (user_id);

CREATE INDEX audit_by_action ON audit USING btree (tenant_id, action, at, id);

CREATE INDEX audit_by_actor ON audit USING btree (tenant_id, actor, at, id);

CREATE INDEX audit_by_channel ON audit USING btree (tenant_id, channel, at, id);

CREATE INDEX audit_by_subject ON audit USING btree (tenant_id, subject, at, id);

CREATE INDEX audit_by_time ON audit USING btree (tenant_id, at, id);

CREATE INDEX business_domain_domain_id ON business_domain USING btree (domain_id);

CREATE INDEX campaign_search_search_id ON campaign_search USING btree (search_id);

CREATE INDEX contact_business_id ON contact USING btree (business_id);

CREATE INDEX contact_by_curation ON contact USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX contact_by_fax ON contact USING btree (tenant_id, fax) WHERE (fax IS NOT NULL);

CREATE INDEX contact_by_host ON contact USING btree (tenant_id, email_host);

CREATE INDEX contact_by_last_name ON contact USING btree (tenant_id, last_name_key, id);

CREATE INDEX contact_by_name ON contact USING btree (tenant_id, name_key, id);

CREATE INDEX contact_by_phone ON contact USING btree (tenant_id, phone);

CREATE INDEX contact_by_prefix ON contact USING btree (tenant_id, email text_pattern_ops);

CREATE INDEX contact_by_seen ON contact USING btree (tenant_id, seen_at);

CREATE INDEX contact_by_update ON contact USING btree (tenant_id, updated_at, id);

CREATE INDEX contact_by_verdict ON contact USING btree (tenant_id, verdict, updated_at, id);

CREATE INDEX contact_contact_verification_claim ON contact USING btree (contact_verification_order) WHERE ((contact_verification_status = 'Queued'::text) AND (contact_verification_due_at IS NULL));

CREATE INDEX contact_contact_verification_due ON contact USING btree (contact_verification_due_at) WHERE (contact_verification_due_at IS NOT NULL);

CREATE INDEX contact_contact_verification_outcome ON contact USING btree (tenant_id, contact_verification_status, id) WHERE (contact_verification_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX contact_contact_verification_tenant ON contact USING btree (tenant_id, contact_verification_flow, contact_verification_order) WHERE ((contact_verification_status = 'Queued'::text) AND (contact_verification_due_at IS NULL));

CREATE INDEX contact_domain_id ON contact USING btree (domain_id);

CREATE INDEX contact_merged_into_id ON contact USING btree (merged_into_id);

CREATE INDEX contact_page_id ON contact USING btree (page_id);

CREATE INDEX contact_people_of_business ON contact USING btree (business_id, id) WHERE ((domain_id IS NULL) AND ((name IS NOT NULL) OR (email IS NOT NULL)));

CREATE INDEX contact_sorted_by_email ON contact USING btree (tenant_id, email, id);

CREATE INDEX contact_suppressed ON contact USING btree (tenant_id, updated_at, id) WHERE (suppressed_at IS NOT NULL);

CREATE INDEX contact_suppressed_of_domain ON contact USING btree (domain_id) WHERE (suppressed_at IS NOT NULL);

CREATE UNIQUE INDEX contact_without_domain ON contact USING btree (tenant_id, identity) WHERE (domain_id IS NULL);

CREATE INDEX curation_action_by_time ON curation_action USING btree (tenant_id, created_at, id);

CREATE UNIQUE INDEX curation_change_by_action ON curation_change USING btree (action_id, resource, row_id);

CREATE INDEX curation_change_by_row ON curation_change USING btree (tenant_id, row_id, id);

CREATE INDEX dead_letter_by_queue ON dead_letter USING btree (tenant_id, queue, failed_at, id);

CREATE INDEX dead_letter_by_reason ON dead_letter USING btree (tenant_id, queue, error_type, reason, failed_at, id);

CREATE INDEX dead_letter_by_time ON dead_letter USING btree (tenant_id, failed_at, id);

CREATE INDEX delivery_by_destination ON delivery USING btree (destination_id, updated_at, id);

CREATE INDEX delivery_by_update ON delivery USING btree (tenant_id, updated_at, id);

CREATE INDEX delivery_contact_id ON delivery USING btree (contact_id);

CREATE INDEX delivery_delivery_claim ON delivery USING btree (delivery_order) WHERE ((delivery_status = 'Queued'::text) AND (delivery_due_at IS NULL));

CREATE INDEX delivery_delivery_due ON delivery USING btree (delivery_due_at) WHERE (delivery_due_at IS NOT NULL);

CREATE INDEX delivery_delivery_outcome ON delivery USING btree (tenant_id, delivery_status, id) WHERE (delivery_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX delivery_delivery_tenant ON delivery USING btree (tenant_id, delivery_flow, delivery_order) WHERE ((delivery_status = 'Queued'::text) AND (delivery_due_at IS NULL));

CREATE UNIQUE INDEX delivery_of_run ON delivery USING btree (run_id, destination_id) WHERE (run_id IS NOT NULL);

CREATE INDEX delivery_queued ON delivery USING btree (tenant_id, id) WHERE (delivery_status = 'Queued'::text);

CREATE INDEX destination_by_update ON destination USING btree (tenant_id, updated_at, id);

CREATE INDEX domain_by_country ON domain USING btree (tenant_id, country, updated_at, id);

CREATE INDEX domain_by_curation ON domain USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX domain_by_hidden_reason ON domain USING btree (tenant_id, hidden_reason, updated_at, id) WHERE (hidden_reason IS NOT NULL);

CREATE INDEX domain_by_prefix ON domain USING btree (tenant_id, name text_pattern_ops);

CREATE INDEX domain_by_search ON domain USING btree (search_id, id);

CREATE INDEX domain_by_update ON domain USING btree (tenant_id, updated_at, id);

CREATE INDEX domain_domain_metadata_claim ON domain USING btree (domain_metadata_order) WHERE ((domain_metadata_status = 'Queued'::text) AND (domain_metadata_due_at IS NULL));

CREATE INDEX domain_domain_metadata_due ON domain USING btree (domain_metadata_due_at) WHERE (domain_metadata_due_at IS NOT NULL);

CREATE INDEX domain_domain_metadata_outcome ON domain USING btree (tenant_id, domain_metadata_status, id) WHERE (domain_metadata_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX domain_domain_metadata_tenant ON domain USING btree (tenant_id, domain_metadata_flow, domain_metadata_order) WHERE ((domain_metadata_status = 'Queued'::text) AND (domain_metadata_due_at IS NULL));

CREATE INDEX domain_sitemap_analysis_claim ON domain USING btree (sitemap_analysis_order) WHERE ((sitemap_analysis_status = 'Queued'::text) AND (sitemap_analysis_due_at IS NULL));

CREATE INDEX domain_sitemap_analysis_due ON domain USING btree (sitemap_analysis_due_at) WHERE (sitemap_analysis_due_at IS NOT NULL);

CREATE INDEX domain_sitemap_analysis_outcome ON domain USING btree (tenant_id, sitemap_analysis_status, id) WHERE (sitemap_analysis_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX domain_sitemap_analysis_tenant ON domain USING btree (tenant_id, sitemap_analysis_flow, sitemap_analysis_order) WHERE ((sitemap_analysis_status = 'Queued'::text) AND (sitemap_analysis_due_at IS NULL));

CREATE INDEX exported_lead_by_tenant ON exported_lead USING btree (tenant_id, exported_at);

CREATE INDEX fetched_body_by_expiry ON fetched_body USING btree (expires_at);

CREATE INDEX host_limit_next_allowed_at ON host_limit USING btree (next_allowed_at);

CREATE INDEX job_by_kind ON job USING btree (tenant_id, kind, updated_at, id);

CREATE INDEX job_by_update ON job USING btree (tenant_id, updated_at, id);

CREATE INDEX job_open ON job USING btree (subject_id) WHERE (state = ANY (ARRAY['pending'::text, 'processing'::text]));

CREATE INDEX local_business_by_city ON local_business USING btree (tenant_id, city_key, updated_at, id);

CREATE INDEX local_business_by_country ON local_business USING btree (tenant_id, country, updated_at, id);

CREATE INDEX local_business_by_curation ON local_business USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX local_business_by_name ON local_business USING btree (tenant_id, name_key, id);

CREATE INDEX local_business_by_phone ON local_business USING btree (tenant_id, phone) WHERE (website IS NOT NULL);

CREATE INDEX local_business_by_rating ON local_business USING btree (tenant_id, rating) WHERE (rating IS NOT NULL);

CREATE INDEX local_business_by_search ON local_business USING btree (search_id, id);

CREATE INDEX local_business_by_update ON local_business USING btree (tenant_id, updated_at, id);

CREATE INDEX local_business_domain_extraction_claim ON local_business USING btree (domain_extraction_order) WHERE ((domain_extraction_status = 'Queued'::text) AND (domain_extraction_due_at IS NULL));

CREATE INDEX local_business_domain_extraction_due ON local_business USING btree (domain_extraction_due_at) WHERE (domain_extraction_due_at IS NOT NULL);

CREATE INDEX local_business_domain_extraction_outcome ON local_business USING btree (tenant_id, domain_extraction_status, id) WHERE (domain_extraction_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX local_business_domain_extraction_tenant ON local_business USING btree (tenant_id, domain_extraction_flow, domain_extraction_order) WHERE ((domain_extraction_status = 'Queued'::text) AND (domain_extraction_due_at IS NULL));

CREATE INDEX local_business_not_compared ON local_business USING btree (tenant_id, id) WHERE (compared_at IS NULL);

CREATE INDEX local_business_same_as_id ON local_business USING btree (same_as_id, id) WHERE (same_as_id IS NOT NULL);

CREATE INDEX local_business_site_search_claim ON local_business USING btree (site_search_order) WHERE ((site_search_status = 'Queued'::text) AND (site_search_due_at IS NULL));

CREATE INDEX local_business_site_search_due ON local_business USING btree (site_search_due_at) WHERE (site_search_due_at IS NOT NULL);

CREATE INDEX local_business_site_search_outcome ON local_business USING btree (tenant_id, site_search_status, id) WHERE (site_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX local_business_site_search_tenant ON local_business USING btree (tenant_id, site_search_flow, site_search_order) WHERE ((site_search_status = 'Queued'::text) AND (site_search_due_at IS NULL));

CREATE INDEX match_key_business_id ON match_key USING btree (business_id);

CREATE INDEX page_by_curation ON page USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX page_by_hidden_reason ON page USING btree (tenant_id, hidden_reason, updated_at, id) WHERE (hidden_reason IS NOT NULL);

CREATE INDEX page_by_kind ON page USING btree (tenant_id, kind, updated_at, id);

CREATE INDEX page_by_prefix ON page USING btree (tenant_id, url text_pattern_ops);

CREATE INDEX page_by_progress ON page USING btree (domain_id, page_processing_status) WHERE (page_processing_status <> 'New'::text);

CREATE INDEX page_by_update ON page USING btree (tenant_id, updated_at, id);

CREATE INDEX page_contact_form ON page USING btree (domain_id) WHERE has_contact_form;

CREATE INDEX page_hidden ON page USING btree (domain_id, hidden_reason) WHERE (hidden_reason IS NOT NULL);

CREATE INDEX page_page_processing_claim ON page USING btree (page_processing_order) WHERE ((page_processing_status = 'Queued'::text) AND (page_processing_due_at IS NULL));

CREATE INDEX page_page_processing_due ON page USING btree (page_processing_due_at) WHERE (page_processing_due_at IS NOT NULL);

CREATE INDEX page_page_processing_outcome ON page USING btree (tenant_id, page_processing_status, id) WHERE (page_processing_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX page_page_processing_tenant ON page USING btree (tenant_id, page_processing_flow, page_processing_order) WHERE ((page_processing_status = 'Queued'::text) AND (page_processing_due_at IS NULL));

CREATE INDEX page_sitemap_file_id ON page USING btree (sitemap_file_id);

CREATE INDEX place_by_cell ON place USING btree (tenant_id, cell) INCLUDE (latitude, longitude) WHERE (cell IS NOT NULL);

CREATE INDEX place_by_curation ON place USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX place_by_name ON place USING btree (tenant_id, name_key, id);

CREATE INDEX place_by_rating ON place USING btree (tenant_id, rating) WHERE (rating IS NOT NULL);

CREATE INDEX place_by_update ON place USING btree (tenant_id, updated_at, id);

CREATE INDEX place_deep_scan_claim ON place USING btree (deep_scan_order) WHERE ((deep_scan_status = 'Queued'::text) AND (deep_scan_due_at IS NULL));

CREATE INDEX place_deep_scan_due ON place USING btree (deep_scan_due_at) WHERE (deep_scan_due_at IS NOT NULL);

CREATE INDEX place_deep_scan_outcome ON place USING btree (tenant_id, deep_scan_status, id) WHERE (deep_scan_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX place_deep_scan_tenant ON place USING btree (tenant_id, deep_scan_flow, deep_scan_order) WHERE ((deep_scan_status = 'Queued'::text) AND (deep_scan_due_at IS NULL));

CREATE INDEX place_search_id ON place USING btree (search_id);

CREATE INDEX provider_response_by_expiry ON provider_response USING btree (expires_at);

CREATE INDEX run_by_start ON run USING btree (started_at, id);

CREATE INDEX run_by_workflow ON run USING btree (workflow, started_at);

CREATE INDEX saved_view_by_name ON saved_view USING btree (tenant_id, noun, name, id);

CREATE INDEX schedule_by_update ON schedule USING btree (tenant_id, updated_at, id);

CREATE INDEX schedule_due ON schedule USING btree (next_run_at) WHERE (paused_at IS NULL);

CREATE INDEX search_business_business_id ON search_business USING btree (business_id);

CREATE INDEX search_by_campaign ON search USING btree (campaign_id) WHERE (campaign_id IS NOT NULL);

CREATE INDEX search_by_text ON search USING btree (tenant_id, lower("left"(text, 200)));

CREATE INDEX search_by_update ON search USING btree (tenant_id, updated_at, id);

CREATE INDEX search_campaigns ON search USING btree (tenant_id, updated_at, id) WHERE (provider = 'campaign'::text);

CREATE INDEX search_contact_contact_id ON search_contact USING btree (contact_id);

CREATE INDEX search_domain_domain_id ON search_domain USING btree (domain_id);

CREATE INDEX search_journal_by_time ON search_journal USING btree (tenant_id, stored_at);

CREATE INDEX search_place_place_id ON search_place USING btree (place_id);

CREATE INDEX search_place_search_claim ON search USING btree (place_search_order) WHERE ((place_search_status = 'Queued'::text) AND (place_search_due_at IS NULL));

CREATE INDEX search_place_search_due ON search USING btree (place_search_due_at) WHERE (place_search_due_at IS NOT NULL);

CREATE INDEX search_place_search_outcome ON search USING btree (tenant_id, place_search_status, id) WHERE (place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX search_place_search_tenant ON search USING btree (tenant_id, place_search_flow, place_search_order) WHERE ((place_search_status = 'Queued'::text) AND (place_search_due_at IS NULL));

CREATE INDEX search_run_open ON search_run USING btree (began_at) WHERE (ended_at IS NULL);

CREATE INDEX session_by_expiry ON session USING btree (expires_at);

CREATE INDEX session_user_id ON session USING btree (user_id);

CREATE INDEX sitemap_file_by_curation ON sitemap_file USING btree (tenant_id, curation_status, updated_at, id);

CREATE INDEX sitemap_file_by_kind ON sitemap_file USING btree (tenant_id, kind, updated_at, id);

CREATE INDEX sitemap_file_by_prefix ON sitemap_file USING btree (tenant_id, url text_pattern_ops);

CREATE INDEX sitemap_file_by_update ON sitemap_file USING btree (tenant_id, updated_at, id);

CREATE INDEX sitemap_file_parent_id ON sitemap_file USING btree (parent_id);

CREATE INDEX sitemap_file_sitemap_import_claim ON sitemap_file USING btree (sitemap_import_order) WHERE ((sitemap_import_status = 'Queued'::text) AND (sitemap_import_due_at IS NULL));

CREATE INDEX sitemap_file_sitemap_import_due ON sitemap_file USING btree (sitemap_import_due_at) WHERE (sitemap_import_due_at IS NOT NULL);

CREATE INDEX sitemap_file_sitemap_import_outcome ON sitemap_file USING btree (tenant_id, sitemap_import_status, id) WHERE (sitemap_import_status <> ALL (ARRAY['Queued'::text, 'Processing'::text]));

CREATE INDEX sitemap_file_sitemap_import_tenant ON sitemap_file USING btree (tenant_id, sitemap_import_flow, sitemap_import_order) WHERE ((sitemap_import_status = 'Queued'::text) AND (sitemap_import_due_at IS NULL));

CREATE INDEX suppression_by_kind ON suppression USING btree (tenant_id, kind, updated_at, id);

CREATE INDEX suppression_by_prefix ON suppression USING btree (tenant_id, value text_pattern_ops);

CREATE INDEX suppression_by_update ON suppression USING btree (tenant_id, updated_at, id);

CREATE INDEX suppression_erased ON suppression USING btree (tenant_id) WHERE (origin = 'erasure'::text);

CREATE INDEX unanswered_call_by_search ON unanswered_call USING btree (search_id);

CREATE UNIQUE INDEX user_system_name ON "user" USING btree (name) WHERE (tenant_id IS NULL);

CREATE INDEX worker_seen_at ON worker USING btree (seen_at);

ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE business_domain ENABLE ROW LEVEL SECURITY;

ALTER TABLE campaign_search ENABLE ROW LEVEL SECURITY;

ALTER TABLE contact ENABLE ROW LEVEL SECURITY;

ALTER TABLE curation_action ENABLE ROW LEVEL SECURITY;

ALTER TABLE curation_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE dead_letter ENABLE ROW LEVEL SECURITY;

ALTER TABLE delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE destination ENABLE ROW LEVEL SECURITY;

ALTER TABLE domain ENABLE ROW LEVEL SECURITY;

ALTER TABLE exported_lead ENABLE ROW LEVEL SECURITY;

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE invitation ENABLE ROW LEVEL SECURITY;

ALTER TABLE job ENABLE ROW LEVEL SECURITY;

ALTER TABLE local_business ENABLE ROW LEVEL SECURITY;

ALTER TABLE match_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE page ENABLE ROW LEVEL SECURITY;

ALTER TABLE place ENABLE ROW LEVEL SECURITY;

ALTER TABLE quota_reschedule ENABLE ROW LEVEL SECURITY;

ALTER TABLE quota_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE saved_view ENABLE ROW LEVEL SECURITY;

ALTER TABLE schedule ENABLE ROW LEVEL SECURITY;

ALTER TABLE search ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_business ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_contact ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_domain ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_journal ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_place ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_progress ENABLE ROW LEVEL SECURITY;

ALTER TABLE search_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE session ENABLE ROW LEVEL SECURITY;

ALTER TABLE sitemap_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE spending ENABLE ROW LEVEL SECURITY;

ALTER TABLE suppression ENABLE ROW LEVEL SECURITY;

ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;

ALTER TABLE unanswered_call ENABLE ROW LEVEL SECURITY;

ALTER TABLE "user" ENABLE ROW LEVEL SECURITY;

CREATE POLICY engine_rows ON api_key TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON audit TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON business_domain TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON campaign_search TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON contact TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON curation_action TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON curation_change TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON dead_letter TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON delivery TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON destination TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON domain TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON exported_lead TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON idempotency_key TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON invitation TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON job TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON local_business TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON match_key TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON page TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON place TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON quota_reschedule TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON quota_usage TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON saved_view TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON schedule TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_business TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_contact TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_domain TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_journal TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_place TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_progress TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON search_run TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON session TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON sitemap_file TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON spending TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON suppression TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON tenant TO scrapersky_engine USING (true);

CREATE POLICY engine_rows ON unanswered_call TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY engine_rows ON "user" TO scrapersky_engine USING (true) WITH CHECK (true);

CREATE POLICY own_tenant ON tenant TO scrapersky_app USING ((id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON api_key TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON audit TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON business_domain TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON campaign_search TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON contact TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON curation_action TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON curation_change TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON dead_letter TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON delivery TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON destination TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON domain TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON exported_lead TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON idempotency_key TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON invitation TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON job TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON local_business TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON match_key TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON page TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON place TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON quota_reschedule TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON quota_usage TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON saved_view TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON schedule TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_business TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_contact TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_domain TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_journal TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_place TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_progress TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON search_run TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON session TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON sitemap_file TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON spending TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON suppression TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON unanswered_call TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

CREATE POLICY tenant_rows ON "user" TO scrapersky_app USING ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

REVOKE ALL ON FUNCTION add_daily_quota(queue_table text, queue text, kind text, limit_column text) FROM PUBLIC;

REVOKE ALL ON FUNCTION add_queue(queue_table text, queue text) FROM PUBLIC;

REVOKE ALL ON FUNCTION add_queue_columns(queue_table text, queue text) FROM PUBLIC;

REVOKE ALL ON FUNCTION add_queue_triggers(queue_table text, queue text) FROM PUBLIC;

REVOKE ALL ON FUNCTION book_call(for_tenant uuid, for_search uuid, of_provider text, of_method text, price bigint, OUT refusal text, OUT call_id uuid, OUT used bigint, OUT allowed bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION book_call(for_tenant uuid, for_search uuid, of_provider text, of_method text, price bigint, OUT refusal text, OUT call_id uuid, OUT used bigint, OUT allowed bigint) TO scrapersky_engine;

REVOKE ALL ON FUNCTION confirm_call(call_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION confirm_call(call_id uuid) TO scrapersky_engine;

REVOKE ALL ON FUNCTION drop_queue(queue_table text, queue text) FROM PUBLIC;

REVOKE ALL ON FUNCTION page_reschedule(for_tenant uuid, max_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION page_reschedule(for_tenant uuid, max_rows integer) TO scrapersky_engine;

REVOKE ALL ON FUNCTION protect_tenant(target regclass, app_privileges text) FROM PUBLIC;

REVOKE ALL ON FUNCTION queue_flow(queue_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION record_calls(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer) FROM PUBLIC;
GRANT ALL ON FUNCTION record_calls(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer) TO scrapersky_engine;

REVOKE ALL ON FUNCTION record_micros(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION record_micros(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price bigint) TO scrapersky_engine;

REVOKE ALL ON FUNCTION refund_call(call_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION refund_call(call_id uuid) TO scrapersky_engine;

REVOKE ALL ON FUNCTION refund_details(for_tenant uuid, for_search uuid, of_provider text, price integer, in_month date) FROM PUBLIC;
GRANT ALL ON FUNCTION refund_details(for_tenant uuid, for_search uuid, of_provider text, price integer, in_month date) TO scrapersky_engine;

REVOKE ALL ON FUNCTION reserve_details(for_tenant uuid, for_search uuid, of_provider text, price integer, OUT refusal text, OUT month date, OUT used bigint, OUT allowed bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION reserve_details(for_tenant uuid, for_search uuid, of_provider text, price integer, OUT refusal text, OUT month date, OUT used bigint, OUT allowed bigint) TO scrapersky_engine;

REVOKE ALL ON FUNCTION run_as_engine(target regprocedure) FROM PUBLIC;

REVOKE ALL ON FUNCTION search_reschedule(for_tenant uuid, max_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION search_reschedule(for_tenant uuid, max_rows integer) TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE alarm TO scrapersky_engine;

GRANT SELECT ON TABLE alembic_version TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE api_key TO scrapersky_app;
GRANT SELECT ON TABLE api_key TO scrapersky_engine;

GRANT SELECT ON TABLE applied_revision TO scrapersky_engine;

GRANT SELECT,INSERT ON TABLE audit TO scrapersky_app;
GRANT SELECT,INSERT,DELETE ON TABLE audit TO scrapersky_engine;

GRANT UPDATE(before) ON TABLE audit TO scrapersky_engine;

GRANT UPDATE(after) ON TABLE audit TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE business_domain TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE campaign_search TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contact TO scrapersky_app;
GRANT SELECT ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_status) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_error) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_attempts) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_allowance) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_due_at) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_order) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_revert_to) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(contact_verification_waits_for) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(changed_at) ON TABLE contact TO scrapersky_engine;

GRANT UPDATE(field_changes) ON TABLE contact TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE contact_contact_verification_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE curation_action TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE curation_change TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letter TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letter TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE delivery TO scrapersky_app;
GRANT SELECT ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_status) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_error) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_attempts) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_allowance) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_due_at) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_order) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_revert_to) ON TABLE delivery TO scrapersky_engine;

GRANT UPDATE(delivery_waits_for) ON TABLE delivery TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE delivery_delivery_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE destination TO scrapersky_app;
GRANT SELECT ON TABLE destination TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE domain TO scrapersky_app;
GRANT SELECT ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_status) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_error) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_attempts) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_allowance) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_due_at) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_order) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_revert_to) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_status) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_error) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_attempts) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_allowance) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_due_at) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_order) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_revert_to) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(domain_metadata_waits_for) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(sitemap_analysis_waits_for) ON TABLE domain TO scrapersky_engine;

GRANT UPDATE(hidden_reason) ON TABLE domain TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE domain_domain_metadata_notified TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE domain_sitemap_analysis_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE exported_lead TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE fetched_body TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE host_limit TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE idempotency_key TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invitation TO scrapersky_app;
GRANT SELECT,DELETE ON TABLE invitation TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE job TO scrapersky_app;
GRANT SELECT ON TABLE job TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE local_business TO scrapersky_app;
GRANT SELECT ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_status) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_error) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_attempts) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_allowance) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_due_at) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_order) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_revert_to) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(domain_extraction_waits_for) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_status) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_error) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_attempts) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_allowance) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_due_at) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_order) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_waits_for) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(site_search_revert_to) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(changed_at) ON TABLE local_business TO scrapersky_engine;

GRANT UPDATE(field_changes) ON TABLE local_business TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE local_business_domain_extraction_notified TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE local_business_site_search_notified TO scrapersky_engine;

GRANT SELECT ON TABLE maintenance TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE maintenance TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE match_key TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE page TO scrapersky_app;
GRANT SELECT ON TABLE page TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_status) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_error) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_attempts) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_allowance) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_due_at) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_order) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_revert_to) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(page_processing_waits_for) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(hidden_reason) ON TABLE page TO scrapersky_engine;

GRANT UPDATE(has_contact_form) ON TABLE page TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE page_page_processing_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE place TO scrapersky_app;
GRANT SELECT ON TABLE place TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_status) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_error) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_attempts) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_allowance) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_due_at) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_order) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_revert_to) ON TABLE place TO scrapersky_engine;

GRANT UPDATE(deep_scan_waits_for) ON TABLE place TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE place_deep_scan_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE provider_cooldown TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE provider_response TO scrapersky_engine;

GRANT SELECT ON TABLE quota_reschedule TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quota_reschedule TO scrapersky_engine;

GRANT SELECT ON TABLE quota_usage TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quota_usage TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rate_limit TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rate_limit TO scrapersky_engine;

GRANT SELECT ON TABLE retention TO scrapersky_app;
GRANT SELECT,UPDATE ON TABLE retention TO scrapersky_engine;

GRANT SELECT ON TABLE run TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE run TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE saved_view TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE schedule TO scrapersky_app;
GRANT SELECT ON TABLE schedule TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search TO scrapersky_app;
GRANT SELECT ON TABLE search TO scrapersky_engine;

GRANT UPDATE(cost_cents) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(spent_cents) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(call_count) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(details_count) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(details_cents) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_status) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_error) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_attempts) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_allowance) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_due_at) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_order) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_revert_to) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(cost_micros) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(spent_micros) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(details_micros) ON TABLE search TO scrapersky_engine;

GRANT UPDATE(place_search_waits_for) ON TABLE search TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_business TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_contact TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_domain TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_journal TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_place TO scrapersky_app;

GRANT SELECT,UPDATE ON SEQUENCE search_place_search_notified TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_progress TO scrapersky_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_run TO scrapersky_app;
GRANT SELECT,INSERT,UPDATE ON TABLE search_run TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session TO scrapersky_app;
GRANT SELECT,DELETE ON TABLE session TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sitemap_file TO scrapersky_app;
GRANT SELECT ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(updated_at) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_status) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_error) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_attempts) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_allowance) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_due_at) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_order) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_revert_to) ON TABLE sitemap_file TO scrapersky_engine;

GRANT UPDATE(sitemap_import_waits_for) ON TABLE sitemap_file TO scrapersky_engine;

GRANT SELECT,UPDATE ON SEQUENCE sitemap_file_sitemap_import_notified TO scrapersky_engine;

GRANT SELECT ON TABLE spending TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE spending TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE suppression TO scrapersky_app;
GRANT SELECT ON TABLE suppression TO scrapersky_engine;

GRANT SELECT ON TABLE tenant TO scrapersky_app;
GRANT SELECT,INSERT,UPDATE ON TABLE tenant TO scrapersky_engine;

GRANT UPDATE(is_operator) ON TABLE tenant TO scrapersky_engine;

GRANT UPDATE(disabled_at) ON TABLE tenant TO scrapersky_engine;

GRANT UPDATE(searches_per_day) ON TABLE tenant TO scrapersky_engine;

GRANT UPDATE(pages_per_day) ON TABLE tenant TO scrapersky_engine;

GRANT UPDATE(cents_per_month) ON TABLE tenant TO scrapersky_engine;

GRANT SELECT ON TABLE unanswered_call TO scrapersky_app;
GRANT SELECT,INSERT,DELETE ON TABLE unanswered_call TO scrapersky_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE "user" TO scrapersky_app;
GRANT SELECT ON TABLE "user" TO scrapersky_engine;

GRANT SELECT ON TABLE worker TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE worker TO scrapersky_engine;

GRANT SELECT ON TABLE workflow_control TO scrapersky_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE workflow_control TO scrapersky_engine;

CREATE FUNCTION add_daily_quota(queue_table text, queue text, kind text, limit_column text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
BEGIN
    EXECUTE replace(replace(replace(replace($template$
        -- A row enters the queue. The counts of a statement are kept in a memo (a setting of the transaction) and
        -- written once, at its end: ten thousand rows must not leave ten thousand versions of one row of quota_usage.
        CREATE FUNCTION {table}_apply_quota() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            memo text[] := string_to_array(current_setting('scrapersky.{table}_quota', true), ' ');
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer := memo[2]::integer;
            last_day date := memo[3]::date;
            used_count integer := memo[4]::integer;
        BEGIN
            IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                PERFORM write_quota_usage('{kind}', memo);
                SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota
                    FROM tenant WHERE id = NEW.tenant_id;
                IF quota IS NULL OR quota = 0 THEN
                    PERFORM set_config('scrapersky.{table}_quota', '', true);
                    IF quota = 0 THEN
                        NEW.{queue}_due_at := (today + 3650)::timestamp AT TIME ZONE 'UTC';
                    END IF;
                    RETURN NEW;
                END IF;
                PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.tenant_id, 0));
                SELECT day, used INTO last_day, used_count FROM quota_usage
                    WHERE tenant_id = NEW.tenant_id AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
                last_day := coalesce(last_day, today);
                used_count := coalesce(used_count, 0);
            END IF;
            IF used_count >= quota THEN
                PERFORM write_quota_usage(
                    '{kind}', ARRAY[NEW.tenant_id::text, quota::text, last_day::text, used_count::text]);
                last_day := last_day + 1;
                used_count := 0;
            END IF;
            PERFORM set_config(
                'scrapersky.{table}_quota', concat_ws(' ', NEW.tenant_id, quota, last_day, used_count + 1), true);
            IF last_day > today THEN
                NEW.{queue}_due_at := greatest(NEW.{queue}_due_at, last_day::timestamp AT TIME ZONE 'UTC');
            END IF;
            RETURN NEW;
        END
        $function$;
        SELECT run_as_engine('{table}_apply_quota()');

        CREATE FUNCTION {table}_write_quota_usage() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        BEGIN
            PERFORM write_quota_usage(
                '{kind}', string_to_array(current_setting('scrapersky.{table}_quota', true), ' '));
            PERFORM set_config('scrapersky.{table}_quota', '', true);
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_write_quota_usage()');

        -- Triggers fire in the order of their names. These must come before those of the queue, which wake a worker
        -- only if due_at is null: hence the `_before_queue_`.
        CREATE TRIGGER {table}_before_queue_quota_insert BEFORE INSERT ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued') EXECUTE FUNCTION {table}_apply_quota();

        CREATE TRIGGER {table}_before_queue_quota_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status NOT IN ('Queued', 'Processing'))
        EXECUTE FUNCTION {table}_apply_quota();

        CREATE TRIGGER {table}_write_quota_usage AFTER INSERT OR UPDATE ON {table} FOR EACH STATEMENT
        WHEN (current_setting('scrapersky.{table}_quota', true) <> '') EXECUTE FUNCTION {table}_write_quota_usage();

        -- Give the next rows their day, in their order, from the last day that is in use. Return true if none is left.
        CREATE FUNCTION {table}_reschedule(for_tenant uuid, max_rows integer) RETURNS boolean
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $function$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer;
            last_day date;
            used_count integer;
            progress quota_reschedule%ROWTYPE;
            done record;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || for_tenant, 0));
            SELECT * INTO progress FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = '{kind}';
            IF NOT FOUND THEN
                RETURN true;
            END IF;
            SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota FROM tenant WHERE id = for_tenant;
            SELECT day, used INTO last_day, used_count FROM quota_usage
                WHERE tenant_id = for_tenant AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
            WITH waiting AS (
                SELECT id, {queue}_order AS row_order, row_number() OVER (ORDER BY {queue}_order, id) AS number
                FROM {table} WHERE tenant_id = for_tenant AND {queue}_status = 'Queued' AND {queue}_error IS NULL
                    AND {queue}_attempts = {queue}_allowance AND {queue}_order <= progress.until_order
                    AND ({queue}_order, id) > (progress.after_order, progress.after_id)
                    AND ({queue}_due_at IS NULL OR ({queue}_due_at > now()
                        AND {queue}_due_at = date_trunc('day', {queue}_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
                ORDER BY {queue}_order, id LIMIT max_rows
            ), scheduled AS (
                SELECT id, row_order, number, CASE WHEN quota IS NULL THEN today WHEN quota = 0 THEN today + 3650
                    ELSE coalesce(last_day, today)
                        + ((least(coalesce(used_count, 0), quota) + number - 1) / quota)::integer
                    END AS day FROM waiting
            ), moved AS (
                UPDATE {table} t
                SET {queue}_due_at = CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
                FROM scheduled s WHERE t.id = s.id AND t.{queue}_status = 'Queued' AND t.{queue}_due_at
                    IS DISTINCT FROM CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
            ), counted AS (
                INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
                    SELECT for_tenant, '{kind}', day, count(*) FROM scheduled
                    WHERE quota IS NULL OR quota > 0 GROUP BY day
                ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used
            )
            SELECT count(*) AS rows, max(row_order) AS last_order, (array_agg(id ORDER BY number DESC))[1] AS last_id
                INTO done FROM scheduled;
            IF done.rows > 0 THEN
                PERFORM pg_notify('scrapersky', '{table}.{queue}');
            END IF;
            IF done.rows < max_rows THEN
                DELETE FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = '{kind}';
                RETURN true;
            END IF;
            UPDATE quota_reschedule SET after_order = done.last_order, after_id = done.last_id
                WHERE tenant_id = for_tenant AND kind = '{kind}';
            RETURN false;
        END
        $function$;
        REVOKE EXECUTE ON FUNCTION {table}_reschedule(uuid, integer) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION {table}_reschedule(uuid, integer) TO scrapersky_engine;

        -- The quota changes, or the tenant is disabled or enabled: all queued rows that were not tried yet get a new
        -- day, from today on. Rows that were started today stay counted. The first 20000 rows are done here, the rest
        -- by the engine in chunks, so that no statement takes long.
        CREATE FUNCTION {table}_quota_changed() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            started integer;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.id, 0));
            SELECT greatest(coalesce(sum(used), 0) - (
                SELECT count(*) FROM {table} WHERE tenant_id = NEW.id AND {queue}_status = 'Queued'
                    AND {queue}_due_at IS NULL AND {queue}_error IS NULL AND {queue}_attempts = {queue}_allowance), 0)
                INTO started
                FROM quota_usage WHERE tenant_id = NEW.id AND kind = '{kind}' AND day = today;
            DELETE FROM quota_usage WHERE tenant_id = NEW.id AND kind = '{kind}' AND day >= today;
            INSERT INTO quota_usage (tenant_id, kind, day, used)
                SELECT NEW.id, '{kind}', today, started WHERE started > 0;
            DELETE FROM quota_reschedule WHERE tenant_id = NEW.id AND kind = '{kind}';
            INSERT INTO quota_reschedule (tenant_id, kind, until_order)
                SELECT NEW.id, '{kind}', max({queue}_order) FROM {table}
                WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' HAVING count(*) > 0;
            PERFORM {table}_reschedule(NEW.id, 20000);
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_quota_changed()');

        CREATE TRIGGER tenant_{kind}_quota_changed AFTER UPDATE OF {limit}, disabled_at ON tenant FOR EACH ROW
        WHEN (NEW.{limit} IS DISTINCT FROM OLD.{limit} OR (NEW.disabled_at IS NULL) <> (OLD.disabled_at IS NULL))
        EXECUTE FUNCTION {table}_quota_changed();
    $template$, '{table}', queue_table), '{queue}', queue), '{kind}', kind), '{limit}', limit_column);
END
$_$;

CREATE FUNCTION add_queue(queue_table text, queue text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM add_queue_columns(queue_table, queue);
    PERFORM add_queue_triggers(queue_table, queue);
END
$$;

CREATE FUNCTION add_queue_columns(queue_table text, queue text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
BEGIN
    EXECUTE replace(replace($template$
        ALTER TABLE {table}
            ADD COLUMN {queue}_status text NOT NULL DEFAULT 'New',
            ADD COLUMN {queue}_error text,
            ADD COLUMN {queue}_attempts integer NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_allowance integer NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_due_at timestamptz,
            ADD COLUMN {queue}_order bigint NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_flow uuid NOT NULL DEFAULT '00000000000000000000000000000000',
            ADD COLUMN {queue}_waits_for text CHECK ({queue}_waits_for IN ('tenant', 'money')),
            ADD COLUMN {queue}_revert_to text CHECK ({queue}_revert_to IN ('New', 'Completed')),
            ADD CONSTRAINT {table}_{queue}_status_check
                CHECK ({queue}_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error'));

        -- The engine claims by this index,
        CREATE INDEX {table}_{queue}_claim ON {table} ({queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
        -- finds the last row of a flow,
        CREATE INDEX {table}_{queue}_tenant ON {table} (tenant_id, {queue}_flow, {queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
        -- finds rows that have become due and leases that have ended,
        CREATE INDEX {table}_{queue}_due ON {table} ({queue}_due_at)
            WHERE {queue}_due_at IS NOT NULL;
        -- and lists are filtered by status.
        CREATE INDEX {table}_{queue}_outcome ON {table} (tenant_id, {queue}_status, id)
            WHERE {queue}_status NOT IN ('Queued', 'Processing');
    $template$, '{table}', queue_table), '{queue}', queue);
END
$_$;

CREATE FUNCTION add_queue_triggers(queue_table text, queue text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
BEGIN
    EXECUTE replace(replace(replace($template$
        -- The time of the last wake-up. A sequence is neither locked nor rolled back.
        CREATE SEQUENCE {table}_{queue}_notified MINVALUE 0 START 0 NO CYCLE;
        GRANT SELECT, UPDATE ON SEQUENCE {table}_{queue}_notified TO scrapersky_engine;

        -- A row enters the queue: give it its position, and wake a waiting worker.

        CREATE OR REPLACE FUNCTION {table}_{queue}_enqueue() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.{table}_{queue}', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.{table}_{queue}_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.{queue}_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.{queue}_allowance := NEW.{queue}_attempts;
                    NEW.{queue}_error := NULL;
                    NEW.{queue}_revert_to := NULL;
                    IF OLD.{queue}_status = 'Processing' THEN
                        NEW.{queue}_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.{queue}_waits_for := NULL;
            NEW.{queue}_flow := coalesce({flow}, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.{queue}_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.{queue}_flow AS flow FROM {table} t WHERE t.tenant_id = NEW.tenant_id
                                AND t.{queue}_status = 'Queued' AND t.{queue}_due_at IS NULL
                                ORDER BY t.{queue}_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.{queue}_flow FROM {table} t WHERE t.tenant_id = NEW.tenant_id
                                AND t.{queue}_status = 'Queued' AND t.{queue}_due_at IS NULL
                                AND t.{queue}_flow > a.flow ORDER BY t.{queue}_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.{queue}_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.{queue}_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT {queue}_order + priority * 600000000::bigint INTO base FROM {table}
                            WHERE tenant_id = NEW.tenant_id AND {queue}_flow = NEW.{queue}_flow
                                AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                            ORDER BY {queue}_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT {queue}_order + priority * 600000000::bigint AS place, priority FROM {table}
                            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                            ORDER BY {queue}_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.{table}_{queue}',
                    concat_ws(':', NEW.tenant_id, NEW.{queue}_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.{table}_{queue}_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.{queue}_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.{queue}_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM {table}_{queue}_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('{table}_{queue}_notified', at);
                    PERFORM pg_notify('scrapersky', '{table}.{queue}');
                END IF;
            END IF;
            RETURN NEW;
        END
        $function$;
        SELECT run_as_engine('{table}_{queue}_enqueue()');

        CREATE TRIGGER {table}_{queue}_enqueue_insert BEFORE INSERT ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued')
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- The engine puts a row back with a new due_at; such a row keeps its order and its attempts.
        CREATE TRIGGER {table}_{queue}_enqueue_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status <> 'Queued'
            AND NOT (OLD.{queue}_status = 'Processing' AND NEW.{queue}_due_at IS DISTINCT FROM OLD.{queue}_due_at))
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- A row whose wait has ended is placed like one that is queued now.
        CREATE TRIGGER {table}_{queue}_wait_over BEFORE UPDATE OF {queue}_due_at ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status = 'Queued'
            AND NEW.{queue}_due_at IS NULL AND OLD.{queue}_due_at <= now())
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- A change of priority moves a queued row.
        CREATE FUNCTION {table}_{queue}_reprioritize() RETURNS trigger LANGUAGE plpgsql AS $function$
        BEGIN
            NEW.{queue}_order := NEW.{queue}_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $function$;

        CREATE TRIGGER {table}_{queue}_reprioritize BEFORE UPDATE OF priority ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status = 'Queued' AND NEW.priority <> OLD.priority)
        EXECUTE FUNCTION {table}_{queue}_reprioritize();

        -- A row that is taken out of its queue by an UPDATE keeps no due_at.
        CREATE FUNCTION {table}_{queue}_clear_due_at() RETURNS trigger LANGUAGE plpgsql AS $function$
        BEGIN
            NEW.{queue}_due_at := NULL;
            RETURN NEW;
        END
        $function$;

        CREATE TRIGGER {table}_{queue}_clear_due_at BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status NOT IN ('Queued', 'Processing') AND NEW.{queue}_due_at IS NOT NULL)
        EXECUTE FUNCTION {table}_{queue}_clear_due_at();

        -- The dead letter of a row goes when the row leaves the status Error, or is deleted.
        CREATE FUNCTION {table}_{queue}_drop_dead_letter() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        BEGIN
            DELETE FROM dead_letter WHERE queue = '{table}.{queue}' AND row_id = OLD.id;
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_{queue}_drop_dead_letter()');

        CREATE TRIGGER {table}_{queue}_drop_dead_letter AFTER UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (OLD.{queue}_status = 'Error' AND NEW.{queue}_status <> 'Error')
        EXECUTE FUNCTION {table}_{queue}_drop_dead_letter();

        CREATE TRIGGER {table}_{queue}_drop_dead_letter_delete AFTER DELETE ON {table} FOR EACH ROW
        WHEN (OLD.{queue}_status = 'Error')
        EXECUTE FUNCTION {table}_{queue}_drop_dead_letter();

        -- A row that is Processing has a lease: without one it would never become free again.
        ALTER TABLE {table} ADD CONSTRAINT {table}_{queue}_leased
            CHECK ({queue}_status <> 'Processing' OR {queue}_due_at IS NOT NULL);

        -- The engine changes the columns of queues, and nothing else of the row.
        GRANT SELECT ON {table} TO scrapersky_engine;
        GRANT UPDATE ({queue}_status, {queue}_error, {queue}_attempts, {queue}_allowance, {queue}_due_at,
            {queue}_order, {queue}_waits_for, {queue}_revert_to, updated_at) ON {table} TO scrapersky_engine;

        -- Rows change often and in place; the indexes of a queue must be vacuumed early to stay small.
        ALTER TABLE {table} SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
    $template$, '{flow}', queue_flow(queue_table)), '{table}', queue_table), '{queue}', queue);
END
$_$;

CREATE FUNCTION begin_search_run(for_tenant uuid, for_search uuid, anew boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF anew THEN
        UPDATE search_run SET ended_at = now() WHERE search_id = for_search AND ended_at IS NULL;
    ELSIF EXISTS (SELECT FROM search_run WHERE search_id = for_search AND ended_at IS NULL) THEN
        RETURN;
    END IF;
    INSERT INTO search_run (tenant_id, search_id, number)
    SELECT for_tenant, for_search, coalesce(max(number), 0) + 1 FROM search_run WHERE search_id = for_search
    ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION book_call(for_tenant uuid, for_search uuid, of_provider text, of_method text, price bigint, OUT refusal text, OUT call_id uuid, OUT used bigint, OUT allowed bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    is_detail boolean := of_method = 'details';
    this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    quota integer;
    of_campaign uuid;
    this_search search%ROWTYPE;
    payer search%ROWTYPE;
BEGIN
    IF price > 0 AND is_detail THEN
        SELECT cents_per_month INTO quota FROM tenant WHERE id = for_tenant;
    END IF;
    SELECT campaign_id INTO of_campaign FROM search WHERE id = for_search AND tenant_id = for_tenant;
    IF quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || for_tenant, 0));
        SELECT * INTO payer FROM search WHERE id = of_campaign FOR NO KEY UPDATE NOWAIT;
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO payer FROM search WHERE id = of_campaign FOR NO KEY UPDATE;
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE;
    END IF;
    IF payer.id IS NULL THEN
        payer := this_search;
    END IF;
    IF price > 0 AND payer.budget_cents IS NOT NULL THEN
        allowed := payer.budget_cents;
        IF is_detail AND payer.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF payer.spent_micros + price > payer.budget_cents * 10000::bigint THEN
            used := CASE WHEN is_detail THEN payer.spent_cents
                ELSE ceil((payer.spent_micros + price) / 10000.0) END;
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF quota IS NOT NULL THEN
        used := spent_cents(for_tenant) + reserved_cents(for_tenant, payer.id);
        allowed := quota;
        IF used * 10000 + price > quota * 10000::bigint THEN
            refusal := 'month';
            RETURN;
        END IF;
    END IF;
    IF this_search.id IS NOT NULL THEN
        UPDATE search SET cost_micros = cost_micros + price, spent_micros = spent_micros + price,
            call_count = call_count + 1, details_count = details_count + is_detail::integer,
            details_micros = details_micros + CASE WHEN is_detail THEN price ELSE 0 END
            WHERE id IN (this_search.id, payer.id);
    ELSE
        PERFORM record_micros(for_tenant, of_provider, of_method, this_month, 1, price);
    END IF;
    IF price > 0 THEN
        INSERT INTO unanswered_call (tenant_id, search_id, provider, method, month, micros)
            VALUES (for_tenant, this_search.id, of_provider, of_method, this_month, price)
            RETURNING id INTO call_id;
    END IF;
END
$$;

CREATE FUNCTION business_domain_link_searches() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT search_id, NEW.domain_id, NEW.tenant_id FROM search_business WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION business_name(name text, site_facts jsonb, site_title text, domain_name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(
        nullif(name, '(expired under the provider''s terms)'),
        without_home_page_words(site_facts #>> '{organisation,name}'),
        without_home_page_words(site_facts ->> 'site_name'),
        without_home_page_words(site_title),
        domain_name,
        name)
$$;

CREATE FUNCTION business_status_text(status text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE upper(replace(status, ' ', '_'))
        WHEN 'OPERATIONAL' THEN 'open'
        WHEN 'CLOSED_TEMPORARILY' THEN 'temporarily closed'
        WHEN 'CLOSED_PERMANENTLY' THEN 'permanently closed'
        ELSE lower(replace(status, '_', ' ')) END
$$;

CREATE FUNCTION campaign_search_link_places() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_place (search_id, place_id, tenant_id, found_at)
    SELECT NEW.campaign_id, place_id, NEW.tenant_id, found_at FROM search_place WHERE search_id = NEW.search_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION confirm_call(call_id uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM unanswered_call WHERE id = call_id
$$;

CREATE FUNCTION contact_check_suppression() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    mail text := lower(NEW.email);
    host text := split_part(mail, '@', 2);
    site text;
    person text;
    keys text[] := array_remove(ARRAY[mail, NEW.phone, NEW.fax], NULL);
    digests text[];
    erased text[];
    is_suppressed boolean;
    has_erasures boolean;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('suppression ' || NEW.tenant_id, 0));
    IF NOT EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id) THEN
        NEW.suppressed_at := NULL;
        RETURN NEW;
    END IF;
    WHILE host <> '' LOOP
        keys := keys || host;
        host := CASE WHEN position('.' IN host) > 0 THEN substr(host, position('.' IN host) + 1) ELSE '' END;
    END LOOP;
    IF NEW.domain_id IS NOT NULL THEN
        SELECT d.name INTO site FROM domain d WHERE d.id = NEW.domain_id;
        person := lower(NEW.name COLLATE "C") || ' @ ' || site;
        keys := keys || array_remove(ARRAY[site, person], NULL);
    END IF;
    -- Hashed beforehand: under row level security an index is used for plain comparisons only.
    digests := ARRAY(SELECT sha256_hex(k.key) FROM unnest(keys) k(key));
    SELECT array_agg(keys[array_position(digests, value_hash)]) FILTER (WHERE origin = 'erasure'),
            coalesce(bool_or(origin <> 'erasure'), false),
            EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id AND origin = 'erasure')
        INTO erased, is_suppressed, has_erasures
        FROM suppression WHERE tenant_id = NEW.tenant_id AND value_hash = ANY (digests);
    IF erased IS NOT NULL THEN
        -- An erased contact is not stored. A contact that shares an erased field is stored without that field.
        IF TG_OP = 'INSERT' AND (mail = ANY (erased) OR split_part(NEW.identity, ':', 2) = ANY (erased)
                OR (person = ANY (erased) AND NEW.identity LIKE 'person:%')) THEN
            RETURN NULL;
        END IF;
        NEW.email := CASE WHEN mail = ANY (erased) THEN NULL ELSE NEW.email END;
        NEW.phone := CASE WHEN NEW.phone = ANY (erased) THEN NULL ELSE NEW.phone END;
        NEW.fax := CASE WHEN NEW.fax = ANY (erased) THEN NULL ELSE NEW.fax END;
        NEW.title := CASE WHEN person = ANY (erased) THEN NULL ELSE NEW.title END;
        NEW.name := CASE WHEN person = ANY (erased) THEN NULL ELSE NEW.name END;
        NEW.snippet := NULL;
    END IF;
    IF has_erasures THEN
        NEW.snippet := redact_erased(NEW.tenant_id, NEW.snippet);
        NEW.address := redact_erased(NEW.tenant_id, NEW.address);
        NEW.profiles := redact_erased(NEW.tenant_id, NEW.profiles::text)::jsonb;
    END IF;
    NEW.suppressed_at := CASE WHEN is_suppressed THEN coalesce(NEW.suppressed_at, now()) END;
    RETURN NEW;
END
$$;

CREATE FUNCTION contact_contact_verification_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.contact_verification_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION contact_contact_verification_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'contact.contact_verification' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION contact_contact_verification_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION contact_contact_verification_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.contact_contact_verification', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.contact_contact_verification_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.contact_verification_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.contact_verification_allowance := NEW.contact_verification_attempts;
                    NEW.contact_verification_error := NULL;
                    NEW.contact_verification_revert_to := NULL;
                    IF OLD.contact_verification_status = 'Processing' THEN
                        NEW.contact_verification_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.contact_verification_waits_for := NULL;
            NEW.contact_verification_flow := coalesce(coalesce((SELECT search_id FROM domain WHERE id = NEW.domain_id),
                (SELECT search_id FROM local_business WHERE id = NEW.business_id)), '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.contact_verification_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.contact_verification_flow AS flow FROM contact t WHERE t.tenant_id = NEW.tenant_id
                                AND t.contact_verification_status = 'Queued' AND t.contact_verification_due_at IS NULL
                                ORDER BY t.contact_verification_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.contact_verification_flow FROM contact t WHERE t.tenant_id = NEW.tenant_id
                                AND t.contact_verification_status = 'Queued' AND t.contact_verification_due_at IS NULL
                                AND t.contact_verification_flow > a.flow ORDER BY t.contact_verification_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.contact_verification_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.contact_verification_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT contact_verification_order + priority * 600000000::bigint INTO base FROM contact
                            WHERE tenant_id = NEW.tenant_id AND contact_verification_flow = NEW.contact_verification_flow
                                AND contact_verification_status = 'Queued' AND contact_verification_due_at IS NULL
                            ORDER BY contact_verification_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT contact_verification_order + priority * 600000000::bigint AS place, priority FROM contact
                            WHERE contact_verification_status = 'Queued' AND contact_verification_due_at IS NULL
                            ORDER BY contact_verification_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.contact_contact_verification',
                    concat_ws(':', NEW.tenant_id, NEW.contact_verification_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.contact_contact_verification_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.contact_verification_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.contact_verification_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM contact_contact_verification_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('contact_contact_verification_notified', at);
                    PERFORM pg_notify('scrapersky', 'contact.contact_verification');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION contact_contact_verification_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION contact_contact_verification_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.contact_verification_order := NEW.contact_verification_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION delivery_delivery_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.delivery_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION delivery_delivery_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'delivery.delivery' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION delivery_delivery_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION delivery_delivery_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.delivery_delivery', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.delivery_delivery_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.delivery_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.delivery_allowance := NEW.delivery_attempts;
                    NEW.delivery_error := NULL;
                    NEW.delivery_revert_to := NULL;
                    IF OLD.delivery_status = 'Processing' THEN
                        NEW.delivery_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.delivery_waits_for := NULL;
            NEW.delivery_flow := coalesce(NEW.destination_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.delivery_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.delivery_flow AS flow FROM delivery t WHERE t.tenant_id = NEW.tenant_id
                                AND t.delivery_status = 'Queued' AND t.delivery_due_at IS NULL
                                ORDER BY t.delivery_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.delivery_flow FROM delivery t WHERE t.tenant_id = NEW.tenant_id
                                AND t.delivery_status = 'Queued' AND t.delivery_due_at IS NULL
                                AND t.delivery_flow > a.flow ORDER BY t.delivery_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.delivery_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.delivery_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT delivery_order + priority * 600000000::bigint INTO base FROM delivery
                            WHERE tenant_id = NEW.tenant_id AND delivery_flow = NEW.delivery_flow
                                AND delivery_status = 'Queued' AND delivery_due_at IS NULL
                            ORDER BY delivery_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT delivery_order + priority * 600000000::bigint AS place, priority FROM delivery
                            WHERE delivery_status = 'Queued' AND delivery_due_at IS NULL
                            ORDER BY delivery_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.delivery_delivery',
                    concat_ws(':', NEW.tenant_id, NEW.delivery_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.delivery_delivery_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.delivery_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.delivery_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM delivery_delivery_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('delivery_delivery_notified', at);
                    PERFORM pg_notify('scrapersky', 'delivery.delivery');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION delivery_delivery_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION delivery_delivery_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.delivery_order := NEW.delivery_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION domain_domain_metadata_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.domain_metadata_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION domain_domain_metadata_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'domain.domain_metadata' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION domain_domain_metadata_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION domain_domain_metadata_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.domain_domain_metadata', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.domain_domain_metadata_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.domain_metadata_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.domain_metadata_allowance := NEW.domain_metadata_attempts;
                    NEW.domain_metadata_error := NULL;
                    NEW.domain_metadata_revert_to := NULL;
                    IF OLD.domain_metadata_status = 'Processing' THEN
                        NEW.domain_metadata_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.domain_metadata_waits_for := NULL;
            NEW.domain_metadata_flow := coalesce(NEW.search_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.domain_metadata_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.domain_metadata_flow AS flow FROM domain t WHERE t.tenant_id = NEW.tenant_id
                                AND t.domain_metadata_status = 'Queued' AND t.domain_metadata_due_at IS NULL
                                ORDER BY t.domain_metadata_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.domain_metadata_flow FROM domain t WHERE t.tenant_id = NEW.tenant_id
                                AND t.domain_metadata_status = 'Queued' AND t.domain_metadata_due_at IS NULL
                                AND t.domain_metadata_flow > a.flow ORDER BY t.domain_metadata_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.domain_metadata_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.domain_metadata_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT domain_metadata_order + priority * 600000000::bigint INTO base FROM domain
                            WHERE tenant_id = NEW.tenant_id AND domain_metadata_flow = NEW.domain_metadata_flow
                                AND domain_metadata_status = 'Queued' AND domain_metadata_due_at IS NULL
                            ORDER BY domain_metadata_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT domain_metadata_order + priority * 600000000::bigint AS place, priority FROM domain
                            WHERE domain_metadata_status = 'Queued' AND domain_metadata_due_at IS NULL
                            ORDER BY domain_metadata_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.domain_domain_metadata',
                    concat_ws(':', NEW.tenant_id, NEW.domain_metadata_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.domain_domain_metadata_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.domain_metadata_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.domain_metadata_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM domain_domain_metadata_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('domain_domain_metadata_notified', at);
                    PERFORM pg_notify('scrapersky', 'domain.domain_metadata');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION domain_domain_metadata_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION domain_domain_metadata_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.domain_metadata_order := NEW.domain_metadata_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION domain_link_search() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION domain_sitemap_analysis_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.sitemap_analysis_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION domain_sitemap_analysis_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'domain.sitemap_analysis' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION domain_sitemap_analysis_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION domain_sitemap_analysis_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.domain_sitemap_analysis', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.domain_sitemap_analysis_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.sitemap_analysis_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.sitemap_analysis_allowance := NEW.sitemap_analysis_attempts;
                    NEW.sitemap_analysis_error := NULL;
                    NEW.sitemap_analysis_revert_to := NULL;
                    IF OLD.sitemap_analysis_status = 'Processing' THEN
                        NEW.sitemap_analysis_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.sitemap_analysis_waits_for := NULL;
            NEW.sitemap_analysis_flow := coalesce(NEW.search_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.sitemap_analysis_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.sitemap_analysis_flow AS flow FROM domain t WHERE t.tenant_id = NEW.tenant_id
                                AND t.sitemap_analysis_status = 'Queued' AND t.sitemap_analysis_due_at IS NULL
                                ORDER BY t.sitemap_analysis_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.sitemap_analysis_flow FROM domain t WHERE t.tenant_id = NEW.tenant_id
                                AND t.sitemap_analysis_status = 'Queued' AND t.sitemap_analysis_due_at IS NULL
                                AND t.sitemap_analysis_flow > a.flow ORDER BY t.sitemap_analysis_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.sitemap_analysis_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.sitemap_analysis_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT sitemap_analysis_order + priority * 600000000::bigint INTO base FROM domain
                            WHERE tenant_id = NEW.tenant_id AND sitemap_analysis_flow = NEW.sitemap_analysis_flow
                                AND sitemap_analysis_status = 'Queued' AND sitemap_analysis_due_at IS NULL
                            ORDER BY sitemap_analysis_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT sitemap_analysis_order + priority * 600000000::bigint AS place, priority FROM domain
                            WHERE sitemap_analysis_status = 'Queued' AND sitemap_analysis_due_at IS NULL
                            ORDER BY sitemap_analysis_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.domain_sitemap_analysis',
                    concat_ws(':', NEW.tenant_id, NEW.sitemap_analysis_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.domain_sitemap_analysis_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.sitemap_analysis_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.sitemap_analysis_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM domain_sitemap_analysis_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('domain_sitemap_analysis_notified', at);
                    PERFORM pg_notify('scrapersky', 'domain.sitemap_analysis');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION domain_sitemap_analysis_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION domain_sitemap_analysis_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.sitemap_analysis_order := NEW.sitemap_analysis_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION domain_update_scan_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    UPDATE job SET
        state = CASE NEW.sitemap_analysis_status
            WHEN 'Processing' THEN 'processing'
            WHEN 'Queued' THEN state
            WHEN 'Completed' THEN 'completed'
            WHEN 'Skipped' THEN 'skipped'
            WHEN 'New' THEN 'cancelled'
            ELSE 'failed' END,
        progress = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN 0 ELSE 1 END,
        error = NEW.sitemap_analysis_error,
        finished_at = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN NULL ELSE now() END,
        updated_at = now()
    WHERE subject_id = NEW.id AND kind = 'sitemap_scan' AND state IN ('pending', 'processing');
    RETURN NULL;
END
$$;

CREATE FUNCTION drop_queue(queue_table text, queue text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
BEGIN
    EXECUTE replace(replace($template$
        DROP FUNCTION {table}_{queue}_enqueue, {table}_{queue}_drop_dead_letter, {table}_{queue}_reprioritize,
            {table}_{queue}_clear_due_at CASCADE;
        DROP SEQUENCE {table}_{queue}_notified;
        DELETE FROM dead_letter WHERE queue = '{table}.{queue}';
        ALTER TABLE {table} DROP COLUMN {queue}_status, DROP COLUMN {queue}_error, DROP COLUMN {queue}_attempts,
            DROP COLUMN {queue}_allowance, DROP COLUMN {queue}_due_at, DROP COLUMN {queue}_order,
            DROP COLUMN {queue}_flow, DROP COLUMN {queue}_waits_for, DROP COLUMN {queue}_revert_to;
    $template$, '{table}', queue_table), '{queue}', queue);
END
$_$;

CREATE FUNCTION home_page_words() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT 'home|home page|homepage|main page|start|start page|startpage|index|welcome|front page|frontpage|'
        'mysite|my site|website|startseite|start-seite|willkommen|herzlich willkommen|hauptseite|'
        'accueil|page d''accueil|bienvenue|inicio|página principal|página inicial|bienvenidos|bienvenido|'
        'início|bem-vindo|home pagina|pagina iniziale|benvenuti|welkom|startpagina|hem|startsida|startsidan|'
        'välkommen|välkomna|hjem|forside|forsiden|velkommen|hjemmeside|etusivu|tervetuloa|koti|kotisivu|'
        'avaleht|sākums|pradžia|strona główna|start strony|witamy|úvod|úvodní stránka|domů|domov|vitajte|'
        'vítejte|főoldal|kezdőlap|üdvözöljük|acasă|pagina principală|naslovna|početna|domača stran|'
        'начало|главная|главная страница|головна|αρχική|anasayfa|ana sayfa|'
        'ホーム|トップページ|首页|首頁|主页|홈|trang chủ|beranda|الرئيسية|דף הבית'
$$;

CREATE FUNCTION local_business_compare_again() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    NEW.compared_at := NULL;
    DELETE FROM match_key WHERE business_id = NEW.id;
    RETURN NEW;
END
$$;

CREATE FUNCTION local_business_domain_extraction_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.domain_extraction_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION local_business_domain_extraction_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'local_business.domain_extraction' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION local_business_domain_extraction_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION local_business_domain_extraction_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.local_business_domain_extraction', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.local_business_domain_extraction_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.domain_extraction_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.domain_extraction_allowance := NEW.domain_extraction_attempts;
                    NEW.domain_extraction_error := NULL;
                    NEW.domain_extraction_revert_to := NULL;
                    IF OLD.domain_extraction_status = 'Processing' THEN
                        NEW.domain_extraction_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.domain_extraction_waits_for := NULL;
            NEW.domain_extraction_flow := coalesce(NEW.search_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.domain_extraction_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.domain_extraction_flow AS flow FROM local_business t WHERE t.tenant_id = NEW.tenant_id
                                AND t.domain_extraction_status = 'Queued' AND t.domain_extraction_due_at IS NULL
                                ORDER BY t.domain_extraction_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.domain_extraction_flow FROM local_business t WHERE t.tenant_id = NEW.tenant_id
                                AND t.domain_extraction_status = 'Queued' AND t.domain_extraction_due_at IS NULL
                                AND t.domain_extraction_flow > a.flow ORDER BY t.domain_extraction_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.domain_extraction_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.domain_extraction_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT domain_extraction_order + priority * 600000000::bigint INTO base FROM local_business
                            WHERE tenant_id = NEW.tenant_id AND domain_extraction_flow = NEW.domain_extraction_flow
                                AND domain_extraction_status = 'Queued' AND domain_extraction_due_at IS NULL
                            ORDER BY domain_extraction_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT domain_extraction_order + priority * 600000000::bigint AS place, priority FROM local_business
                            WHERE domain_extraction_status = 'Queued' AND domain_extraction_due_at IS NULL
                            ORDER BY domain_extraction_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.local_business_domain_extraction',
                    concat_ws(':', NEW.tenant_id, NEW.domain_extraction_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.local_business_domain_extraction_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.domain_extraction_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.domain_extraction_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM local_business_domain_extraction_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('local_business_domain_extraction_notified', at);
                    PERFORM pg_notify('scrapersky', 'local_business.domain_extraction');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION local_business_domain_extraction_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION local_business_domain_extraction_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.domain_extraction_order := NEW.domain_extraction_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION local_business_link_searches() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id, found_at, seen_at)
    SELECT search_id, NEW.id, NEW.tenant_id, found_at, seen_at FROM search_place WHERE place_id = NEW.place_id
    ON CONFLICT DO NOTHING;
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION local_business_site_search_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.site_search_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION local_business_site_search_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'local_business.site_search' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION local_business_site_search_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION local_business_site_search_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.local_business_site_search', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.local_business_site_search_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.site_search_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.site_search_allowance := NEW.site_search_attempts;
                    NEW.site_search_error := NULL;
                    NEW.site_search_revert_to := NULL;
                    IF OLD.site_search_status = 'Processing' THEN
                        NEW.site_search_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.site_search_waits_for := NULL;
            NEW.site_search_flow := coalesce(NEW.search_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.site_search_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.site_search_flow AS flow FROM local_business t WHERE t.tenant_id = NEW.tenant_id
                                AND t.site_search_status = 'Queued' AND t.site_search_due_at IS NULL
                                ORDER BY t.site_search_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.site_search_flow FROM local_business t WHERE t.tenant_id = NEW.tenant_id
                                AND t.site_search_status = 'Queued' AND t.site_search_due_at IS NULL
                                AND t.site_search_flow > a.flow ORDER BY t.site_search_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.site_search_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.site_search_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT site_search_order + priority * 600000000::bigint INTO base FROM local_business
                            WHERE tenant_id = NEW.tenant_id AND site_search_flow = NEW.site_search_flow
                                AND site_search_status = 'Queued' AND site_search_due_at IS NULL
                            ORDER BY site_search_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT site_search_order + priority * 600000000::bigint AS place, priority FROM local_business
                            WHERE site_search_status = 'Queued' AND site_search_due_at IS NULL
                            ORDER BY site_search_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.local_business_site_search',
                    concat_ws(':', NEW.tenant_id, NEW.site_search_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.local_business_site_search_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.site_search_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.site_search_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM local_business_site_search_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('local_business_site_search_notified', at);
                    PERFORM pg_notify('scrapersky', 'local_business.site_search');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION local_business_site_search_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION local_business_site_search_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.site_search_order := NEW.site_search_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION map_cell(latitude double precision, longitude double precision) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    radians double precision := pi() / 180 * greatest(-85.0511287798066, least(85.0511287798066, latitude));
    south double precision := (1 - ln(tan(radians) + 1 / cos(radians)) / pi()) / 2;
    edge bigint := (1 << 20) - 1;
    x bigint := greatest(0, least(edge, floor((longitude + 180) / 360 * (1 << 20))::bigint));
    y bigint := greatest(0, least(edge, floor(south * (1 << 20))::bigint));
BEGIN
    x := (x | (x << 16)) & 281470681808895;       -- 0000FFFF0000FFFF
    x := (x | (x << 8)) & 71777214294589695;      -- 00FF00FF00FF00FF
    x := (x | (x << 4)) & 1085102592571150095;    -- 0F0F0F0F0F0F0F0F
    x := (x | (x << 2)) & 3689348814741910323;    -- 3333333333333333
    x := (x | (x << 1)) & 6148914691236517205;    -- 5555555555555555
    y := (y | (y << 16)) & 281470681808895;
    y := (y | (y << 8)) & 71777214294589695;
    y := (y | (y << 4)) & 1085102592571150095;
    y := (y | (y << 2)) & 3689348814741910323;
    y := (y | (y << 1)) & 6148914691236517205;
    RETURN x | (y << 1);
END $$;

CREATE FUNCTION note_field_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    former jsonb := to_jsonb(OLD);
    latter jsonb := to_jsonb(NEW);
    field text;
BEGIN
    FOREACH field IN ARRAY TG_ARGV LOOP
        IF former -> field IS DISTINCT FROM latter -> field
            AND NOT (field = 'verdict' AND former -> field = 'null') THEN
            NEW.changed_at := now();
            NEW.field_changes := coalesce(NEW.field_changes, '{}') || jsonb_build_object(field, now());
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;

CREATE FUNCTION page_apply_quota() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            memo text[] := string_to_array(current_setting('scrapersky.page_quota', true), ' ');
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer := memo[2]::integer;
            last_day date := memo[3]::date;
            used_count integer := memo[4]::integer;
        BEGIN
            IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                PERFORM write_quota_usage('pages', memo);
                SELECT CASE WHEN disabled_at IS NULL THEN pages_per_day ELSE 0 END INTO quota
                    FROM tenant WHERE id = NEW.tenant_id;
                IF quota IS NULL OR quota = 0 THEN
                    PERFORM set_config('scrapersky.page_quota', '', true);
                    IF quota = 0 THEN
                        NEW.page_processing_due_at := (today + 3650)::timestamp AT TIME ZONE 'UTC';
                    END IF;
                    RETURN NEW;
                END IF;
                PERFORM pg_advisory_xact_lock(hashtextextended('pages of ' || NEW.tenant_id, 0));
                SELECT day, used INTO last_day, used_count FROM quota_usage
                    WHERE tenant_id = NEW.tenant_id AND kind = 'pages' AND day >= today ORDER BY day DESC LIMIT 1;
                last_day := coalesce(last_day, today);
                used_count := coalesce(used_count, 0);
            END IF;
            IF used_count >= quota THEN
                PERFORM write_quota_usage(
                    'pages', ARRAY[NEW.tenant_id::text, quota::text, last_day::text, used_count::text]);
                last_day := last_day + 1;
                used_count := 0;
            END IF;
            PERFORM set_config(
                'scrapersky.page_quota', concat_ws(' ', NEW.tenant_id, quota, last_day, used_count + 1), true);
            IF last_day > today THEN
                NEW.page_processing_due_at := greatest(NEW.page_processing_due_at, last_day::timestamp AT TIME ZONE 'UTC');
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION page_apply_quota() OWNER TO scrapersky_engine;

CREATE FUNCTION page_page_processing_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.page_processing_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION page_page_processing_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'page.page_processing' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION page_page_processing_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION page_page_processing_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.page_page_processing', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.page_page_processing_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.page_processing_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.page_processing_allowance := NEW.page_processing_attempts;
                    NEW.page_processing_error := NULL;
                    NEW.page_processing_revert_to := NULL;
                    IF OLD.page_processing_status = 'Processing' THEN
                        NEW.page_processing_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.page_processing_waits_for := NULL;
            NEW.page_processing_flow := coalesce((SELECT search_id FROM domain WHERE id = NEW.domain_id), '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.page_processing_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.page_processing_flow AS flow FROM page t WHERE t.tenant_id = NEW.tenant_id
                                AND t.page_processing_status = 'Queued' AND t.page_processing_due_at IS NULL
                                ORDER BY t.page_processing_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.page_processing_flow FROM page t WHERE t.tenant_id = NEW.tenant_id
                                AND t.page_processing_status = 'Queued' AND t.page_processing_due_at IS NULL
                                AND t.page_processing_flow > a.flow ORDER BY t.page_processing_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.page_processing_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.page_processing_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT page_processing_order + priority * 600000000::bigint INTO base FROM page
                            WHERE tenant_id = NEW.tenant_id AND page_processing_flow = NEW.page_processing_flow
                                AND page_processing_status = 'Queued' AND page_processing_due_at IS NULL
                            ORDER BY page_processing_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT page_processing_order + priority * 600000000::bigint AS place, priority FROM page
                            WHERE page_processing_status = 'Queued' AND page_processing_due_at IS NULL
                            ORDER BY page_processing_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.page_page_processing',
                    concat_ws(':', NEW.tenant_id, NEW.page_processing_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.page_page_processing_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.page_processing_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.page_processing_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM page_page_processing_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('page_page_processing_notified', at);
                    PERFORM pg_notify('scrapersky', 'page.page_processing');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION page_page_processing_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION page_page_processing_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.page_processing_order := NEW.page_processing_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION page_quota_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            started integer;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('pages of ' || NEW.id, 0));
            SELECT greatest(coalesce(sum(used), 0) - (
                SELECT count(*) FROM page WHERE tenant_id = NEW.id AND page_processing_status = 'Queued'
                    AND page_processing_due_at IS NULL AND page_processing_error IS NULL AND page_processing_attempts = page_processing_allowance), 0)
                INTO started
                FROM quota_usage WHERE tenant_id = NEW.id AND kind = 'pages' AND day = today;
            DELETE FROM quota_usage WHERE tenant_id = NEW.id AND kind = 'pages' AND day >= today;
            INSERT INTO quota_usage (tenant_id, kind, day, used)
                SELECT NEW.id, 'pages', today, started WHERE started > 0;
            DELETE FROM quota_reschedule WHERE tenant_id = NEW.id AND kind = 'pages';
            INSERT INTO quota_reschedule (tenant_id, kind, until_order)
                SELECT NEW.id, 'pages', max(page_processing_order) FROM page
                WHERE tenant_id = NEW.id AND page_processing_status = 'Queued' HAVING count(*) > 0;
            PERFORM page_reschedule(NEW.id, 20000);
            RETURN NULL;
        END
        $$;

ALTER FUNCTION page_quota_changed() OWNER TO scrapersky_engine;

CREATE FUNCTION page_reschedule(for_tenant uuid, max_rows integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer;
            last_day date;
            used_count integer;
            progress quota_reschedule%ROWTYPE;
            done record;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('pages of ' || for_tenant, 0));
            SELECT * INTO progress FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = 'pages';
            IF NOT FOUND THEN
                RETURN true;
            END IF;
            SELECT CASE WHEN disabled_at IS NULL THEN pages_per_day ELSE 0 END INTO quota FROM tenant WHERE id = for_tenant;
            SELECT day, used INTO last_day, used_count FROM quota_usage
                WHERE tenant_id = for_tenant AND kind = 'pages' AND day >= today ORDER BY day DESC LIMIT 1;
            WITH waiting AS (
                SELECT id, page_processing_order AS row_order, row_number() OVER (ORDER BY page_processing_order, id) AS number
                FROM page WHERE tenant_id = for_tenant AND page_processing_status = 'Queued' AND page_processing_error IS NULL
                    AND page_processing_attempts = page_processing_allowance AND page_processing_order <= progress.until_order
                    AND (page_processing_order, id) > (progress.after_order, progress.after_id)
                    AND (page_processing_due_at IS NULL OR (page_processing_due_at > now()
                        AND page_processing_due_at = date_trunc('day', page_processing_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
                ORDER BY page_processing_order, id LIMIT max_rows
            ), scheduled AS (
                SELECT id, row_order, number, CASE WHEN quota IS NULL THEN today WHEN quota = 0 THEN today + 3650
                    ELSE coalesce(last_day, today)
                        + ((least(coalesce(used_count, 0), quota) + number - 1) / quota)::integer
                    END AS day FROM waiting
            ), moved AS (
                UPDATE page t
                SET page_processing_due_at = CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
                FROM scheduled s WHERE t.id = s.id AND t.page_processing_status = 'Queued' AND t.page_processing_due_at
                    IS DISTINCT FROM CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
            ), counted AS (
                INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
                    SELECT for_tenant, 'pages', day, count(*) FROM scheduled
                    WHERE quota IS NULL OR quota > 0 GROUP BY day
                ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used
            )
            SELECT count(*) AS rows, max(row_order) AS last_order, (array_agg(id ORDER BY number DESC))[1] AS last_id
                INTO done FROM scheduled;
            IF done.rows > 0 THEN
                PERFORM pg_notify('scrapersky', 'page.page_processing');
            END IF;
            IF done.rows < max_rows THEN
                DELETE FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = 'pages';
                RETURN true;
            END IF;
            UPDATE quota_reschedule SET after_order = done.last_order, after_id = done.last_id
                WHERE tenant_id = for_tenant AND kind = 'pages';
            RETURN false;
        END
        $$;

CREATE FUNCTION page_write_quota_usage() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            PERFORM write_quota_usage(
                'pages', string_to_array(current_setting('scrapersky.page_quota', true), ' '));
            PERFORM set_config('scrapersky.page_quota', '', true);
            RETURN NULL;
        END
        $$;

ALTER FUNCTION page_write_quota_usage() OWNER TO scrapersky_engine;

CREATE FUNCTION place_deep_scan_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.deep_scan_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION place_deep_scan_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'place.deep_scan' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION place_deep_scan_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION place_deep_scan_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.place_deep_scan', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.place_deep_scan_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.deep_scan_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.deep_scan_allowance := NEW.deep_scan_attempts;
                    NEW.deep_scan_error := NULL;
                    NEW.deep_scan_revert_to := NULL;
                    IF OLD.deep_scan_status = 'Processing' THEN
                        NEW.deep_scan_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.deep_scan_waits_for := NULL;
            NEW.deep_scan_flow := coalesce(NEW.search_id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.deep_scan_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.deep_scan_flow AS flow FROM place t WHERE t.tenant_id = NEW.tenant_id
                                AND t.deep_scan_status = 'Queued' AND t.deep_scan_due_at IS NULL
                                ORDER BY t.deep_scan_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.deep_scan_flow FROM place t WHERE t.tenant_id = NEW.tenant_id
                                AND t.deep_scan_status = 'Queued' AND t.deep_scan_due_at IS NULL
                                AND t.deep_scan_flow > a.flow ORDER BY t.deep_scan_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.deep_scan_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.deep_scan_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT deep_scan_order + priority * 600000000::bigint INTO base FROM place
                            WHERE tenant_id = NEW.tenant_id AND deep_scan_flow = NEW.deep_scan_flow
                                AND deep_scan_status = 'Queued' AND deep_scan_due_at IS NULL
                            ORDER BY deep_scan_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT deep_scan_order + priority * 600000000::bigint AS place, priority FROM place
                            WHERE deep_scan_status = 'Queued' AND deep_scan_due_at IS NULL
                            ORDER BY deep_scan_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.place_deep_scan',
                    concat_ws(':', NEW.tenant_id, NEW.deep_scan_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.place_deep_scan_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.deep_scan_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.deep_scan_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM place_deep_scan_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('place_deep_scan_notified', at);
                    PERFORM pg_notify('scrapersky', 'place.deep_scan');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION place_deep_scan_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION place_deep_scan_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.deep_scan_order := NEW.deep_scan_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION protect_tenant(target regclass, app_privileges text DEFAULT 'SELECT, INSERT, UPDATE, DELETE'::text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);  -- for the owner of the table, too
    EXECUTE format(
        'CREATE POLICY tenant_rows ON %s TO scrapersky_app
            USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', target);
    EXECUTE format('CREATE POLICY engine_rows ON %s TO scrapersky_engine USING (true) WITH CHECK (true)', target);
    EXECUTE format('GRANT %s ON %s TO scrapersky_app', app_privileges, target);
END
$$;

CREATE FUNCTION queue_flow(queue_table text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT CASE WHEN queue_table = 'search' THEN 'NEW.id'
        WHEN 'search_id' = ANY (names) THEN 'NEW.search_id'
        WHEN 'domain_id' = ANY (names) AND 'business_id' = ANY (names) THEN
            'coalesce((SELECT search_id FROM domain WHERE id = NEW.domain_id),
                (SELECT search_id FROM local_business WHERE id = NEW.business_id))'
        WHEN 'domain_id' = ANY (names) THEN '(SELECT search_id FROM domain WHERE id = NEW.domain_id)'
        WHEN 'destination_id' = ANY (names) THEN 'NEW.destination_id'
        ELSE 'NULL::uuid' END
    FROM (SELECT array_agg(attname::text) AS names FROM pg_attribute
        WHERE attrelid = queue_table::regclass AND attnum > 0) a
$$;

CREATE FUNCTION record_calls(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer) RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT record_micros(for_tenant, of_provider, of_method, in_month, call_count, price * 10000::bigint)
$$;

CREATE FUNCTION record_micros(for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price bigint) RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO spending AS s (tenant_id, provider, method, month, calls, cents, micros)
        SELECT for_tenant, of_provider, of_method, in_month, call_count, ceil(price / 10000.0), price
        WHERE call_count <> 0 OR price <> 0
    ON CONFLICT (tenant_id, provider, method, month) DO UPDATE SET calls = s.calls + excluded.calls,
        micros = s.micros + excluded.micros, cents = ceil((s.micros + excluded.micros) / 10000.0)
$$;

CREATE FUNCTION redact_erased(for_tenant uuid, content text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    redacted text := content;
    tokens text[];
    digests text[];
    token text;
BEGIN
    IF content IS NULL OR NOT EXISTS (SELECT FROM suppression WHERE tenant_id = for_tenant AND origin = 'erasure') THEN
        RETURN content;
    END IF;
    WITH word AS (
        SELECT rtrim(m[1], '.') AS word FROM regexp_matches(content,
            '([^][[:space:]@<>"(),;:{}|/?=&\\]{1,64}@[^][[:space:]@<>"(),;:{}|/?=&\\'']{1,253})', 'g') m
        UNION SELECT m[1] FROM regexp_matches(content, '(\+[0-9][0-9 ()./-]{5,20}[0-9])', 'g') m
    ), candidate AS (
        SELECT word, lower(word) AS normal FROM word WHERE word LIKE '%@%'
        UNION SELECT regexp_replace(word, '^.*''', ''), lower(regexp_replace(word, '^.*''', ''))
            FROM word WHERE word LIKE '%@%'
        UNION SELECT word, '+' || regexp_replace(word, '[^0-9]', '', 'g') FROM word WHERE word NOT LIKE '%@%'
    )
    SELECT array_agg(word), array_agg(sha256_hex(normal)) INTO tokens, digests FROM candidate;
    FOR token IN
        SELECT t.token FROM unnest(tokens, digests) t(token, digest) WHERE t.digest IN (
            SELECT value_hash FROM suppression
            WHERE tenant_id = for_tenant AND origin = 'erasure' AND value_hash = ANY (digests))
    LOOP
        redacted := replace(redacted, '["' || token || '"]', '[]');
        redacted := replace(redacted, '["' || token || '", ', '[');
        redacted := replace(replace(redacted, ', "' || token || '",', ','), ', "' || token || '"]', ']');
        redacted := replace(redacted, ': "' || token || '"', ': null');
        redacted := replace(redacted, token, '[erased]');
    END LOOP;
    RETURN redacted;
END
$$;

CREATE FUNCTION redact_erased_columns() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    content text;
    redacted text;
BEGIN
    IF NOT EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id AND origin = 'erasure') THEN
        RETURN NEW;
    END IF;
    content := to_jsonb(NEW)::text;
    redacted := redact_erased(NEW.tenant_id, content);
    IF redacted <> content THEN
        NEW := jsonb_populate_record(NEW, redacted::jsonb);
        NEW.name := coalesce(NEW.name, '[erased]');
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION refund_call(call_id uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    call unanswered_call%ROWTYPE;
    of_campaign uuid;
BEGIN
    DELETE FROM unanswered_call WHERE id = call_id RETURNING * INTO call;
    IF call.id IS NULL THEN
        RETURN;
    END IF;
    SELECT campaign_id INTO of_campaign FROM search WHERE id = call.search_id;
    PERFORM FROM search WHERE id = of_campaign FOR NO KEY UPDATE;  -- the campaign is locked before its searches
    UPDATE search SET cost_micros = cost_micros - call.micros, spent_micros = greatest(spent_micros - call.micros, 0),
        details_micros = details_micros - CASE WHEN call.method = 'details' THEN call.micros ELSE 0 END
        WHERE id IN (call.search_id, of_campaign);
    PERFORM record_micros(call.tenant_id, call.provider, call.method, call.month, 0, -call.micros);
END
$$;

CREATE FUNCTION refund_details(for_tenant uuid, for_search uuid, of_provider text, price integer, in_month date) RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE search SET cost_cents = cost_cents - price, spent_cents = greatest(spent_cents - price, 0),
        details_cents = details_cents - price WHERE id = for_search AND tenant_id = for_tenant;
    SELECT record_calls(for_tenant, of_provider, 'details', in_month, 0, -price);
    UPDATE quota_usage SET used = used - price WHERE tenant_id = for_tenant AND kind = 'cents' AND day = in_month;
$$;

CREATE FUNCTION reserve_details(for_tenant uuid, for_search uuid, of_provider text, price integer, OUT refusal text, OUT month date, OUT used bigint, OUT allowed bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    quota integer;
    this_search search%ROWTYPE;
BEGIN
    month := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    SELECT cents_per_month INTO quota FROM tenant WHERE id = for_tenant;
    IF price > 0 AND quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || for_tenant, 0));
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE;
    END IF;
    IF price > 0 AND this_search.budget_cents IS NOT NULL THEN
        used := this_search.spent_cents;
        allowed := this_search.budget_cents;
        IF this_search.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF used + price > allowed THEN
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF price > 0 AND quota IS NOT NULL THEN
        used := spent_cents(for_tenant) + reserved_cents(for_tenant, this_search.id);
        allowed := quota;
        IF used + price > allowed THEN
            refusal := 'month';
            RETURN;
        END IF;
    END IF;
    IF this_search.id IS NOT NULL THEN
        UPDATE search SET cost_cents = cost_cents + price, spent_cents = spent_cents + price,
            call_count = call_count + 1, details_count = details_count + 1, details_cents = details_cents + price
            WHERE id = this_search.id;
    ELSE
        PERFORM record_calls(for_tenant, of_provider, 'details', month, 1, price);
        INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
            SELECT for_tenant, 'cents', month, price WHERE price > 0
            ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used;
    END IF;
END
$$;

CREATE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT coalesce(sum(greatest(budget_cents - spent_cents, 0)), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND (id IN (SELECT coalesce(campaign_id, id) FROM search
                WHERE tenant_id = for_tenant AND place_search_status IN ('Queued', 'Processing')))
$$;

CREATE FUNCTION run_as_engine(target regprocedure) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema());
    EXECUTE format('ALTER FUNCTION %s OWNER TO scrapersky_engine', target);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema());
END
$$;

CREATE FUNCTION search_apply_quota() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            memo text[] := string_to_array(current_setting('scrapersky.search_quota', true), ' ');
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer := memo[2]::integer;
            last_day date := memo[3]::date;
            used_count integer := memo[4]::integer;
        BEGIN
            IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                PERFORM write_quota_usage('searches', memo);
                SELECT CASE WHEN disabled_at IS NULL THEN searches_per_day ELSE 0 END INTO quota
                    FROM tenant WHERE id = NEW.tenant_id;
                IF quota IS NULL OR quota = 0 THEN
                    PERFORM set_config('scrapersky.search_quota', '', true);
                    IF quota = 0 THEN
                        NEW.place_search_due_at := (today + 3650)::timestamp AT TIME ZONE 'UTC';
                    END IF;
                    RETURN NEW;
                END IF;
                PERFORM pg_advisory_xact_lock(hashtextextended('searches of ' || NEW.tenant_id, 0));
                SELECT day, used INTO last_day, used_count FROM quota_usage
                    WHERE tenant_id = NEW.tenant_id AND kind = 'searches' AND day >= today ORDER BY day DESC LIMIT 1;
                last_day := coalesce(last_day, today);
                used_count := coalesce(used_count, 0);
            END IF;
            IF used_count >= quota THEN
                PERFORM write_quota_usage(
                    'searches', ARRAY[NEW.tenant_id::text, quota::text, last_day::text, used_count::text]);
                last_day := last_day + 1;
                used_count := 0;
            END IF;
            PERFORM set_config(
                'scrapersky.search_quota', concat_ws(' ', NEW.tenant_id, quota, last_day, used_count + 1), true);
            IF last_day > today THEN
                NEW.place_search_due_at := greatest(NEW.place_search_due_at, last_day::timestamp AT TIME ZONE 'UTC');
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION search_apply_quota() OWNER TO scrapersky_engine;

CREATE FUNCTION search_begin_run() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM begin_search_run(NEW.tenant_id, NEW.id,
        TG_OP = 'UPDATE' AND OLD.place_search_status = 'Completed' AND NOT OLD.stopped_by_budget);
    IF NEW.campaign_id IS NOT NULL THEN
        PERFORM begin_search_run(NEW.tenant_id, NEW.campaign_id, false);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION search_business_link_domains() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, domain_id, NEW.tenant_id FROM business_domain WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION search_limit_budget() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    quota integer;
    left_cents bigint;
BEGIN
    SELECT cents_per_month INTO quota FROM tenant WHERE id = NEW.tenant_id;
    IF quota IS NOT NULL AND NEW.campaign_id IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || NEW.tenant_id, 0));
        left_cents := quota - spent_cents(NEW.tenant_id) - reserved_cents(NEW.tenant_id, NEW.id);
        NEW.budget_cents := least(NEW.budget_cents, greatest(left_cents, 0));
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION search_limit_budget() OWNER TO scrapersky_engine;

CREATE FUNCTION search_place_link_businesses() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id, found_at, seen_at)
    SELECT NEW.search_id, id, NEW.tenant_id, NEW.found_at, NEW.seen_at FROM local_business
    WHERE tenant_id = NEW.tenant_id AND place_id = NEW.place_id
    ON CONFLICT (search_id, business_id) DO UPDATE SET seen_at = excluded.seen_at;
    RETURN NULL;
END
$$;

CREATE FUNCTION search_place_link_campaigns() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO search_place (search_id, place_id, tenant_id)
    SELECT campaign_id, NEW.place_id, NEW.tenant_id FROM campaign_search WHERE search_id = NEW.search_id
    ON CONFLICT (search_id, place_id) DO UPDATE SET seen_at = excluded.seen_at;
    RETURN NULL;
END
$$;

CREATE FUNCTION search_place_search_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.place_search_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION search_place_search_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'search.place_search' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION search_place_search_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION search_place_search_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.search_place_search', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.search_place_search_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.place_search_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.place_search_allowance := NEW.place_search_attempts;
                    NEW.place_search_error := NULL;
                    NEW.place_search_revert_to := NULL;
                    IF OLD.place_search_status = 'Processing' THEN
                        NEW.place_search_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.place_search_waits_for := NULL;
            NEW.place_search_flow := coalesce(NEW.id, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.place_search_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.place_search_flow AS flow FROM search t WHERE t.tenant_id = NEW.tenant_id
                                AND t.place_search_status = 'Queued' AND t.place_search_due_at IS NULL
                                ORDER BY t.place_search_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.place_search_flow FROM search t WHERE t.tenant_id = NEW.tenant_id
                                AND t.place_search_status = 'Queued' AND t.place_search_due_at IS NULL
                                AND t.place_search_flow > a.flow ORDER BY t.place_search_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.place_search_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.place_search_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT place_search_order + priority * 600000000::bigint INTO base FROM search
                            WHERE tenant_id = NEW.tenant_id AND place_search_flow = NEW.place_search_flow
                                AND place_search_status = 'Queued' AND place_search_due_at IS NULL
                            ORDER BY place_search_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT place_search_order + priority * 600000000::bigint AS place, priority FROM search
                            WHERE place_search_status = 'Queued' AND place_search_due_at IS NULL
                            ORDER BY place_search_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.search_place_search',
                    concat_ws(':', NEW.tenant_id, NEW.place_search_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.search_place_search_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.place_search_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.place_search_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM search_place_search_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('search_place_search_notified', at);
                    PERFORM pg_notify('scrapersky', 'search.place_search');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION search_place_search_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION search_place_search_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.place_search_order := NEW.place_search_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION search_quota_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            started integer;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('searches of ' || NEW.id, 0));
            SELECT greatest(coalesce(sum(used), 0) - (
                SELECT count(*) FROM search WHERE tenant_id = NEW.id AND place_search_status = 'Queued'
                    AND place_search_due_at IS NULL AND place_search_error IS NULL AND place_search_attempts = place_search_allowance), 0)
                INTO started
                FROM quota_usage WHERE tenant_id = NEW.id AND kind = 'searches' AND day = today;
            DELETE FROM quota_usage WHERE tenant_id = NEW.id AND kind = 'searches' AND day >= today;
            INSERT INTO quota_usage (tenant_id, kind, day, used)
                SELECT NEW.id, 'searches', today, started WHERE started > 0;
            DELETE FROM quota_reschedule WHERE tenant_id = NEW.id AND kind = 'searches';
            INSERT INTO quota_reschedule (tenant_id, kind, until_order)
                SELECT NEW.id, 'searches', max(place_search_order) FROM search
                WHERE tenant_id = NEW.id AND place_search_status = 'Queued' HAVING count(*) > 0;
            PERFORM search_reschedule(NEW.id, 20000);
            RETURN NULL;
        END
        $$;

ALTER FUNCTION search_quota_changed() OWNER TO scrapersky_engine;

CREATE FUNCTION search_record_calls() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    details integer := NEW.details_count - OLD.details_count;
    details_price bigint := NEW.details_micros - OLD.details_micros;
BEGIN
    PERFORM record_micros(NEW.tenant_id, NEW.provider, 'details', month, details, details_price);
    PERFORM record_micros(NEW.tenant_id, NEW.provider, 'search', month, NEW.call_count - OLD.call_count - details,
        NEW.cost_micros - OLD.cost_micros - details_price);
    RETURN NULL;
END
$$;

ALTER FUNCTION search_record_calls() OWNER TO scrapersky_engine;

CREATE FUNCTION search_reschedule(for_tenant uuid, max_rows integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer;
            last_day date;
            used_count integer;
            progress quota_reschedule%ROWTYPE;
            done record;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('searches of ' || for_tenant, 0));
            SELECT * INTO progress FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = 'searches';
            IF NOT FOUND THEN
                RETURN true;
            END IF;
            SELECT CASE WHEN disabled_at IS NULL THEN searches_per_day ELSE 0 END INTO quota FROM tenant WHERE id = for_tenant;
            SELECT day, used INTO last_day, used_count FROM quota_usage
                WHERE tenant_id = for_tenant AND kind = 'searches' AND day >= today ORDER BY day DESC LIMIT 1;
            WITH waiting AS (
                SELECT id, place_search_order AS row_order, row_number() OVER (ORDER BY place_search_order, id) AS number
                FROM search WHERE tenant_id = for_tenant AND place_search_status = 'Queued' AND place_search_error IS NULL
                    AND place_search_attempts = place_search_allowance AND place_search_order <= progress.until_order
                    AND (place_search_order, id) > (progress.after_order, progress.after_id)
                    AND (place_search_due_at IS NULL OR (place_search_due_at > now()
                        AND place_search_due_at = date_trunc('day', place_search_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
                ORDER BY place_search_order, id LIMIT max_rows
            ), scheduled AS (
                SELECT id, row_order, number, CASE WHEN quota IS NULL THEN today WHEN quota = 0 THEN today + 3650
                    ELSE coalesce(last_day, today)
                        + ((least(coalesce(used_count, 0), quota) + number - 1) / quota)::integer
                    END AS day FROM waiting
            ), moved AS (
                UPDATE search t
                SET place_search_due_at = CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
                FROM scheduled s WHERE t.id = s.id AND t.place_search_status = 'Queued' AND t.place_search_due_at
                    IS DISTINCT FROM CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
            ), counted AS (
                INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
                    SELECT for_tenant, 'searches', day, count(*) FROM scheduled
                    WHERE quota IS NULL OR quota > 0 GROUP BY day
                ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used
            )
            SELECT count(*) AS rows, max(row_order) AS last_order, (array_agg(id ORDER BY number DESC))[1] AS last_id
                INTO done FROM scheduled;
            IF done.rows > 0 THEN
                PERFORM pg_notify('scrapersky', 'search.place_search');
            END IF;
            IF done.rows < max_rows THEN
                DELETE FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = 'searches';
                RETURN true;
            END IF;
            UPDATE quota_reschedule SET after_order = done.last_order, after_id = done.last_id
                WHERE tenant_id = for_tenant AND kind = 'searches';
            RETURN false;
        END
        $$;

CREATE FUNCTION search_reset_spent() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.spent_cents := 0;
    NEW.spent_micros := 0;
    RETURN NEW;
END
$$;

CREATE FUNCTION search_round_money() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.cost_micros = OLD.cost_micros THEN
        NEW.cost_micros := OLD.cost_micros + (NEW.cost_cents - OLD.cost_cents) * 10000;
    ELSE
        NEW.cost_cents := ceil(NEW.cost_micros / 10000.0);
    END IF;
    IF NEW.spent_micros = OLD.spent_micros THEN
        NEW.spent_micros := OLD.spent_micros + (NEW.spent_cents - OLD.spent_cents) * 10000;
    ELSE
        NEW.spent_cents := ceil(NEW.spent_micros / 10000.0);
    END IF;
    IF NEW.details_micros = OLD.details_micros THEN
        NEW.details_micros := OLD.details_micros + (NEW.details_cents - OLD.details_cents) * 10000;
    ELSE
        NEW.details_cents := ceil(NEW.details_micros / 10000.0);
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION search_run_notify() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO delivery (tenant_id, destination_id, run_id, delivery_status)
    SELECT NEW.tenant_id, d.id, NEW.id, 'Queued' FROM destination d JOIN search s ON s.id = NEW.search_id
    WHERE d.tenant_id = NEW.tenant_id AND (d.id = ANY (NEW.notified)
        OR (d.rule @> '{"completions": true}' AND d.disabled_at IS NULL AND s.campaign_id IS NULL))
    ORDER BY d.id ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION search_write_quota_usage() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            PERFORM write_quota_usage(
                'searches', string_to_array(current_setting('scrapersky.search_quota', true), ' '));
            PERFORM set_config('scrapersky.search_quota', '', true);
            RETURN NULL;
        END
        $$;

ALTER FUNCTION search_write_quota_usage() OWNER TO scrapersky_engine;

CREATE FUNCTION sha256_hex(value text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT encode(sha256(convert_to(value, 'UTF8')), 'hex')
$$;

CREATE FUNCTION site_hashes(url text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT array_agg(sha256_hex(array_to_string(labels[n:], '.')))
    FROM string_to_array(rtrim(lower(substring(
        url FROM '^\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?(?://)?(?:[^/?#@]*@)?([^/?#:@]+)')), '.'), '.') labels,
        generate_series(1, cardinality(labels)) n
$$;

CREATE FUNCTION sitemap_file_sitemap_import_clear_due_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.sitemap_import_due_at := NULL;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION sitemap_file_sitemap_import_drop_dead_letter() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        BEGIN
            DELETE FROM dead_letter WHERE queue = 'sitemap_file.sitemap_import' AND row_id = OLD.id;
            RETURN NULL;
        END
        $$;

ALTER FUNCTION sitemap_file_sitemap_import_drop_dead_letter() OWNER TO scrapersky_engine;

CREATE FUNCTION sitemap_file_sitemap_import_enqueue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.sitemap_file_sitemap_import', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.sitemap_file_sitemap_import_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.sitemap_import_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.sitemap_import_allowance := NEW.sitemap_import_attempts;
                    NEW.sitemap_import_error := NULL;
                    NEW.sitemap_import_revert_to := NULL;
                    IF OLD.sitemap_import_status = 'Processing' THEN
                        NEW.sitemap_import_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.sitemap_import_waits_for := NULL;
            NEW.sitemap_import_flow := coalesce((SELECT search_id FROM domain WHERE id = NEW.domain_id), '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.sitemap_import_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.sitemap_import_flow AS flow FROM sitemap_file t WHERE t.tenant_id = NEW.tenant_id
                                AND t.sitemap_import_status = 'Queued' AND t.sitemap_import_due_at IS NULL
                                ORDER BY t.sitemap_import_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.sitemap_import_flow FROM sitemap_file t WHERE t.tenant_id = NEW.tenant_id
                                AND t.sitemap_import_status = 'Queued' AND t.sitemap_import_due_at IS NULL
                                AND t.sitemap_import_flow > a.flow ORDER BY t.sitemap_import_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.sitemap_import_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.sitemap_import_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT sitemap_import_order + priority * 600000000::bigint INTO base FROM sitemap_file
                            WHERE tenant_id = NEW.tenant_id AND sitemap_import_flow = NEW.sitemap_import_flow
                                AND sitemap_import_status = 'Queued' AND sitemap_import_due_at IS NULL
                            ORDER BY sitemap_import_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT sitemap_import_order + priority * 600000000::bigint AS place, priority FROM sitemap_file
                            WHERE sitemap_import_status = 'Queued' AND sitemap_import_due_at IS NULL
                            ORDER BY sitemap_import_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.sitemap_file_sitemap_import',
                    concat_ws(':', NEW.tenant_id, NEW.sitemap_import_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.sitemap_file_sitemap_import_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
                NEW.sitemap_import_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.sitemap_import_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM sitemap_file_sitemap_import_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('sitemap_file_sitemap_import_notified', at);
                    PERFORM pg_notify('scrapersky', 'sitemap_file.sitemap_import');
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;

ALTER FUNCTION sitemap_file_sitemap_import_enqueue() OWNER TO scrapersky_engine;

CREATE FUNCTION sitemap_file_sitemap_import_reprioritize() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            NEW.sitemap_import_order := NEW.sitemap_import_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $$;

CREATE FUNCTION skip_erased_page() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN CASE WHEN redact_erased(NEW.tenant_id, NEW.url) = NEW.url THEN NEW END;
END
$$;

CREATE FUNCTION spent_cents(for_tenant uuid) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT coalesce(ceil(sum(micros) / 10000.0), 0)::bigint FROM spending WHERE tenant_id = for_tenant
        AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
$$;

CREATE FUNCTION suppression_apply() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    change record;
    host text;
    sites uuid[];
    matches uuid[] := '{}';
BEGIN
    -- Arrays and ranges of plain columns: such comparisons use an index whatever the planner knows of `changed`, and
    -- row level security lets no others use one.
    FOR change IN
        SELECT tenant_id, array_agg(value) FILTER (WHERE kind = 'email') AS emails,
            array_agg(value) FILTER (WHERE kind = 'phone') AS phones,
            coalesce(array_agg(value) FILTER (WHERE kind = 'domain'), '{}') AS domains
        FROM changed WHERE value IS NOT NULL GROUP BY tenant_id
    LOOP
        matches := matches
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND email = ANY (change.emails))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND phone = ANY (change.phones))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND fax = ANY (change.phones));
        FOREACH host IN ARRAY change.domains LOOP
            matches := matches || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id
                AND email_host >= reverse(host) || '.' AND email_host < reverse(host) || '/');
        END LOOP;
        sites := ARRAY(SELECT id FROM domain WHERE tenant_id = change.tenant_id AND name = ANY (change.domains));
        matches := matches || ARRAY(SELECT id FROM contact
            WHERE tenant_id = change.tenant_id AND domain_id = ANY (sites));
    END LOOP;
    IF matches = '{}' THEN
        RETURN NULL;
    END IF;
    UPDATE contact SET suppressed_at = CASE WHEN TG_OP = 'INSERT' THEN now() ELSE suppressed_at END, updated_at = now()
        WHERE id = ANY (matches) AND (suppressed_at IS NULL) = (TG_OP = 'INSERT');
    IF TG_OP = 'INSERT' THEN
        UPDATE contact SET contact_verification_status = 'New'
            WHERE id = ANY (matches) AND contact_verification_status = 'Queued';
        UPDATE delivery SET delivery_status = 'New', updated_at = now()
            WHERE contact_id = ANY (matches) AND delivery_status = 'Queued';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION suppression_lock() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    for_tenant uuid := CASE WHEN TG_OP = 'INSERT' THEN NEW.tenant_id ELSE OLD.tenant_id END;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('suppression ' || for_tenant, 0));
    RETURN CASE WHEN TG_OP = 'INSERT' THEN NEW ELSE OLD END;
END
$$;

CREATE FUNCTION without_home_page_words(title text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT nullif(regexp_replace(btrim(regexp_replace(regexp_replace(title,
        '^(' || home_page_words() || ')\s*[-–—|·•»›>~/:]+\s*', '', 'i'),
        '\s*[-–—|·•»›>~/:]+\s*(' || home_page_words() || ')$', '', 'i')),
        '^(' || home_page_words() || ')$', '', 'i'), '')
$_$;

CREATE FUNCTION without_tracking(url text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT regexp_replace(regexp_replace(url,
        '([?&])(((utm_[a-z_]+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid|_ga|y_source|'
        'gad_source|srsltid|hsa_[a-z]+|matomo_[a-z]+|pk_campaign|pk_source|pk_medium)=[^&#]*)(&|(?=#)|$))+',
        '\1', 'gi'), '[?&](?=#|$)', '')
$_$;

CREATE FUNCTION write_quota_usage(quota_kind text, memo text[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO quota_usage (tenant_id, kind, day, used)
        SELECT memo[1]::uuid, quota_kind, memo[3]::date, memo[4]::integer WHERE memo[1] <> ''
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = excluded.used
$$;

CREATE TRIGGER business_domain_link_searches AFTER INSERT ON business_domain FOR EACH ROW EXECUTE FUNCTION business_domain_link_searches();

CREATE TRIGGER campaign_search_link_places AFTER INSERT ON campaign_search FOR EACH ROW EXECUTE FUNCTION campaign_search_link_places();

CREATE TRIGGER contact_contact_verification_clear_due_at BEFORE UPDATE OF contact_verification_status ON contact FOR EACH ROW WHEN (((new.contact_verification_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.contact_verification_due_at IS NOT NULL))) EXECUTE FUNCTION contact_contact_verification_clear_due_at();

CREATE TRIGGER contact_contact_verification_drop_dead_letter AFTER UPDATE OF contact_verification_status ON contact FOR EACH ROW WHEN (((old.contact_verification_status = 'Error'::text) AND (new.contact_verification_status <> 'Error'::text))) EXECUTE FUNCTION contact_contact_verification_drop_dead_letter();

CREATE TRIGGER contact_contact_verification_drop_dead_letter_delete AFTER DELETE ON contact FOR EACH ROW WHEN ((old.contact_verification_status = 'Error'::text)) EXECUTE FUNCTION contact_contact_verification_drop_dead_letter();

CREATE TRIGGER contact_contact_verification_enqueue_insert BEFORE INSERT ON contact FOR EACH ROW WHEN ((new.contact_verification_status = 'Queued'::text)) EXECUTE FUNCTION contact_contact_verification_enqueue();

CREATE TRIGGER contact_contact_verification_enqueue_update BEFORE UPDATE OF contact_verification_status ON contact FOR EACH ROW WHEN (((new.contact_verification_status = 'Queued'::text) AND (old.contact_verification_status <> 'Queued'::text) AND (NOT ((old.contact_verification_status = 'Processing'::text) AND (new.contact_verification_due_at IS DISTINCT FROM old.contact_verification_due_at))))) EXECUTE FUNCTION contact_contact_verification_enqueue();

CREATE TRIGGER contact_contact_verification_reprioritize BEFORE UPDATE OF priority ON contact FOR EACH ROW WHEN (((new.contact_verification_status = 'Queued'::text) AND (old.contact_verification_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION contact_contact_verification_reprioritize();

CREATE TRIGGER contact_contact_verification_wait_over BEFORE UPDATE OF contact_verification_due_at ON contact FOR EACH ROW WHEN (((new.contact_verification_status = 'Queued'::text) AND (old.contact_verification_status = 'Queued'::text) AND (new.contact_verification_due_at IS NULL) AND (old.contact_verification_due_at <= now()))) EXECUTE FUNCTION contact_contact_verification_enqueue();

CREATE TRIGGER contact_note_changes BEFORE UPDATE OF name, title, email, phone, verdict ON contact FOR EACH ROW WHEN ((((((old.name IS DISTINCT FROM new.name) OR (old.title IS DISTINCT FROM new.title)) OR (old.email IS DISTINCT FROM new.email)) OR (old.phone IS DISTINCT FROM new.phone)) OR (old.verdict IS DISTINCT FROM new.verdict))) EXECUTE FUNCTION note_field_changes('name', 'title', 'email', 'phone', 'verdict');

CREATE TRIGGER contact_suppression BEFORE INSERT OR UPDATE OF name, email, phone, fax, snippet, suppressed_at, domain_id ON contact FOR EACH ROW EXECUTE FUNCTION contact_check_suppression();

CREATE TRIGGER delivery_delivery_clear_due_at BEFORE UPDATE OF delivery_status ON delivery FOR EACH ROW WHEN (((new.delivery_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.delivery_due_at IS NOT NULL))) EXECUTE FUNCTION delivery_delivery_clear_due_at();

CREATE TRIGGER delivery_delivery_drop_dead_letter AFTER UPDATE OF delivery_status ON delivery FOR EACH ROW WHEN (((old.delivery_status = 'Error'::text) AND (new.delivery_status <> 'Error'::text))) EXECUTE FUNCTION delivery_delivery_drop_dead_letter();

CREATE TRIGGER delivery_delivery_drop_dead_letter_delete AFTER DELETE ON delivery FOR EACH ROW WHEN ((old.delivery_status = 'Error'::text)) EXECUTE FUNCTION delivery_delivery_drop_dead_letter();

CREATE TRIGGER delivery_delivery_enqueue_insert BEFORE INSERT ON delivery FOR EACH ROW WHEN ((new.delivery_status = 'Queued'::text)) EXECUTE FUNCTION delivery_delivery_enqueue();

CREATE TRIGGER delivery_delivery_enqueue_update BEFORE UPDATE OF delivery_status ON delivery FOR EACH ROW WHEN (((new.delivery_status = 'Queued'::text) AND (old.delivery_status <> 'Queued'::text) AND (NOT ((old.delivery_status = 'Processing'::text) AND (new.delivery_due_at IS DISTINCT FROM old.delivery_due_at))))) EXECUTE FUNCTION delivery_delivery_enqueue();

CREATE TRIGGER delivery_delivery_reprioritize BEFORE UPDATE OF priority ON delivery FOR EACH ROW WHEN (((new.delivery_status = 'Queued'::text) AND (old.delivery_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION delivery_delivery_reprioritize();

CREATE TRIGGER delivery_delivery_wait_over BEFORE UPDATE OF delivery_due_at ON delivery FOR EACH ROW WHEN (((new.delivery_status = 'Queued'::text) AND (old.delivery_status = 'Queued'::text) AND (new.delivery_due_at IS NULL) AND (old.delivery_due_at <= now()))) EXECUTE FUNCTION delivery_delivery_enqueue();

CREATE TRIGGER domain_domain_metadata_clear_due_at BEFORE UPDATE OF domain_metadata_status ON domain FOR EACH ROW WHEN (((new.domain_metadata_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.domain_metadata_due_at IS NOT NULL))) EXECUTE FUNCTION domain_domain_metadata_clear_due_at();

CREATE TRIGGER domain_domain_metadata_drop_dead_letter AFTER UPDATE OF domain_metadata_status ON domain FOR EACH ROW WHEN (((old.domain_metadata_status = 'Error'::text) AND (new.domain_metadata_status <> 'Error'::text))) EXECUTE FUNCTION domain_domain_metadata_drop_dead_letter();

CREATE TRIGGER domain_domain_metadata_drop_dead_letter_delete AFTER DELETE ON domain FOR EACH ROW WHEN ((old.domain_metadata_status = 'Error'::text)) EXECUTE FUNCTION domain_domain_metadata_drop_dead_letter();

CREATE TRIGGER domain_domain_metadata_enqueue_insert BEFORE INSERT ON domain FOR EACH ROW WHEN ((new.domain_metadata_status = 'Queued'::text)) EXECUTE FUNCTION domain_domain_metadata_enqueue();

CREATE TRIGGER domain_domain_metadata_enqueue_update BEFORE UPDATE OF domain_metadata_status ON domain FOR EACH ROW WHEN (((new.domain_metadata_status = 'Queued'::text) AND (old.domain_metadata_status <> 'Queued'::text) AND (NOT ((old.domain_metadata_status = 'Processing'::text) AND (new.domain_metadata_due_at IS DISTINCT FROM old.domain_metadata_due_at))))) EXECUTE FUNCTION domain_domain_metadata_enqueue();

CREATE TRIGGER domain_domain_metadata_reprioritize BEFORE UPDATE OF priority ON domain FOR EACH ROW WHEN (((new.domain_metadata_status = 'Queued'::text) AND (old.domain_metadata_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION domain_domain_metadata_reprioritize();

CREATE TRIGGER domain_domain_metadata_wait_over BEFORE UPDATE OF domain_metadata_due_at ON domain FOR EACH ROW WHEN (((new.domain_metadata_status = 'Queued'::text) AND (old.domain_metadata_status = 'Queued'::text) AND (new.domain_metadata_due_at IS NULL) AND (old.domain_metadata_due_at <= now()))) EXECUTE FUNCTION domain_domain_metadata_enqueue();

CREATE TRIGGER domain_link_search AFTER INSERT OR UPDATE OF search_id ON domain FOR EACH ROW EXECUTE FUNCTION domain_link_search();

CREATE TRIGGER domain_redact_erased BEFORE INSERT OR UPDATE OF title, description, facts ON domain FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();

CREATE TRIGGER domain_sitemap_analysis_clear_due_at BEFORE UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW WHEN (((new.sitemap_analysis_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.sitemap_analysis_due_at IS NOT NULL))) EXECUTE FUNCTION domain_sitemap_analysis_clear_due_at();

CREATE TRIGGER domain_sitemap_analysis_drop_dead_letter AFTER UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW WHEN (((old.sitemap_analysis_status = 'Error'::text) AND (new.sitemap_analysis_status <> 'Error'::text))) EXECUTE FUNCTION domain_sitemap_analysis_drop_dead_letter();

CREATE TRIGGER domain_sitemap_analysis_drop_dead_letter_delete AFTER DELETE ON domain FOR EACH ROW WHEN ((old.sitemap_analysis_status = 'Error'::text)) EXECUTE FUNCTION domain_sitemap_analysis_drop_dead_letter();

CREATE TRIGGER domain_sitemap_analysis_enqueue_insert BEFORE INSERT ON domain FOR EACH ROW WHEN ((new.sitemap_analysis_status = 'Queued'::text)) EXECUTE FUNCTION domain_sitemap_analysis_enqueue();

CREATE TRIGGER domain_sitemap_analysis_enqueue_update BEFORE UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW WHEN (((new.sitemap_analysis_status = 'Queued'::text) AND (old.sitemap_analysis_status <> 'Queued'::text) AND (NOT ((old.sitemap_analysis_status = 'Processing'::text) AND (new.sitemap_analysis_due_at IS DISTINCT FROM old.sitemap_analysis_due_at))))) EXECUTE FUNCTION domain_sitemap_analysis_enqueue();

CREATE TRIGGER domain_sitemap_analysis_reprioritize BEFORE UPDATE OF priority ON domain FOR EACH ROW WHEN (((new.sitemap_analysis_status = 'Queued'::text) AND (old.sitemap_analysis_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION domain_sitemap_analysis_reprioritize();

CREATE TRIGGER domain_sitemap_analysis_wait_over BEFORE UPDATE OF sitemap_analysis_due_at ON domain FOR EACH ROW WHEN (((new.sitemap_analysis_status = 'Queued'::text) AND (old.sitemap_analysis_status = 'Queued'::text) AND (new.sitemap_analysis_due_at IS NULL) AND (old.sitemap_analysis_due_at <= now()))) EXECUTE FUNCTION domain_sitemap_analysis_enqueue();

CREATE TRIGGER domain_update_scan_job AFTER UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW WHEN ((old.sitemap_analysis_status <> new.sitemap_analysis_status)) EXECUTE FUNCTION domain_update_scan_job();

CREATE TRIGGER local_business_compare_again BEFORE UPDATE OF name, phone, website, latitude, longitude, street, postcode ON local_business FOR EACH ROW WHEN ((((((((old.name IS DISTINCT FROM new.name) OR (old.phone IS DISTINCT FROM new.phone)) OR (old.website IS DISTINCT FROM new.website)) OR (old.latitude IS DISTINCT FROM new.latitude)) OR (old.longitude IS DISTINCT FROM new.longitude)) OR (old.street IS DISTINCT FROM new.street)) OR (old.postcode IS DISTINCT FROM new.postcode))) EXECUTE FUNCTION local_business_compare_again();

CREATE TRIGGER local_business_domain_extraction_clear_due_at BEFORE UPDATE OF domain_extraction_status ON local_business FOR EACH ROW WHEN (((new.domain_extraction_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.domain_extraction_due_at IS NOT NULL))) EXECUTE FUNCTION local_business_domain_extraction_clear_due_at();

CREATE TRIGGER local_business_domain_extraction_drop_dead_letter AFTER UPDATE OF domain_extraction_status ON local_business FOR EACH ROW WHEN (((old.domain_extraction_status = 'Error'::text) AND (new.domain_extraction_status <> 'Error'::text))) EXECUTE FUNCTION local_business_domain_extraction_drop_dead_letter();

CREATE TRIGGER local_business_domain_extraction_drop_dead_letter_delete AFTER DELETE ON local_business FOR EACH ROW WHEN ((old.domain_extraction_status = 'Error'::text)) EXECUTE FUNCTION local_business_domain_extraction_drop_dead_letter();

CREATE TRIGGER local_business_domain_extraction_enqueue_insert BEFORE INSERT ON local_business FOR EACH ROW WHEN ((new.domain_extraction_status = 'Queued'::text)) EXECUTE FUNCTION local_business_domain_extraction_enqueue();

CREATE TRIGGER local_business_domain_extraction_enqueue_update BEFORE UPDATE OF domain_extraction_status ON local_business FOR EACH ROW WHEN (((new.domain_extraction_status = 'Queued'::text) AND (old.domain_extraction_status <> 'Queued'::text) AND (NOT ((old.domain_extraction_status = 'Processing'::text) AND (new.domain_extraction_due_at IS DISTINCT FROM old.domain_extraction_due_at))))) EXECUTE FUNCTION local_business_domain_extraction_enqueue();

CREATE TRIGGER local_business_domain_extraction_reprioritize BEFORE UPDATE OF priority ON local_business FOR EACH ROW WHEN (((new.domain_extraction_status = 'Queued'::text) AND (old.domain_extraction_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION local_business_domain_extraction_reprioritize();

CREATE TRIGGER local_business_domain_extraction_wait_over BEFORE UPDATE OF domain_extraction_due_at ON local_business FOR EACH ROW WHEN (((new.domain_extraction_status = 'Queued'::text) AND (old.domain_extraction_status = 'Queued'::text) AND (new.domain_extraction_due_at IS NULL) AND (old.domain_extraction_due_at <= now()))) EXECUTE FUNCTION local_business_domain_extraction_enqueue();

CREATE TRIGGER local_business_link_searches AFTER INSERT OR UPDATE OF search_id, place_id ON local_business FOR EACH ROW EXECUTE FUNCTION local_business_link_searches();

CREATE TRIGGER local_business_note_changes BEFORE UPDATE OF name, address, phone, website, business_status, hours ON local_business FOR EACH ROW WHEN ((((((((old.name IS DISTINCT FROM new.name) OR (old.address IS DISTINCT FROM new.address)) OR (old.phone IS DISTINCT FROM new.phone)) OR (old.website IS DISTINCT FROM new.website)) OR (old.business_status IS DISTINCT FROM new.business_status)) OR (old.hours IS DISTINCT FROM new.hours)) AND (NOT (old.expired_at IS DISTINCT FROM new.expired_at)))) EXECUTE FUNCTION note_field_changes('name', 'address', 'phone', 'website', 'business_status', 'hours');

CREATE TRIGGER local_business_redact_erased BEFORE INSERT OR UPDATE OF name, address, phone, website, profiles, details ON local_business FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();

CREATE TRIGGER local_business_site_search_clear_due_at BEFORE UPDATE OF site_search_status ON local_business FOR EACH ROW WHEN (((new.site_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.site_search_due_at IS NOT NULL))) EXECUTE FUNCTION local_business_site_search_clear_due_at();

CREATE TRIGGER local_business_site_search_drop_dead_letter AFTER UPDATE OF site_search_status ON local_business FOR EACH ROW WHEN (((old.site_search_status = 'Error'::text) AND (new.site_search_status <> 'Error'::text))) EXECUTE FUNCTION local_business_site_search_drop_dead_letter();

CREATE TRIGGER local_business_site_search_drop_dead_letter_delete AFTER DELETE ON local_business FOR EACH ROW WHEN ((old.site_search_status = 'Error'::text)) EXECUTE FUNCTION local_business_site_search_drop_dead_letter();

CREATE TRIGGER local_business_site_search_enqueue_insert BEFORE INSERT ON local_business FOR EACH ROW WHEN ((new.site_search_status = 'Queued'::text)) EXECUTE FUNCTION local_business_site_search_enqueue();

CREATE TRIGGER local_business_site_search_enqueue_update BEFORE UPDATE OF site_search_status ON local_business FOR EACH ROW WHEN (((new.site_search_status = 'Queued'::text) AND (old.site_search_status <> 'Queued'::text) AND (NOT ((old.site_search_status = 'Processing'::text) AND (new.site_search_due_at IS DISTINCT FROM old.site_search_due_at))))) EXECUTE FUNCTION local_business_site_search_enqueue();

CREATE TRIGGER local_business_site_search_reprioritize BEFORE UPDATE OF priority ON local_business FOR EACH ROW WHEN (((new.site_search_status = 'Queued'::text) AND (old.site_search_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION local_business_site_search_reprioritize();

CREATE TRIGGER local_business_site_search_wait_over BEFORE UPDATE OF site_search_due_at ON local_business FOR EACH ROW WHEN (((new.site_search_status = 'Queued'::text) AND (old.site_search_status = 'Queued'::text) AND (new.site_search_due_at IS NULL) AND (old.site_search_due_at <= now()))) EXECUTE FUNCTION local_business_site_search_enqueue();

CREATE TRIGGER page_before_queue_quota_insert BEFORE INSERT ON page FOR EACH ROW WHEN ((new.page_processing_status = 'Queued'::text)) EXECUTE FUNCTION page_apply_quota();

CREATE TRIGGER page_before_queue_quota_update BEFORE UPDATE OF page_processing_status ON page FOR EACH ROW WHEN (((new.page_processing_status = 'Queued'::text) AND (old.page_processing_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])))) EXECUTE FUNCTION page_apply_quota();

CREATE TRIGGER page_drop_erased BEFORE INSERT ON page FOR EACH ROW WHEN ((new.url ~~ '%@%'::text)) EXECUTE FUNCTION skip_erased_page();

CREATE TRIGGER page_page_processing_clear_due_at BEFORE UPDATE OF page_processing_status ON page FOR EACH ROW WHEN (((new.page_processing_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.page_processing_due_at IS NOT NULL))) EXECUTE FUNCTION page_page_processing_clear_due_at();

CREATE TRIGGER page_page_processing_drop_dead_letter AFTER UPDATE OF page_processing_status ON page FOR EACH ROW WHEN (((old.page_processing_status = 'Error'::text) AND (new.page_processing_status <> 'Error'::text))) EXECUTE FUNCTION page_page_processing_drop_dead_letter();

CREATE TRIGGER page_page_processing_drop_dead_letter_delete AFTER DELETE ON page FOR EACH ROW WHEN ((old.page_processing_status = 'Error'::text)) EXECUTE FUNCTION page_page_processing_drop_dead_letter();

CREATE TRIGGER page_page_processing_enqueue_insert BEFORE INSERT ON page FOR EACH ROW WHEN ((new.page_processing_status = 'Queued'::text)) EXECUTE FUNCTION page_page_processing_enqueue();

CREATE TRIGGER page_page_processing_enqueue_update BEFORE UPDATE OF page_processing_status ON page FOR EACH ROW WHEN (((new.page_processing_status = 'Queued'::text) AND (old.page_processing_status <> 'Queued'::text) AND (NOT ((old.page_processing_status = 'Processing'::text) AND (new.page_processing_due_at IS DISTINCT FROM old.page_processing_due_at))))) EXECUTE FUNCTION page_page_processing_enqueue();

CREATE TRIGGER page_page_processing_reprioritize BEFORE UPDATE OF priority ON page FOR EACH ROW WHEN (((new.page_processing_status = 'Queued'::text) AND (old.page_processing_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION page_page_processing_reprioritize();

CREATE TRIGGER page_page_processing_wait_over BEFORE UPDATE OF page_processing_due_at ON page FOR EACH ROW WHEN (((new.page_processing_status = 'Queued'::text) AND (old.page_processing_status = 'Queued'::text) AND (new.page_processing_due_at IS NULL) AND (old.page_processing_due_at <= now()))) EXECUTE FUNCTION page_page_processing_enqueue();

CREATE TRIGGER page_write_quota_usage AFTER INSERT OR UPDATE ON page FOR EACH STATEMENT WHEN ((current_setting('scrapersky.page_quota'::text, true) <> ''::text)) EXECUTE FUNCTION page_write_quota_usage();

CREATE TRIGGER place_deep_scan_clear_due_at BEFORE UPDATE OF deep_scan_status ON place FOR EACH ROW WHEN (((new.deep_scan_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.deep_scan_due_at IS NOT NULL))) EXECUTE FUNCTION place_deep_scan_clear_due_at();

CREATE TRIGGER place_deep_scan_drop_dead_letter AFTER UPDATE OF deep_scan_status ON place FOR EACH ROW WHEN (((old.deep_scan_status = 'Error'::text) AND (new.deep_scan_status <> 'Error'::text))) EXECUTE FUNCTION place_deep_scan_drop_dead_letter();

CREATE TRIGGER place_deep_scan_drop_dead_letter_delete AFTER DELETE ON place FOR EACH ROW WHEN ((old.deep_scan_status = 'Error'::text)) EXECUTE FUNCTION place_deep_scan_drop_dead_letter();

CREATE TRIGGER place_deep_scan_enqueue_insert BEFORE INSERT ON place FOR EACH ROW WHEN ((new.deep_scan_status = 'Queued'::text)) EXECUTE FUNCTION place_deep_scan_enqueue();

CREATE TRIGGER place_deep_scan_enqueue_update BEFORE UPDATE OF deep_scan_status ON place FOR EACH ROW WHEN (((new.deep_scan_status = 'Queued'::text) AND (old.deep_scan_status <> 'Queued'::text) AND (NOT ((old.deep_scan_status = 'Processing'::text) AND (new.deep_scan_due_at IS DISTINCT FROM old.deep_scan_due_at))))) EXECUTE FUNCTION place_deep_scan_enqueue();

CREATE TRIGGER place_deep_scan_reprioritize BEFORE UPDATE OF priority ON place FOR EACH ROW WHEN (((new.deep_scan_status = 'Queued'::text) AND (old.deep_scan_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION place_deep_scan_reprioritize();

CREATE TRIGGER place_deep_scan_wait_over BEFORE UPDATE OF deep_scan_due_at ON place FOR EACH ROW WHEN (((new.deep_scan_status = 'Queued'::text) AND (old.deep_scan_status = 'Queued'::text) AND (new.deep_scan_due_at IS NULL) AND (old.deep_scan_due_at <= now()))) EXECUTE FUNCTION place_deep_scan_enqueue();

CREATE TRIGGER place_redact_erased BEFORE INSERT OR UPDATE OF name, address, phone, website, details ON place FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();

CREATE TRIGGER search_before_queue_budget_insert BEFORE INSERT ON search FOR EACH ROW WHEN ((new.place_search_status = 'Queued'::text)) EXECUTE FUNCTION search_limit_budget();

CREATE TRIGGER search_before_queue_budget_update BEFORE UPDATE OF place_search_status, budget_cents ON search FOR EACH ROW WHEN (((new.place_search_status = ANY (ARRAY['Queued'::text, 'Processing'::text])) AND ((old.place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) OR (new.budget_cents IS DISTINCT FROM old.budget_cents)))) EXECUTE FUNCTION search_limit_budget();

CREATE TRIGGER search_before_queue_quota_insert BEFORE INSERT ON search FOR EACH ROW WHEN ((new.place_search_status = 'Queued'::text)) EXECUTE FUNCTION search_apply_quota();

CREATE TRIGGER search_before_queue_quota_update BEFORE UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])))) EXECUTE FUNCTION search_apply_quota();

CREATE TRIGGER search_before_queue_reset_spent BEFORE UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])))) EXECUTE FUNCTION search_reset_spent();

CREATE TRIGGER search_begin_first_run AFTER INSERT ON search FOR EACH ROW WHEN ((new.place_search_status = 'Queued'::text)) EXECUTE FUNCTION search_begin_run();

CREATE TRIGGER search_begin_run AFTER UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])))) EXECUTE FUNCTION search_begin_run();

CREATE TRIGGER search_business_link_domains AFTER INSERT ON search_business FOR EACH ROW EXECUTE FUNCTION search_business_link_domains();

CREATE TRIGGER search_place_link_businesses AFTER INSERT OR UPDATE OF seen_at ON search_place FOR EACH ROW EXECUTE FUNCTION search_place_link_businesses();

CREATE TRIGGER search_place_link_campaigns AFTER INSERT OR UPDATE OF seen_at ON search_place FOR EACH ROW EXECUTE FUNCTION search_place_link_campaigns();

CREATE TRIGGER search_place_search_clear_due_at BEFORE UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((new.place_search_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.place_search_due_at IS NOT NULL))) EXECUTE FUNCTION search_place_search_clear_due_at();

CREATE TRIGGER search_place_search_drop_dead_letter AFTER UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((old.place_search_status = 'Error'::text) AND (new.place_search_status <> 'Error'::text))) EXECUTE FUNCTION search_place_search_drop_dead_letter();

CREATE TRIGGER search_place_search_drop_dead_letter_delete AFTER DELETE ON search FOR EACH ROW WHEN ((old.place_search_status = 'Error'::text)) EXECUTE FUNCTION search_place_search_drop_dead_letter();

CREATE TRIGGER search_place_search_enqueue_insert BEFORE INSERT ON search FOR EACH ROW WHEN ((new.place_search_status = 'Queued'::text)) EXECUTE FUNCTION search_place_search_enqueue();

CREATE TRIGGER search_place_search_enqueue_update BEFORE UPDATE OF place_search_status ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status <> 'Queued'::text) AND (NOT ((old.place_search_status = 'Processing'::text) AND (new.place_search_due_at IS DISTINCT FROM old.place_search_due_at))))) EXECUTE FUNCTION search_place_search_enqueue();

CREATE TRIGGER search_place_search_reprioritize BEFORE UPDATE OF priority ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION search_place_search_reprioritize();

CREATE TRIGGER search_place_search_wait_over BEFORE UPDATE OF place_search_due_at ON search FOR EACH ROW WHEN (((new.place_search_status = 'Queued'::text) AND (old.place_search_status = 'Queued'::text) AND (new.place_search_due_at IS NULL) AND (old.place_search_due_at <= now()))) EXECUTE FUNCTION search_place_search_enqueue();

CREATE TRIGGER search_record_calls AFTER UPDATE OF call_count ON search FOR EACH ROW WHEN (((new.call_count > old.call_count) AND (new.provider <> 'campaign'::text))) EXECUTE FUNCTION search_record_calls();

CREATE TRIGGER search_round_money BEFORE UPDATE OF cost_cents, spent_cents, details_cents, cost_micros, spent_micros, details_micros ON search FOR EACH ROW EXECUTE FUNCTION search_round_money();

CREATE TRIGGER search_run_notify AFTER UPDATE OF ended_at ON search_run FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION search_run_notify();

CREATE TRIGGER search_write_quota_usage AFTER INSERT OR UPDATE ON search FOR EACH STATEMENT WHEN ((current_setting('scrapersky.search_quota'::text, true) <> ''::text)) EXECUTE FUNCTION search_write_quota_usage();

CREATE TRIGGER sitemap_file_sitemap_import_clear_due_at BEFORE UPDATE OF sitemap_import_status ON sitemap_file FOR EACH ROW WHEN (((new.sitemap_import_status <> ALL (ARRAY['Queued'::text, 'Processing'::text])) AND (new.sitemap_import_due_at IS NOT NULL))) EXECUTE FUNCTION sitemap_file_sitemap_import_clear_due_at();

CREATE TRIGGER sitemap_file_sitemap_import_drop_dead_letter AFTER UPDATE OF sitemap_import_status ON sitemap_file FOR EACH ROW WHEN (((old.sitemap_import_status = 'Error'::text) AND (new.sitemap_import_status <> 'Error'::text))) EXECUTE FUNCTION sitemap_file_sitemap_import_drop_dead_letter();

CREATE TRIGGER sitemap_file_sitemap_import_drop_dead_letter_delete AFTER DELETE ON sitemap_file FOR EACH ROW WHEN ((old.sitemap_import_status = 'Error'::text)) EXECUTE FUNCTION sitemap_file_sitemap_import_drop_dead_letter();

CREATE TRIGGER sitemap_file_sitemap_import_enqueue_insert BEFORE INSERT ON sitemap_file FOR EACH ROW WHEN ((new.sitemap_import_status = 'Queued'::text)) EXECUTE FUNCTION sitemap_file_sitemap_import_enqueue();

CREATE TRIGGER sitemap_file_sitemap_import_enqueue_update BEFORE UPDATE OF sitemap_import_status ON sitemap_file FOR EACH ROW WHEN (((new.sitemap_import_status = 'Queued'::text) AND (old.sitemap_import_status <> 'Queued'::text) AND (NOT ((old.sitemap_import_status = 'Processing'::text) AND (new.sitemap_import_due_at IS DISTINCT FROM old.sitemap_import_due_at))))) EXECUTE FUNCTION sitemap_file_sitemap_import_enqueue();

CREATE TRIGGER sitemap_file_sitemap_import_reprioritize BEFORE UPDATE OF priority ON sitemap_file FOR EACH ROW WHEN (((new.sitemap_import_status = 'Queued'::text) AND (old.sitemap_import_status = 'Queued'::text) AND (new.priority <> old.priority))) EXECUTE FUNCTION sitemap_file_sitemap_import_reprioritize();

CREATE TRIGGER sitemap_file_sitemap_import_wait_over BEFORE UPDATE OF sitemap_import_due_at ON sitemap_file FOR EACH ROW WHEN (((new.sitemap_import_status = 'Queued'::text) AND (old.sitemap_import_status = 'Queued'::text) AND (new.sitemap_import_due_at IS NULL) AND (old.sitemap_import_due_at <= now()))) EXECUTE FUNCTION sitemap_file_sitemap_import_enqueue();

CREATE TRIGGER suppression_apply_delete AFTER DELETE ON suppression REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION suppression_apply();

CREATE TRIGGER suppression_apply_insert AFTER INSERT ON suppression REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION suppression_apply();

CREATE TRIGGER suppression_lock BEFORE INSERT OR DELETE ON suppression FOR EACH ROW EXECUTE FUNCTION suppression_lock();

CREATE TRIGGER tenant_pages_quota_changed AFTER UPDATE OF pages_per_day, disabled_at ON tenant FOR EACH ROW WHEN (((new.pages_per_day IS DISTINCT FROM old.pages_per_day) OR ((new.disabled_at IS NULL) <> (old.disabled_at IS NULL)))) EXECUTE FUNCTION page_quota_changed();

CREATE TRIGGER tenant_searches_quota_changed AFTER UPDATE OF searches_per_day, disabled_at ON tenant FOR EACH ROW WHEN (((new.searches_per_day IS DISTINCT FROM old.searches_per_day) OR ((new.disabled_at IS NULL) <> (old.disabled_at IS NULL)))) EXECUTE FUNCTION search_quota_changed();
