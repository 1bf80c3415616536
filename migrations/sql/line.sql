-- The tables of the line, in its order: search, place, local business, domain, sitemap file, page, contact.
--
-- Columns that several tables have:
--   curation_status  what a person decided about the row
--   priority         0 is normal, higher is claimed sooner
--   name_key         the name in small letters, compared byte by byte, so that every server sorts alike
-- Columns of queues (`<queue>_status` and so on) come from add_queue, see queues.sql.
--
-- Indexes: row level security lets only leakproof operators use an index, which are plain comparisons of a column, and
-- not lower() or @@. Hence the stored name_key, and text_pattern_ops for prefixes.

-- What to look for, where, with which provider, within which budget.
CREATE TABLE search (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    text text NOT NULL,
    area text,
    provider text NOT NULL,
    result_limit integer,
    budget_cents integer,
    cost_cents integer NOT NULL DEFAULT 0,  -- of all calls, ever
    spent_cents integer NOT NULL DEFAULT 0,  -- of the current budget; 0 again when the search is queued again
    call_count integer NOT NULL DEFAULT 0,  -- includes calls that cost nothing
    details_count integer NOT NULL DEFAULT 0,
    details_cents integer NOT NULL DEFAULT 0,
    result_count integer NOT NULL DEFAULT 0,
    stopped_by_budget boolean NOT NULL DEFAULT false,  -- the provider has more places: a larger budget continues
    notes text,  -- what the result lacks, or how the request was read; for people
    cancelled_by text,  -- the name of the person who cancelled it; null again when it is resumed
    rules jsonb,
    requested_by uuid REFERENCES "user" ON DELETE SET NULL,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX search_by_update ON search (tenant_id, updated_at, id);
CREATE INDEX search_by_text ON search (tenant_id, lower(left(text, 200)));
SELECT protect_tenant('search');
SELECT add_queue('search', 'place_search');

-- A business as the provider describes it.
CREATE TABLE place (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    search_id uuid REFERENCES search ON DELETE SET NULL,
    provider text NOT NULL,
    provider_id text NOT NULL,
    name text NOT NULL,
    address text,
    latitude double precision,
    longitude double precision,
    phone text,
    website text,
    categories text[] NOT NULL DEFAULT '{}',
    rating double precision,
    rating_count integer,
    business_status text,
    licence text,
    fetched_at timestamptz,
    expires_at timestamptz,
    details jsonb,
    name_key text COLLATE "C" GENERATED ALWAYS AS (lower(left(name, 200))) STORED,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, provider, provider_id)
);
CREATE INDEX place_by_curation ON place (tenant_id, curation_status, updated_at, id);
CREATE INDEX place_by_name ON place (tenant_id, name_key, id);
CREATE INDEX place_by_update ON place (tenant_id, updated_at, id);
CREATE INDEX place_search_id ON place (search_id);
SELECT protect_tenant('place');
SELECT add_queue('place', 'deep_scan');

-- A business of the tenant, with the details of its place.
CREATE TABLE local_business (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    place_id uuid REFERENCES place ON DELETE SET NULL,
    search_id uuid REFERENCES search ON DELETE SET NULL,
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
    categories text[] NOT NULL DEFAULT '{}',
    rating double precision,
    rating_count integer,
    price_level integer,
    hours jsonb,
    business_status text,
    details jsonb,
    name_key text COLLATE "C" GENERATED ALWAYS AS (lower(left(name, 200))) STORED,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, place_id)
);
CREATE INDEX local_business_by_curation ON local_business (tenant_id, curation_status, updated_at, id);
CREATE INDEX local_business_by_name ON local_business (tenant_id, name_key, id);
CREATE INDEX local_business_by_search ON local_business (search_id, id);
CREATE INDEX local_business_by_update ON local_business (tenant_id, updated_at, id);
SELECT protect_tenant('local_business');
SELECT add_queue('local_business', 'domain_extraction');

-- A registrable web domain.
CREATE TABLE domain (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    search_id uuid REFERENCES search ON DELETE SET NULL,
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
    technologies text[] NOT NULL DEFAULT '{}',
    facts jsonb,
    sitemap_reason text,
    sitemap_result text,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, name)
);
CREATE INDEX domain_by_curation ON domain (tenant_id, curation_status, updated_at, id);
CREATE INDEX domain_by_prefix ON domain (tenant_id, name text_pattern_ops);
CREATE INDEX domain_by_search ON domain (search_id, id);
CREATE INDEX domain_by_update ON domain (tenant_id, updated_at, id);
SELECT protect_tenant('domain');
SELECT add_queue('domain', 'domain_metadata');
SELECT add_queue('domain', 'sitemap_analysis');

-- A business and one of its domains; two businesses may share a domain.
CREATE TABLE business_domain (
    business_id uuid NOT NULL REFERENCES local_business ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    url text,
    linked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (business_id, domain_id)
);
CREATE INDEX business_domain_domain_id ON business_domain (domain_id);
SELECT protect_tenant('business_domain');

