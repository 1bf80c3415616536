-- What the engine and the people who run it need: state of workflows, run history, dead letters, audit, jobs.

-- Who changed what. Rows are added and read by tenants, and never changed by them.
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid REFERENCES tenant ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    actor_id uuid,  -- the user; no foreign key, because the audit outlives users
    origin text NOT NULL,
    -- A column, not an index over the expression: behind row level security only leakproof functions reach an index.
    channel text GENERATED ALWAYS AS (split_part(origin, ' ', 1)) STORED,
    request_id text,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb
);
CREATE INDEX audit_by_time ON audit (tenant_id, at, id);
CREATE INDEX audit_by_subject ON audit (tenant_id, subject, at, id);
CREATE INDEX audit_by_actor ON audit (tenant_id, actor, at, id);
CREATE INDEX audit_by_action ON audit (tenant_id, action, at, id);
CREATE INDEX audit_by_channel ON audit (tenant_id, channel, at, id);
SELECT protect_tenant('audit', 'SELECT, INSERT');
GRANT SELECT, INSERT, DELETE ON audit TO scrapersky_engine;  -- old rows are pruned,
GRANT UPDATE (before, after) ON audit TO scrapersky_engine;  -- and erased data is taken out of the rest

-- A long action that a client may watch.
CREATE TABLE job (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    kind text NOT NULL,
    state text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    progress double precision NOT NULL DEFAULT 0,
    parameters jsonb NOT NULL,
    result jsonb,
    error text,
    subject_id uuid,
    requested_by uuid REFERENCES "user" ON DELETE SET NULL,
    cancel_requested_at timestamptz,
    finished_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX job_by_update ON job (tenant_id, updated_at, id);
CREATE INDEX job_open ON job (subject_id) WHERE state IN ('pending', 'processing');
SELECT protect_tenant('job');
GRANT SELECT ON job TO scrapersky_engine;

-- A row that failed as often as it may; one per queue and row.
CREATE TABLE dead_letter (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    queue text NOT NULL,  -- table.queue
    row_id uuid NOT NULL,
    attempts integer NOT NULL,
    error_type text NOT NULL,
    message text NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (queue, row_id)
);
CREATE INDEX dead_letter_by_time ON dead_letter (tenant_id, failed_at, id);
CREATE INDEX dead_letter_by_queue ON dead_letter (tenant_id, queue, failed_at, id);
SELECT protect_tenant('dead_letter');
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letter TO scrapersky_engine;

-- One cycle of one workflow in one process.
CREATE TABLE run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamptz NOT NULL,
    seconds double precision NOT NULL,
    claimed integer NOT NULL,  -- rows; the following columns say what became of them
    completed integer NOT NULL,
    skipped integer NOT NULL,
    postponed integer NOT NULL,
    retried integer NOT NULL,
    failed integer NOT NULL,
    returned integer NOT NULL,
    lost integer NOT NULL,
    histogram bigint[] NOT NULL,
    error text
);
CREATE INDEX run_by_start ON run (started_at, id);
CREATE INDEX run_by_workflow ON run (workflow, started_at);

-- A process that runs the scheduler.
CREATE TABLE worker (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX worker_seen_at ON worker (seen_at);

-- The last run of a periodic task, on any host.
CREATE TABLE maintenance (
    name text PRIMARY KEY,
    ran_at timestamptz,
    seconds double precision,
    result text,
    error text
);

-- What all hosts share about a workflow: pause, breaker, pace. Updated in place, often.
CREATE TABLE workflow_control (
    workflow text PRIMARY KEY,
    paused_at timestamptz,
    paused_by text,
    pause_reason text,
    breaker text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half-open')),
    breaker_until timestamptz,
    breaker_reason text,
    breaker_trips integer NOT NULL DEFAULT 0,
    window_started_at timestamptz NOT NULL DEFAULT now(),
    window_successes integer NOT NULL DEFAULT 0,
    window_failures integer NOT NULL DEFAULT 0,
    depth integer NOT NULL DEFAULT 0,
    item_seconds double precision NOT NULL DEFAULT 0,
    batch_size integer,
    interval_seconds double precision,
    held_by text,
    run_requested_at timestamptz,
    measured_at timestamptz
) WITH (fillfactor = 50);

-- When a web host may be visited again, for all workers together. Unlogged: after a crash only politeness is lost.
CREATE UNLOGGED TABLE host_limit (
    host text PRIMARY KEY,
    next_allowed_at timestamptz NOT NULL,
    permits jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX host_limit_next_allowed_at ON host_limit (next_allowed_at);

-- A provider is not called before this time, by any worker.
CREATE TABLE provider_cooldown (
    name text PRIMARY KEY,
    until timestamptz NOT NULL,
    reason text NOT NULL
);

-- Responses of OpenStreetMap's servers, shared by all workers.
CREATE TABLE provider_response (
    request_hash text PRIMARY KEY,
    response text NOT NULL,
    size_bytes integer NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX provider_response_by_expiry ON provider_response (expires_at);

-- Tenants read the state of the engine. They do not read provider_response: it shows what other tenants searched for.
GRANT SELECT ON run, worker, maintenance, workflow_control TO scrapersky_app;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON run, worker, maintenance, workflow_control, host_limit, provider_cooldown, provider_response
    TO scrapersky_engine;
