-- Claims the keys of entries that neither a claim nor a row of the log nor the calling process knows, and returns the ordinals of the
-- entries that hold them; none where a row of the log knows one of the keys that no claim binds, or the tag of its first use. The keys of other entries are locked at
-- their place in the order (the update that never happens), so that all callers lock in one order. A step of `begin_email_sends`.
create or replace function claim_new_keys(p_entries email_claim_entry[], p_now timestamptz) returns integer[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_new integer[];
begin
  with entry as materialized (
    select distinct on (x.key_hash) x.* from unnest(p_entries) as x order by x.key_hash, x.ordinal
  ), claimed as (
    insert into email_send_claims as c (
      key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
    )
    select
      x.key_hash, x.payload_hash, 'held', x.provider, false, x.suppressions = '[]', x.owner, p_now + x.lease, p_now,
      p_now + x.lease, x.tag
    from entry x
    where not exists (
      select from entry y
      -- Not `exists`, which would be made a join: with statistics from before there were keys it reads the log's whole index.
      where (
        y.known is not null or (select true from email_log l where l.key_hash = y.key_hash limit 1)
        or (select true from email_log l where l.key_tag = y.tag and l.outcome is distinct from 'sent' and l.key_hash is null limit 1)
      )
        and (select true from email_send_claims k where k.key_hash = y.key_hash) is null
    )
    order by x.key_hash
    on conflict (key_hash) do update set updated_at = c.updated_at where false
    returning c.key_hash
  )
  select array_agg(x.ordinal) into v_new from entry x where x.key_hash in (select claimed.key_hash from claimed);
  return v_new;
end
$$;
