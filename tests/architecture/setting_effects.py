"""The effect of each setting: the test that observes it. `*_` stands for the prefix of any workflow."""

# fmt: off
EFFECTS = {
    "*_BACKOFF_SECONDS":
        "tests/workflows/test_contract.py::test_failure_waits_longer_each_time_and_ends_as_a_dead_letter",
    "*_BATCH_SIZE":
        "tests/engine/test_setting_effects.py::test_a_cycle_has_as_many_rows_in_work_and_in_its_batch_as_the_settings_say",
    "*_BREAKER_ERROR_RATE": "tests/engine/test_breaker.py::test_half_of_many_failing_opens_it_with_the_reason",
    "*_BREAKER_MAX_PAUSE_SECONDS":
        "tests/engine/test_breaker.py::test_each_failed_probe_doubles_the_pause_up_to_a_limit",
    "*_BREAKER_MIN_ROWS": "tests/engine/test_breaker.py::test_a_few_failures_do_not_open_it",
    "*_BREAKER_PAUSE_SECONDS": "tests/engine/test_breaker.py::test_each_failed_probe_doubles_the_pause_up_to_a_limit",
    "*_BREAKER_WINDOW_SECONDS":
        "tests/engine/test_setting_effects.py::test_the_window_decides_which_failures_count_together",
    "*_CONCURRENCY":
        "tests/engine/test_setting_effects.py::test_a_cycle_has_as_many_rows_in_work_and_in_its_batch_as_the_settings_say",
    "*_HIGH_WATER": "tests/engine/test_runtime.py::test_a_full_next_queue_holds_the_step_before_it_back",
    "*_INTERVAL_MINUTES": "tests/engine/test_tuning.py::test_minutes_can_be_overruled_in_minutes_or_seconds",
    "*_INTERVAL_SECONDS": "tests/engine/test_tuning.py::test_the_pace_stays_within_its_limits",
    "*_LEASE_SECONDS": "tests/workflows/test_contract.py::test_a_heartbeat_keeps_long_work",
    "*_MAX_ATTEMPTS": "tests/workflows/test_contract.py::test_failure_waits_longer_each_time_and_ends_as_a_dead_letter",
    "*_MAX_BACKOFF_SECONDS": "tests/engine/test_outcomes.py::test_the_backoff_grows_is_capped_and_spread",
    "*_MAX_BATCH_SIZE": "tests/engine/test_setting_effects.py::test_the_batch_of_a_deep_queue_grows_up_to_its_maximum",
    "*_MAX_INSTANCES": "tests/engine/test_runtime.py::test_a_second_loop_starts_while_there_is_work_and_never_a_third",
    "*_MAX_PER_MINUTE": "tests/engine/test_throttle.py::test_a_workflow_claims_no_more_rows_than_its_throttle_allows",
    "*_OLDEST_AGE_LIMIT_SECONDS":
        "tests/engine/test_setting_effects.py::test_a_row_that_is_ready_for_too_long_is_reported",
    "*_TIMEOUT_SECONDS": "tests/workflows/test_contract.py::test_a_row_that_takes_too_long_is_timed_out",
    "CRAWL_ALLOWED_PORTS": "tests/crawl/test_setting_effects.py::test_only_allowed_ports_are_fetched_from",
    "CRAWL_ALLOWED_PRIVATE_NETWORKS":
        "tests/crawl/test_setting_effects.py::test_private_addresses_are_fetched_from_only_if_they_are_allowed",
    "CRAWL_BROWSER":
        "tests/crawl/test_setting_effects.py::test_the_browser_of_the_setting_is_started_with_or_without_its_sandbox",
    "CRAWL_BROWSER_MAX_MEMORY_BYTES": "tests/browser/test_reading_pages.py::test_a_hostile_page_ends_with_a_reason",
    "CRAWL_BROWSER_PROCESSES":
        "tests/browser/test_reading_pages.py::test_one_browser_draws_one_page_at_a_time_and_its_memory_comes_back",
    "CRAWL_BROWSER_SANDBOX":
        "tests/crawl/test_setting_effects.py::test_the_browser_of_the_setting_is_started_with_or_without_its_sandbox",
    "CRAWL_BROWSER_TIMEOUT_SECONDS": "tests/browser/test_reading_pages.py::test_a_hostile_page_ends_with_a_reason",
    "CRAWL_CA_FILE": "tests/sandbox/server/test_https.py::test_nobody_trusts_the_sandbox_who_was_not_told_to",
    "CRAWL_CONNECT_TIMEOUT_SECONDS":
        "tests/crawl/test_setting_effects.py::test_a_connection_that_is_not_accepted_is_given_up_after_the_connect_timeout",
    "CRAWL_CONTACT_URL": "tests/crawl/test_setting_effects.py::test_a_site_is_told_the_user_agent_and_the_contact",
    "CRAWL_DNS_SERVERS": "tests/crawl/test_setting_effects.py::test_a_lookup_is_given_up_after_the_dns_timeout",
    "CRAWL_DNS_TIMEOUT_SECONDS": "tests/crawl/test_setting_effects.py::test_a_lookup_is_given_up_after_the_dns_timeout",
    "CRAWL_FETCH_TIMEOUT_SECONDS":
        "tests/crawl/test_setting_effects.py::test_a_silent_server_is_given_up_after_the_fetch_timeout",
    "CRAWL_HOST_DELAY_SECONDS": "tests/crawl/test_crawler.py::test_a_crawler_applies_the_limits_per_host",
    "CRAWL_HOST_LEASE_SECONDS": "tests/store/shared/test_host_limits.py::test_the_slot_of_a_killed_worker_comes_back",
    "CRAWL_HOST_OVERRIDES": "tests/crawl/test_setting_effects.py::test_a_host_override_is_used_instead_of_dns",
    "CRAWL_MAX_CONCURRENCY_PER_HOST":
        "tests/store/shared/test_host_limits.py::test_no_more_slots_than_allowed_whoever_asks",
    "CRAWL_MAX_CONNECTIONS": "tests/crawl/test_setting_effects.py::test_no_more_connections_are_opened_than_allowed",
    "CRAWL_MAX_DNS_LOOKUPS": "tests/crawl/test_setting_effects.py::test_no_more_lookups_are_made_at_once_than_allowed",
    "CRAWL_MAX_PAGE_BYTES": "tests/crawl/test_setting_effects.py::test_a_page_and_a_stream_end_at_their_maximum_sizes",
    "CRAWL_MAX_PAGE_MEMORY_BYTES": "tests/crawl/test_setting_effects.py::test_large_pages_wait_for_memory",
    "CRAWL_MAX_REDIRECTS": "tests/crawl/test_setting_effects.py::test_redirects_are_followed_up_to_the_limit",
    "CRAWL_MAX_RETRY_AFTER_SECONDS":
        "tests/crawl/test_setting_effects.py::test_a_retry_after_is_obeyed_up_to_its_maximum",
    "CRAWL_MAX_ROBOTS_DELAY_SECONDS":
        "tests/crawl/test_setting_effects.py::test_a_crawl_delay_is_obeyed_up_to_its_maximum",
    "CRAWL_MAX_STREAM_BYTES":
        "tests/crawl/test_setting_effects.py::test_a_page_and_a_stream_end_at_their_maximum_sizes",
    "CRAWL_OBEY_ROBOTS": "tests/crawl/test_setting_effects.py::test_robots_txt_is_obeyed_unless_the_setting_is_off",
    "CRAWL_BODY_CACHE_SECONDS":
        "tests/workflows/test_web_steps.py::test_without_the_cache_a_page_is_requested_by_each_step_that_reads_it",
    "SITE_SEARCH_BRAVE_API_KEY":
        "tests/workflows/test_site_search.py::test_only_a_web_search_finds_a_hidden_site_and_not_the_directory",
    "SITE_SEARCH_BRAVE_CENTS_PER_CALL":
        "tests/workflows/test_site_search.py::test_a_call_of_a_web_search_is_charged_before_it_is_made_and_refunded_if_refused",
    "SITE_SEARCH_BRAVE_URL":
        "tests/workflows/test_site_search.py::test_only_a_web_search_finds_a_hidden_site_and_not_the_directory",
    "SITE_SEARCH_FROM_NAMES":
        "tests/workflows/test_site_search.py::test_the_settings_decide_whether_names_are_tried_and_how_many",
    "SITE_SEARCH_MAX_CANDIDATES":
        "tests/workflows/test_site_search.py::test_the_settings_decide_whether_names_are_tried_and_how_many",
    "SITE_SEARCH_SEARXNG_URL":
        "tests/workflows/test_site_search.py::test_only_a_web_search_finds_a_hidden_site_and_not_the_directory",
    "CRAWL_FILL_PAGE_BUDGET":
        "tests/workflows/test_page_budget.py::test_a_budget_that_is_left_over_is_spent_unless_the_setting_is_off",
    "CRAWL_PARSER_PROCESSES":
        "tests/crawl/test_setting_effects.py::test_pages_are_parsed_by_as_many_processes_as_the_setting_names",
    "CRAWL_PROXY_URL": "tests/crawl/test_setting_effects.py::test_requests_go_through_the_proxy",
    "CRAWL_ROBOTS_TTL_SECONDS":
        "tests/crawl/test_setting_effects.py::test_robots_txt_is_fetched_again_after_its_lifetime",
    "CRAWL_USER_AGENT": "tests/crawl/test_setting_effects.py::test_a_site_is_told_the_user_agent_and_the_contact",
    "DATABASE_URL": "tests/cli/test_start_and_stop.py::test_the_database_of_the_setting_is_the_one_that_is_read",
    "DESTINATION_ALLOWED_PRIVATE_NETWORKS":
        "tests/workflows/test_delivery.py::test_a_private_receiver_is_reached_only_with_its_own_setting_and_only_by_deliveries",
    "MIGRATION_DATABASE_URL":
        "tests/core/schema/test_login_role.py::test_a_login_on_an_empty_database_is_told_to_migrate",
    "PROVIDER_FILE_PATH": "tests/providers/test_registry.py::test_all_providers_use_the_guarded_client",
    "PROVIDER_GOOGLE_API_KEY": "tests/providers/test_registry.py::test_all_providers_use_the_guarded_client",
    "PROVIDER_GOOGLE_URL": "tests/providers/test_registry.py::test_all_providers_use_the_guarded_client",
    "PROVIDER_NOMINATIM_DELAY_SECONDS":
        "tests/store/shared/test_provider_throttle.py::test_overpass_gets_one_question_at_a_time_and_nominatim_its_pause",
    "PROVIDER_NOMINATIM_URL": "tests/providers/test_registry.py::test_all_providers_use_the_guarded_client",
    "PROVIDER_OSM_CACHE_TTL_SECONDS":
        "tests/providers/test_registry.py::test_a_response_of_overpass_is_used_again_for_its_lifetime",
    "PROVIDER_OVERPASS_URL": "tests/providers/test_registry.py::test_all_providers_use_the_guarded_client",
    "PROVIDER_OVERTURE_ENDPOINT":
        "tests/providers/overture/test_bucket.py::test_the_settings_name_the_server_and_the_path",
    "PROVIDER_OVERTURE_PATH": "tests/providers/overture/test_bucket.py::test_the_settings_name_the_server_and_the_path",
    "PROVIDER_OVERTURE_REGION":
        "tests/providers/test_registry.py::test_the_bucket_of_overture_is_in_the_region_of_the_setting",
    "SCHEDULER_IDLE_TIMEOUT_SECONDS": "tests/engine/test_setting_effects.py::test_an_idle_cycle_waits_for_further_rows",
    "SCHEDULER_INTERVAL_SECONDS": "tests/engine/test_tuning.py::test_one_interval_for_all_gives_way_to_a_workflows_own",
    "SCHEDULER_MAX_CYCLE_SECONDS": "tests/engine/test_setting_effects.py::test_a_cycle_claims_no_more_after_its_time",
    "SCHEDULER_MISFIRE_GRACE_SECONDS":
        "tests/engine/test_setting_effects.py::test_a_late_job_still_runs_within_its_grace",
    "SCHEDULER_POLL_INTERVAL_SECONDS":
        "tests/engine/test_runtime.py::test_without_notifications_polling_finds_the_rows",
    "SCHEDULER_POLL_ONLY": "tests/engine/test_runtime.py::test_without_notifications_polling_finds_the_rows",
    "SCHEDULER_SHUTDOWN_GRACE_SECONDS": "tests/faults/test_shutdown.py::test_a_second_signal_hurries",
    "SCHEDULER_SYSTEM_USER_ID": "tests/test_bootstrap.py::test_what_the_engine_does_is_audited_as_this_user",
    "SCRAPERSKY_ALLOWED_HOSTS": "tests/api/security/test_request_guard.py::test_only_listed_host_names_are_served",
    "SCRAPERSKY_CORS_ORIGINS":
        "tests/api/security/test_request_guard.py::test_a_listed_origin_may_read_and_others_may_not",
    "SCRAPERSKY_DATABASE_POOL_SIZE":
        "tests/core/test_connection_pool.py::test_the_setting_is_the_budget_of_any_process",
    "SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS":
        "tests/faults/test_database_away.py::test_statements_that_hang_are_given_up_and_tried_again",
    "SCRAPERSKY_DATA_DIR":
        "tests/cli/test_backup.py::test_the_embedded_database_is_backed_up_restored_and_reached_with_psql",
    "SCRAPERSKY_ENVIRONMENT": "tests/api/accounts/test_auth.py::test_no_token_is_built_in",
    "SCRAPERSKY_HOST": "tests/api/http/test_authorization.py::test_loopback_hosts_are_allowed_in_development",
    "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT":
        "tests/api/accounts/test_auth.py::test_wrong_passwords_of_a_stranger_do_not_lock_out_the_owner",
    "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP": "tests/api/test_load.py::test_lists_are_served_during_a_flood_of_logins",
    "SCRAPERSKY_LOG_FORMAT": "tests/core/test_logging_setup.py::test_a_line_is_json_or_for_people",
    "SCRAPERSKY_LOG_LEVEL": "tests/core/test_logging_setup.py::test_lines_below_the_level_are_not_written",
    "SCRAPERSKY_MAP_TILES": "tests/console/test_map.py::test_tiles_are_drawn_and_allowed_only_if_they_are_set",
    "SCRAPERSKY_MAP_TILES_ATTRIBUTION":
        "tests/console/test_map.py::test_tiles_are_drawn_and_allowed_only_if_they_are_set",
    "SCRAPERSKY_MAX_SESSIONS":
        "tests/api/accounts/test_auth.py::test_one_session_too_many_ends_the_least_recently_used",
    "SCRAPERSKY_METRICS_TOKEN":
        "tests/cli/test_worker_http.py::test_a_worker_serves_probes_and_metrics_and_nothing_else",
    "SCRAPERSKY_PREFERRED_FUNCTIONS": "tests/cli/test_import_export.py::test_leads_prefer_the_function_of_the_setting",
    "SCRAPERSKY_PORT": "tests/cli/test_serve.py::test_it_listens_on_the_port_of_the_setting",
    "SCRAPERSKY_RATE_LIMIT_PER_IP":
        "tests/api/security/test_request_guard.py::test_guessing_keys_is_limited_by_address",
    "SCRAPERSKY_RATE_LIMIT_PER_KEY":
        "tests/api/security/test_request_guard.py::test_a_key_over_its_rate_limit_gets_429",
    "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS":
        "tests/cli/test_find.py::test_slow_counts_cost_a_blank_in_the_progress_and_never_the_file",
    "SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS":
        "tests/api/security/test_hostile_input.py::test_a_request_that_waits_for_locks_ends_in_time",
    "SCRAPERSKY_SECRET_KEY":
        "tests/api/schemas/test_cursors.py::test_a_cursor_is_valid_on_another_host_and_not_in_another_installation",
    "SCRAPERSKY_TRUSTED_PROXIES":
        "tests/api/security/test_request_guard.py::test_x_forwarded_for_counts_from_trusted_proxies_only",
    "SCRAPERSKY_WORKER_HOST":
        "tests/cli/test_worker_http.py::test_in_development_a_worker_listens_on_this_machine_only",
    "SCRAPERSKY_WORKER_HTTP": "tests/cli/test_worker_http.py::test_without_a_port_a_worker_works",
    "SCRAPERSKY_WORKER_PORT": "tests/cli/test_worker_http.py::test_a_second_worker_takes_the_next_port",
}
# fmt: on
