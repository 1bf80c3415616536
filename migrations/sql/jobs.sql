-- The job of a site scan follows the status of its domain, on whichever host the scan runs.
CREATE FUNCTION domain_update_scan_job() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE job SET
        state = CASE NEW.sitemap_analysis_status
            WHEN 'Processing' THEN 'processing'
            WHEN 'Queued' THEN state
            WHEN 'Completed' THEN 'completed'
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
CREATE TRIGGER domain_update_scan_job AFTER UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW
WHEN (OLD.sitemap_analysis_status <> NEW.sitemap_analysis_status) EXECUTE FUNCTION domain_update_scan_job();
