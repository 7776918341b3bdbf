-- The log by its last change (EVENT-66): programs ask what has changed since a moment. Rules: docs/reference/specification/delivery.md.
create index concurrently if not exists email_log_updated on email_log (updated_at, id);