-- A sitemap of a domain.
CREATE TABLE sitemap_file (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
    parent_id uuid REFERENCES sitemap_file ON DELETE SET NULL,
    url text NOT NULL,
    kind text,
    discovered_by text,
    url_count integer,
    size_bytes integer,
    last_modified timestamptz,
    etag text,
    partial_reason text,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, domain_id, url)
);
CREATE INDEX sitemap_file_by_curation ON sitemap_file (tenant_id, curation_status, updated_at, id);
CREATE INDEX sitemap_file_by_kind ON sitemap_file (tenant_id, kind, updated_at, id);
CREATE INDEX sitemap_file_by_prefix ON sitemap_file (tenant_id, url text_pattern_ops);
CREATE INDEX sitemap_file_by_update ON sitemap_file (tenant_id, updated_at, id);
CREATE INDEX sitemap_file_parent_id ON sitemap_file (parent_id);
SELECT protect_tenant('sitemap_file');
SELECT add_queue('sitemap_file', 'sitemap_import');

-- A page of a domain.
CREATE TABLE page (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
    sitemap_file_id uuid REFERENCES sitemap_file ON DELETE SET NULL,
    url text NOT NULL,
    country text,
    kind text,
    kind_score double precision,
    kind_reason text,
    depth smallint,
    last_modified timestamptz,
    title text,
    http_status integer,
    etag text,
    fetched_at timestamptz,
    contact_count integer,
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, domain_id, url)
);
CREATE INDEX page_by_curation ON page (tenant_id, curation_status, updated_at, id);
CREATE INDEX page_by_kind ON page (tenant_id, kind, updated_at, id);
CREATE INDEX page_by_prefix ON page (tenant_id, url text_pattern_ops);
CREATE INDEX page_by_update ON page (tenant_id, updated_at, id);
CREATE INDEX page_sitemap_file_id ON page (sitemap_file_id);
SELECT protect_tenant('page');
SELECT add_queue('page', 'page_processing');

-- An email address, a phone number or a person, with the page it was found on.
CREATE TABLE contact (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    domain_id uuid REFERENCES domain ON DELETE CASCADE,
    page_id uuid REFERENCES page ON DELETE SET NULL,
    business_id uuid REFERENCES local_business ON DELETE SET NULL,
    merged_into_id uuid REFERENCES contact ON DELETE SET NULL,
    identity text NOT NULL,
    name text,
    title text,
    email text,
    -- from its end, with a dot: a domain and all under it are one range of contact_by_host
    email_host text COLLATE "C" GENERATED ALWAYS AS (reverse(split_part(lower(email), '@', 2)) || '.') STORED,
    email_kind text,
    phone text,
    fax text,
    profiles jsonb,
    address text,
    source_url text,
    snippet text,
    found_by text,
    confidence double precision,
    verdict text CHECK (verdict IN ('deliverable', 'risky', 'undeliverable', 'unknown')),
    verification jsonb,
    name_key text COLLATE "C" GENERATED ALWAYS AS (lower(left(name, 200))) STORED,
    suppressed_at timestamptz,  -- set by a trigger, see suppression.sql
    seen_at timestamptz NOT NULL DEFAULT now(),  -- when a page, a file or a person last gave the contact
    edited_at timestamptz,  -- a person edited it: a page only fills empty fields
    curation_status text NOT NULL DEFAULT 'New'
        CHECK (curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')),
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, domain_id, identity)
);
CREATE UNIQUE INDEX contact_without_domain ON contact (tenant_id, identity) WHERE domain_id IS NULL;
CREATE INDEX contact_business_id ON contact (business_id);
CREATE INDEX contact_by_curation ON contact (tenant_id, curation_status, updated_at, id);
CREATE INDEX contact_by_email ON contact (tenant_id, email);
CREATE INDEX contact_by_fax ON contact (tenant_id, fax) WHERE fax IS NOT NULL;
CREATE INDEX contact_by_host ON contact (tenant_id, email_host);
CREATE INDEX contact_by_name ON contact (tenant_id, name_key, id);
CREATE INDEX contact_by_phone ON contact (tenant_id, phone);
CREATE INDEX contact_by_prefix ON contact (tenant_id, email text_pattern_ops);
CREATE INDEX contact_by_seen ON contact (tenant_id, seen_at);
CREATE INDEX contact_by_update ON contact (tenant_id, updated_at, id);
CREATE INDEX contact_by_verdict ON contact (tenant_id, verdict, updated_at, id);
CREATE INDEX contact_domain_id ON contact (domain_id);
CREATE INDEX contact_merged_into_id ON contact (merged_into_id);
CREATE INDEX contact_page_id ON contact (page_id);
CREATE INDEX contact_suppressed ON contact (tenant_id, updated_at, id) WHERE suppressed_at IS NOT NULL;
SELECT protect_tenant('contact');
SELECT add_queue('contact', 'contact_verification');
