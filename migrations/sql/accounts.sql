-- Tenants, the people and programs that act for them, and what the API remembers of their requests.

CREATE TABLE tenant (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    is_operator boolean NOT NULL DEFAULT false,  -- its operators also run the engine and see all tenants
    disabled_at timestamptz,
    searches_per_day integer CHECK (searches_per_day >= 0),  -- quotas: null is unlimited
    pages_per_day integer CHECK (pages_per_day >= 0),
    cents_per_month integer CHECK (cents_per_month >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE "user" (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid REFERENCES tenant ON DELETE CASCADE,  -- null: the system user
    name text NOT NULL,
    password_hash text,
    role text NOT NULL DEFAULT 'viewer' CHECK (role IN ('viewer', 'curator', 'operator', 'admin')),
    is_system boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
    password_changed_at timestamptz,
    last_login_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, name)
);
CREATE UNIQUE INDEX user_system_name ON "user" (name) WHERE tenant_id IS NULL;

CREATE TABLE api_key (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES "user" ON DELETE CASCADE,
    name text NOT NULL,
    prefix text NOT NULL UNIQUE,  -- random; the key is looked up by it before the tenant is known
    secret_hash text NOT NULL,
    scopes text[] NOT NULL DEFAULT '{}',
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_key_user_id ON api_key (user_id);

CREATE TABLE session (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES "user" ON DELETE CASCADE,
    token_hash text NOT NULL UNIQUE,
    previous_token_hash text,  -- of the refresh token before; using it again ends the session
    family_hash text NOT NULL UNIQUE,  -- of the part that all refresh tokens of the session have in common
    expires_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    revoked_at timestamptz,
    origin text NOT NULL,
    user_agent text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_by_expiry ON session (expires_at);
CREATE INDEX session_user_id ON session (user_id);

CREATE TABLE invitation (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    role text NOT NULL,
    token_hash text NOT NULL UNIQUE,
    created_by uuid REFERENCES "user" ON DELETE SET NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- The response to a request with an Idempotency-Key header: the same request again gets the same response.
CREATE TABLE idempotency_key (
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    key text NOT NULL,
    request_hash text NOT NULL,
    status_code smallint NOT NULL,
    response jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key)
);

-- Token buckets of the API's rate limits, shared by all processes. Unlogged: after a crash the buckets start full.
CREATE UNLOGGED TABLE rate_limit (
    key text PRIMARY KEY,
    tokens double precision NOT NULL,
    refilled_at timestamptz NOT NULL
);

-- A tenant sees its own row of the table tenant. Only the engine role creates and changes tenants.
ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenant TO scrapersky_app
    USING (id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY engine_rows ON tenant TO scrapersky_engine USING (true);
GRANT SELECT ON tenant TO scrapersky_app;
GRANT SELECT, INSERT, UPDATE ON tenant TO scrapersky_engine;
GRANT UPDATE (is_operator, disabled_at, searches_per_day, pages_per_day, cents_per_month) ON tenant
    TO scrapersky_engine;

SELECT protect_tenant('"user"');
SELECT protect_tenant('api_key');
SELECT protect_tenant('session');
SELECT protect_tenant('invitation');
SELECT protect_tenant('idempotency_key');

-- Credentials are looked up before the tenant is known; expired ones are deleted for all tenants.
GRANT SELECT ON "user", api_key, session, invitation TO scrapersky_engine;
GRANT DELETE ON session, invitation TO scrapersky_engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limit TO scrapersky_app, scrapersky_engine;
