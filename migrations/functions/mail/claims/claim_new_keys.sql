-- Claims keys that are new: neither a claim nor a row of the log nor the calling process knows one of them. If a row of the log knows one of
-- the keys that no claim binds, or the tag of its first use, none is claimed here. Returns the entries that hold their keys, and the tags. The claim
-- of an entry with an address in `p_suppressed` says that its request does not leave. The keys of all entries are locked at
-- their place in the order (the update that never happens), so that all callers lock in one order. A step of `begin_email_sends`.
create or replace function claim_new_keys(
  p_entries jsonb, p_suppressed jsonb, p_now timestamptz, out ordinals integer[], out tags text[]
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_suppressed text[] := case when p_suppressed <> '[]' then array(select x ->> 'email' from jsonb_array_elements(p_suppressed) as x) end;
begin
  with entry as materialized (
    select distinct on (x.key_hash)
      x.ord::integer as ordinal, x.key_hash, x.payload_hash, x.provider, x.owner, p_now + make_interval(secs => x.lease_ms / 1000.0) as lease_until,
      t.tag,
      v_suppressed is null or not email_addresses(x.addresses) && v_suppressed as leaving,
      -- Not `exists`, which would be made a join: with statistics from before there were keys it reads the log's whole index.
      (
        x.known is not null or (select true from email_log l where l.key_hash = x.key_hash limit 1)
        or (select true from email_log l where l.key_tag = t.tag and l.outcome is distinct from 'sent' and l.key_hash is null limit 1)
      ) and (select true from email_send_claims k where k.key_hash = x.key_hash) is null as is_known
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    cross join lateral (select coalesce(x.tag, email_use_tag(x.key_hash, 'first')) as tag) as t
    order by x.key_hash, x.ord
  ), claimed as (
    insert into email_send_claims as c (
      key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
    )
    select x.key_hash, x.payload_hash, 'held', x.provider, false, x.leaving, x.owner, x.lease_until, p_now, x.lease_until, x.tag
    from entry x
    where (select bool_or(y.is_known) from entry y) is not true
    on conflict (key_hash) do update set updated_at = c.updated_at where false
    returning c.key_hash
  )
  select array_agg(x.ordinal), array_agg(x.tag) into ordinals, tags
  from entry x where x.key_hash in (select claimed.key_hash from claimed);
end
$$;
