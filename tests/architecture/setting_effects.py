"""The effect of each setting: the test that observes it. `*_` stands for the prefix of any workflow."""

# fmt: off
EFFECTS = {
    "*_BACKOFF_SECONDS": "tests/workflows/test_contract.py::test_success_clears_the_error",
    "*_BATCH_SIZE": "tests/cli/test_bad_input.py::test_a_wrong_setting",
    "*_BREAKER_ERROR_RATE": "tests/engine/test_breaker.py::test_half_of_many_failing_opens_it_with_the_reason",
    "*_BREAKER_MAX_PAUSE_SECONDS":
        "tests/engine/test_breaker.py::test_each_failed_probe_doubles_the_pause_up_to_a_limit",
    "*_BREAKER_MIN_ROWS": "tests/engine/test_breaker.py::test_a_few_failures_do_not_open_it",
    "*_BREAKER_PAUSE_SECONDS": "tests/engine/test_breaker.py::test_each_failed_probe_doubles_the_pause_up_to_a_limit",
    "*_BREAKER_WINDOW_SECONDS":
        "tests/engine/test_setting_effects.py::test_the_window_decides_which_failures_count_together",
    "*_CONCURRENCY": "tests/faults/test_kill.py::test_random_kills_of_four_workers_under_load",
    "*_HIGH_WATER": "tests/engine/test_runtime.py::test_a_full_next_queue_holds_the_step_before_it_back",
    "*_INTERVAL_MINUTES": "tests/engine/test_tuning.py::test_minutes_can_be_overruled_in_minutes_or_seconds",
    "*_INTERVAL_SECONDS": "tests/engine/test_tuning.py::test_the_pace_stays_within_its_limits",
    "*_LEASE_SECONDS": "tests/workflows/test_contract.py::test_a_heartbeat_keeps_long_work",
    "*_MAX_ATTEMPTS": "tests/workflows/test_contract.py::test_later_costs_no_attempt",
    "*_MAX_BACKOFF_SECONDS": "tests/engine/test_outcomes.py::test_the_backoff_grows_is_capped_and_spread",
    "*_MAX_BATCH_SIZE": "tests/workflows/test_contract.py::test_the_oldest_row_is_worked_on_first",
    "*_MAX_INSTANCES": "tests/engine/test_runtime.py::test_a_second_loop_starts_while_there_is_work_and_never_a_third",
    "*_MAX_PER_MINUTE": "tests/engine/test_throttle.py::test_a_workflow_claims_no_more_rows_than_its_throttle_allows",
    "*_OLDEST_AGE_LIMIT_SECONDS":
        "tests/engine/test_setting_effects.py::test_a_row_that_is_ready_for_too_long_is_reported",
    "*_TIMEOUT_SECONDS": "tests/workflows/test_contract.py::test_a_row_that_takes_too_long_is_timed_out",
    "CRAWL_ALLOWED_PORTS": "tests/crawl/test_crawler.py::test_an_invalid_setting_is_named_without_its_secrets",
    "CRAWL_ALLOWED_PRIVATE_NETWORKS": "tests/crawl/test_crawler.py::test_an_allowance_is_logged_as_a_warning",
    "CRAWL_CA_FILE": "tests/sandbox/server/test_https.py::test_nobody_trusts_the_sandbox_who_was_not_told_to",
    "CRAWL_CONNECT_TIMEOUT_SECONDS": "tests/crawl/test_crawler.py::test_limits_and_ports_come_from_the_environment",
    "CRAWL_CONTACT_URL": "tests/providers/osm/test_osm_provider.py::test_an_html_page_of_nominatim_names_the_policy",
    "CRAWL_DNS_SERVERS": "tests/sandbox/server/test_dns.py::test_the_server_is_gone_with_the_sandbox",
    "CRAWL_FETCH_TIMEOUT_SECONDS": "tests/cli/test_fetch.py::test_what_cannot_be_fetched_is_a_sentence_and_a_code",
    "CRAWL_HOST_DELAY_SECONDS": "tests/sandbox/osm/test_osm_servers.py::test_our_client_is_never_blocked",
    "CRAWL_HOST_LEASE_SECONDS": "tests/store/shared/test_host_limits.py::test_a_slot_given_back_can_be_taken_again",
    "CRAWL_HOST_OVERRIDES": "tests/sandbox/server/test_server.py::test_it_runs_as_a_program_and_stops_when_told",
    "CRAWL_MAX_CONCURRENCY_PER_HOST": "tests/crawl/test_crawler.py::test_a_crawler_applies_the_limits_per_host",
    "CRAWL_MAX_CONNECTIONS": "tests/crawl/test_crawler.py::test_limits_and_ports_come_from_the_environment",
    "CRAWL_MAX_PAGE_BYTES": "tests/crawl/test_crawler.py::test_limits_and_ports_come_from_the_environment",
    "CRAWL_MAX_REDIRECTS": "tests/crawl/test_crawler.py::test_an_invalid_setting_is_named_without_its_secrets",
    "CRAWL_MAX_RETRY_AFTER_SECONDS": "tests/crawl/test_crawler.py::test_limits_and_ports_come_from_the_environment",
    "CRAWL_MAX_STREAM_BYTES": "tests/crawl/test_crawler.py::test_limits_and_ports_come_from_the_environment",
    "CRAWL_OBEY_ROBOTS": "tests/crawl/test_crawler.py::test_robots_txt_is_honoured_unless_the_setting_is_off",
    "CRAWL_PARSER_PROCESSES":
        "tests/sandbox/google/test_google_service.py::test_the_client_reckons_what_google_bills_for_a_whole_search",
    "CRAWL_PROXY_URL": "tests/crawl/test_crawler.py::test_an_invalid_setting_is_named_without_its_secrets",
    "CRAWL_USER_AGENT": "tests/crawl/test_crawler.py::test_the_user_agent_has_name_version_and_contact",
    "DATABASE_URL": "tests/cli/test_bad_input.py::test_a_database_url_that_is_none",
    "MIGRATION_DATABASE_URL": "tests/core/test_login_role.py::test_a_login_on_an_empty_database_is_told_to_migrate",
    "PROVIDER_FILE_PATH": "tests/providers/file/test_file_provider.py::test_a_missing_file_names_the_setting",
    "PROVIDER_GOOGLE_API_KEY": "tests/providers/test_registry.py::test_the_key_is_a_secret",
    "PROVIDER_GOOGLE_URL": "tests/providers/test_registry.py::test_a_wrong_url_stops_the_start",
    "PROVIDER_NOMINATIM_DELAY_SECONDS":
        "tests/providers/test_registry.py::test_the_public_nominatim_is_never_requested_faster_than_its_policy",
    "PROVIDER_NOMINATIM_URL":
        "tests/providers/test_registry.py::test_the_public_nominatim_is_never_requested_faster_than_its_policy",
    "PROVIDER_OSM_CACHE_TTL_SECONDS": "tests/providers/test_registry.py::test_a_wrong_url_stops_the_start",
    "PROVIDER_OVERPASS_URL": "tests/providers/osm/test_osm_provider.py::test_an_html_page_of_overpass_names_its_rules",
    "PROVIDER_OVERTURE_ENDPOINT": "tests/providers/overture/test_bucket.py::test_a_missing_bucket_is_named",
    "PROVIDER_OVERTURE_PATH": "tests/providers/overture/test_bucket.py::test_a_bucket_without_releases_names_none",
    "PROVIDER_OVERTURE_REGION": "tests/providers/test_registry.py::test_a_wrong_url_stops_the_start",
    "SCHEDULER_IDLE_TIMEOUT_SECONDS": "tests/engine/test_setting_effects.py::test_an_idle_cycle_waits_for_further_rows",
    "SCHEDULER_INTERVAL_SECONDS":
        "tests/api/deliveries/test_deliveries.py::test_more_than_ten_thousand_contacts_become_a_job",
    "SCHEDULER_MAX_CYCLE_SECONDS": "tests/engine/test_setting_effects.py::test_a_cycle_claims_no_more_after_its_time",
    "SCHEDULER_MISFIRE_GRACE_SECONDS":
        "tests/engine/test_setting_effects.py::test_a_late_job_still_runs_within_its_grace",
    "SCHEDULER_POLL_INTERVAL_SECONDS":
        "tests/engine/test_runtime.py::test_rows_go_down_the_whole_line_by_wakeups_alone",
    "SCHEDULER_POLL_ONLY": "tests/engine/test_runtime.py::test_behind_a_pooler_a_task_that_fails_is_noted_too",
    "SCHEDULER_SHUTDOWN_GRACE_SECONDS": "tests/faults/test_shutdown.py::test_a_second_signal_hurries",
    "SCHEDULER_SYSTEM_USER_ID": "tests/test_bootstrap.py::test_nobody_else_will",
    "SCRAPERSKY_ALLOWED_HOSTS": "tests/api/security/test_request_guard.py::test_x_forwarded_host_is_ignored",
    "SCRAPERSKY_CORS_ORIGINS": "tests/api/security/test_request_guard.py::test_an_inexact_origin_is_a_bad_setting",
    "SCRAPERSKY_DATABASE_POOL_SIZE":
        "tests/cli/test_start_and_stop.py::test_needs_that_leave_no_room_for_people_name_the_cure",
    "SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS":
        "tests/faults/test_database_away.py::test_statements_that_hang_are_given_up_and_tried_again",
    "SCRAPERSKY_DATA_DIR": "tests/cli/test_bad_input.py::test_a_data_directory_that_is_a_file",
    "SCRAPERSKY_ENVIRONMENT": "tests/api/accounts/test_auth.py::test_no_token_is_built_in",
    "SCRAPERSKY_HOST": "tests/api/http/test_authorization.py::test_loopback_hosts_are_allowed_in_development",
    "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT":
        "tests/api/accounts/test_auth.py::test_wrong_passwords_of_a_stranger_do_not_lock_out_the_owner",
    "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP": "tests/api/test_load.py::test_lists_are_served_during_a_flood_of_logins",
    "SCRAPERSKY_LOG_FORMAT": "tests/cli/test_worker_http.py::test_without_a_port_a_worker_works",
    "SCRAPERSKY_LOG_LEVEL":
        "tests/cli/test_import_export.py::test_imported_places_bring_their_details_to_the_deep_scan",
    "SCRAPERSKY_MAX_SESSIONS":
        "tests/api/accounts/test_auth.py::test_one_session_too_many_ends_the_least_recently_used",
    "SCRAPERSKY_PORT": "tests/cli/test_bad_input.py::test_a_port_that_is_taken",
    "SCRAPERSKY_RATE_LIMIT_PER_IP":
        "tests/api/security/test_request_guard.py::test_guessing_keys_is_limited_by_address",
    "SCRAPERSKY_RATE_LIMIT_PER_KEY":
        "tests/api/security/test_request_guard.py::test_a_key_over_its_rate_limit_gets_429",
    "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS":
        "tests/cli/test_find.py::test_slow_counts_cost_a_blank_in_the_progress_and_never_the_file",
    "SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS":
        "tests/api/security/test_hostile_input.py::test_a_request_that_waits_for_locks_ends_in_time",
    "SCRAPERSKY_SECRET_KEY": "tests/core/test_vault.py::test_a_weak_secret_is_refused",
    "SCRAPERSKY_TRUSTED_PROXIES":
        "tests/api/security/test_request_guard.py::test_a_proxy_that_is_no_address_is_a_bad_setting",
    "SCRAPERSKY_WORKER_HOST": "tests/deploy/test_deploy_files.py::test_pods_are_probed_on_the_port_that_they_serve",
    "SCRAPERSKY_WORKER_HTTP": "tests/cli/test_worker_http.py::test_without_a_port_a_worker_works",
    "SCRAPERSKY_WORKER_PORT": "tests/cli/test_worker_http.py::test_a_second_worker_takes_the_next_port",
    "SCRAPERSKY_METRICS_TOKEN":
        "tests/cli/test_worker_http.py::test_a_worker_serves_probes_and_metrics_and_nothing_else",
    "DESTINATION_ALLOWED_PRIVATE_NETWORKS":
        "tests/workflows/test_delivery.py::test_a_private_receiver_is_reached_only_with_its_own_setting_and_only_by_deliveries",
}
# fmt: on

# Read by code, and without a test that observes the effect.
UNOBSERVED = {
    "CRAWL_DNS_TIMEOUT_SECONDS",
    "CRAWL_MAX_DNS_LOOKUPS",
    "CRAWL_MAX_PAGE_MEMORY_BYTES",
    "CRAWL_MAX_ROBOTS_DELAY_SECONDS",
    "CRAWL_ROBOTS_TTL_SECONDS",
}
