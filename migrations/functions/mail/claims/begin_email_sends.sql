-- Claims keys and looks up suppressions, several in one call (MAIL-1, MAIL-41 to MAIL-43); `ordinal` counts the entries
-- from 1. Called by `MailStore`. Keys of an entry: key_hash, addresses, payload_hash, provider, owner (unique to the call),
-- lease_ms, tag (of the key's first use; made here where it is absent), known (what the calling process remembers of the key).
--
-- `decision` is that of `decideClaim` in the domain, taken under the key's row lock and by this clock:
--   Claimed     the key is held for the owner; `sticky` is the only provider that may see it, `takeover` that an attempt
--               on it left no result, `late` that its first attempt, at `first_attempt_at` (milliseconds of the epoch), is 24 hours
--               old, `torn` that the key is in doubt at two providers and neither may be asked, `tag` what its requests carry, `evidence` { provider, providerMessageId } that an earlier attempt was accepted.
--               `last_attempt_at` is the last attempt before this call's: unchanged where no provider is asked (`late`, `torn`, `evidence`).
--   Replay      `result` is the first call's.
--   Conflict, InProgress
-- The same owner asking again (its first answer was lost) is answered `Claimed` again.
--
-- `leaving`: the claim says already that the request leaves. It does so where the look-up found no suppression, since nothing then
-- keeps the request in the process; else `move_email_claim` says it.
--
-- Keys that nothing is known of are claimed at once, the rest one by one (`claim_known_keys`).
--
-- Locks claims in the order of their keys. The settings: it looks up by key alone, whatever the tables' statistics say; its plan may be
-- older than most of their rows, and with the statistics from before there were keys every call would read or hash the whole log.
create or replace function begin_email_sends(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, late boolean, torn boolean, first_attempt_at float8, last_attempt_at float8, tag text, result jsonb,
  evidence jsonb, leaving boolean, suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  -- One look-up for all of them: few batches hold an address that is suppressed.
  v_found jsonb := email_suppressions_of(email_addresses(jsonb_path_query_array(p_entries, '$[*].addresses[*]')));
  v_new integer[];
  v_tags text[];
begin
  select x.ordinals, x.tags into v_new, v_tags from claim_new_keys(p_entries, v_found, v_now) as x;
  decision := 'Claimed';
  takeover := false; late := false; torn := false; leaving := true;
  first_attempt_at := extract(epoch from v_now) * 1000;
  last_attempt_at := first_attempt_at;
  suppressions := '[]';
  for v_at in 1 .. coalesce(cardinality(v_new), 0) loop
    ordinal := v_new[v_at];
    tag := v_tags[v_at];
    if v_found <> '[]' then
      suppressions := email_suppressions_of(email_addresses(p_entries -> (ordinal - 1) -> 'addresses'));
      leaving := suppressions = '[]';
    end if;
    return next;
  end loop;
  if coalesce(cardinality(v_new), 0) < jsonb_array_length(p_entries) then
    return query select x.* from claim_known_keys(p_entries, v_new) as x;
  end if;
end
$$;
