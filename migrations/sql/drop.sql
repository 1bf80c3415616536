-- The downgrade of the initial revision: drop everything that it made. The two roles stay, because they belong to the
-- whole server and other databases may use them.
DROP TABLE
    audit, job, dead_letter, run, worker, maintenance, workflow_control, host_limit,
    provider_cooldown, provider_response,
    quota_usage, quota_reschedule, spending,
    destination, delivery, suppression,
    search_journal, search_place, search_business, search_domain, search_contact,
    contact, page, sitemap_file, business_domain, domain, local_business, place, search,
    rate_limit, idempotency_key, invitation, session, api_key, "user", tenant
CASCADE;

DO $$
DECLARE
    queue text;
    function text;
BEGIN
    FOREACH queue IN ARRAY ARRAY['search_place_search', 'place_deep_scan', 'local_business_domain_extraction',
        'domain_domain_metadata', 'domain_sitemap_analysis', 'sitemap_file_sitemap_import', 'page_page_processing',
        'contact_contact_verification', 'delivery_delivery']
    LOOP
        EXECUTE format('DROP SEQUENCE %I', queue || '_notified');
        FOREACH function IN ARRAY ARRAY['enqueue', 'reprioritize', 'clear_due_at', 'drop_dead_letter'] LOOP
            EXECUTE format('DROP FUNCTION %I', queue || '_' || function);
        END LOOP;
    END LOOP;
END
$$;

DROP FUNCTION
    protect_tenant, run_as_engine, add_queue, add_queue_columns, add_queue_triggers, drop_queue, add_daily_quota,
    local_business_link_searches, search_place_link_businesses, domain_link_search, business_domain_link_searches,
    search_business_link_domains,
    domain_update_scan_job,
    business_name, without_home_page_words, home_page_words, without_tracking, business_status_text,
    sha256_hex, suppression_lock, suppression_apply, redact_erased, contact_check_suppression, redact_erased_columns,
    skip_erased_page,
    write_quota_usage, search_apply_quota, search_write_quota_usage, search_reschedule, search_quota_changed,
    page_apply_quota, page_write_quota_usage, page_reschedule, page_quota_changed,
    spent_cents, reserved_cents, search_limit_budget, search_reset_spent, search_count_cost, record_calls,
    search_record_calls, reserve_details, refund_details;
