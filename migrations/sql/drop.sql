-- The downgrade of the initial revision: drop everything that it made. The two roles stay, because they belong to the
-- whole server and other databases may use them.
DROP TABLE
    audit, job, dead_letter, run, worker, maintenance, workflow_control, host_limit, provider_rest, provider_answer,
    quota_book, rebooking, spending,
    destination, delivery, suppression,
    search_journal, search_place, search_business, search_domain, search_contact,
    contact, page, sitemap_file, business_domain, domain, local_business, place, search,
    rate_limit, remembered_answer, invitation, session, api_key, "user", tenant
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
        EXECUTE format('DROP SEQUENCE %I', queue || '_told');
        FOREACH function IN ARRAY ARRAY['queued', 'revived', 'hurried', 'rested'] LOOP
            EXECUTE format('DROP FUNCTION %I', queue || '_' || function);
        END LOOP;
    END LOOP;
END
$$;

DROP FUNCTION
    protect_tenant, run_as_engine, add_queue, add_queue_columns, add_queue_triggers, drop_queue, add_daily_quota,
    local_business_found, search_place_found, domain_found, business_domain_found, search_business_found,
    domain_sitemap_analysis_followed,
    business_name, without_home_page_words, home_page_words, without_tracking, business_status_text,
    digest_of, suppression_alone, suppression_told, without_erased, contact_suppression, erased_left_out,
    erased_page_left_out,
    write_quota, search_quota, search_quota_written, search_rebook, search_rebooked, page_quota, page_quota_written,
    page_rebook, page_rebooked,
    spent_cents, held_cents, search_budget, search_renewed, search_cost, book_calls, search_calls, reserve_details,
    refund_details;
