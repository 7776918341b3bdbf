-- Claims the key of a retry that is without a claim of the first call (its key was made by the library, or the database was away): all
-- rows of the key's last 24 hours count, and any payload fits. A step of `begin_email_retry`.
create or replace function add_claim_of_retry(
  p_key text, p_tag text, p_provider text, p_owner text, p_first timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  insert into email_send_claims (
    key_hash, payload_hash, state, provider, ambiguous, leaving, owner, first_attempt_at, last_attempt_at, tag
  )
  select
    p_key, '', 'deferred', p_provider, true, true, p_owner, coalesce(min(l.created_at), p_first),
    coalesce(max(l.created_at), p_first), p_tag
  from email_log l
  where l.key_hash = p_key and l.outcome is not null
    and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
  on conflict (key_hash) do nothing;
end
$$;
