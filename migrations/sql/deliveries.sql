-- Where contacts are delivered to.
CREATE TABLE destination (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    name text NOT NULL,
    kind text NOT NULL,  -- a name of scrapersky.destinations.registry.KINDS
    url text,  -- the web hook, or another base URL than that of the CRM
    secret text,  -- encrypted: the key of the CRM, or the signing secret of the web hook
    previous_secret text,  -- encrypted; signs beside the new secret until the receiver has changed over
    options jsonb NOT NULL DEFAULT '{}',  -- lists, names of fields
    rule jsonb NOT NULL DEFAULT '{}',  -- which verified contacts are delivered automatically
    disabled_at timestamptz,
    disabled_reason text,
    consecutive_failures integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    cooldown_until timestamptz,  -- not called before, on any host
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, name)
);
CREATE INDEX destination_by_update ON destination (tenant_id, updated_at, id);
SELECT protect_tenant('destination');
GRANT SELECT ON destination TO scrapersky_engine;

-- A contact for a destination: each pair has its own attempts.
CREATE TABLE delivery (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    destination_id uuid NOT NULL REFERENCES destination ON DELETE CASCADE,
    contact_id uuid NOT NULL REFERENCES contact ON DELETE CASCADE,
    external_id text,  -- of the contact at the destination
    fingerprint text,  -- of what was last accepted: the same is not sent again
    delivered_at timestamptz,
    priority smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (destination_id, contact_id)
);
CREATE INDEX delivery_by_destination ON delivery (destination_id, updated_at, id);
CREATE INDEX delivery_by_update ON delivery (tenant_id, updated_at, id);
CREATE INDEX delivery_contact_id ON delivery (contact_id);
SELECT protect_tenant('delivery');
SELECT add_queue('delivery', 'delivery');
