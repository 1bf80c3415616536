-- Which search found which row. A search keeps what it found, also when a later search goes on with the row.
-- The triggers below write search_business and search_domain, whichever code writes the rows they follow from.

CREATE TABLE search_place (
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    place_id uuid NOT NULL REFERENCES place ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    found_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (search_id, place_id)
);
CREATE INDEX search_place_place_id ON search_place (place_id);
SELECT protect_tenant('search_place');

CREATE TABLE search_business (
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    business_id uuid NOT NULL REFERENCES local_business ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    PRIMARY KEY (search_id, business_id)
);
CREATE INDEX search_business_business_id ON search_business (business_id);
SELECT protect_tenant('search_business');

CREATE TABLE search_domain (
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    PRIMARY KEY (search_id, domain_id)
);
CREATE INDEX search_domain_domain_id ON search_domain (domain_id);
SELECT protect_tenant('search_domain');

-- A contact without a web site, imported from a file. A contact that has a site is found through search_domain.
CREATE TABLE search_contact (
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    contact_id uuid NOT NULL REFERENCES contact ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    PRIMARY KEY (search_id, contact_id)
);
CREATE INDEX search_contact_contact_id ON search_contact (contact_id);
SELECT protect_tenant('search_contact');

-- The pages of results that a provider already returned and billed: a search that is tried again does not pay twice.
CREATE TABLE search_journal (
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    query text NOT NULL,
    page_token text NOT NULL,  -- of the provider; empty for the first page
    page jsonb NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (search_id, query, page_token)
);
CREATE INDEX search_journal_by_time ON search_journal (tenant_id, stored_at);
SELECT protect_tenant('search_journal');

-- A business belongs to its own search, and to every search that found its place.
CREATE FUNCTION local_business_link_searches() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT search_id, NEW.id, NEW.tenant_id FROM search_place WHERE place_id = NEW.place_id
    UNION SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER local_business_link_searches AFTER INSERT OR UPDATE OF search_id, place_id ON local_business
FOR EACH ROW EXECUTE FUNCTION local_business_link_searches();

CREATE FUNCTION search_place_link_businesses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT NEW.search_id, id, NEW.tenant_id FROM local_business
    WHERE tenant_id = NEW.tenant_id AND place_id = NEW.place_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER search_place_link_businesses AFTER INSERT ON search_place
FOR EACH ROW EXECUTE FUNCTION search_place_link_businesses();

-- A domain belongs to its own search, and to every search that found one of its businesses.
CREATE FUNCTION domain_link_search() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER domain_link_search AFTER INSERT OR UPDATE OF search_id ON domain
FOR EACH ROW EXECUTE FUNCTION domain_link_search();

CREATE FUNCTION business_domain_link_searches() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT search_id, NEW.domain_id, NEW.tenant_id FROM search_business WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER business_domain_link_searches AFTER INSERT ON business_domain
FOR EACH ROW EXECUTE FUNCTION business_domain_link_searches();

CREATE FUNCTION search_business_link_domains() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, domain_id, NEW.tenant_id FROM business_domain WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER search_business_link_domains AFTER INSERT ON search_business
FOR EACH ROW EXECUTE FUNCTION search_business_link_domains();
