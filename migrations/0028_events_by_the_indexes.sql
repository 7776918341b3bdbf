-- Rows are found by the indexes, whatever the statistics say of a log that grew quickly: within the first minute of an empty one a
-- plan was kept that read all of it for each event (0025 does the same for claims).
alter function record_email_events(jsonb) set enable_seqscan = off;
alter function record_email_sends(jsonb) set enable_seqscan = off;
