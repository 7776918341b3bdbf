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
  e email_claim_entry;
  d email_claim_decision;
  v_entries email_claim_entry[] := email_claim_entries_of(p_entries);
  v_now timestamptz := clock_timestamp();
  v_new integer[] := claim_new_keys(v_entries, v_now);
begin
  foreach e in array v_entries
  loop
    if e.ordinal = any (v_new) then
      d := row('Claimed', null, false, false, v_now, v_now, e.tag, null, e.suppressions = '[]', false, false)::email_claim_decision;
    else
      d := claim_email_key(e);
    end if;
    evidence := null;
    torn := false;
    if d.decision = 'Claimed' and d.sticky is not null then
      select jsonb_build_object('provider', x.provider, 'providerMessageId', x.provider_message_id) into evidence
      from find_email_evidence(e.key_hash, d.tag) as x;
      torn := coalesce(d.torn, false) or email_doubt_at(e.key_hash, d.first_attempt_at, d.sticky) is not null;
      if not d.owned and (torn or evidence is not null or (e.known -> 'isSettled')::boolean) then
        update email_send_claims x set last_attempt_at = d.last_attempt_at where x.key_hash = e.key_hash;
      end if;
    end if;
    ordinal := e.ordinal;
    decision := d.decision;
    sticky := d.sticky;
    takeover := d.takeover;
    late := d.late;
    first_attempt_at := extract(epoch from d.first_attempt_at) * 1000;
    last_attempt_at := extract(epoch from d.last_attempt_at) * 1000;
    tag := d.tag;
    result := d.result;
    leaving := d.decision = 'Claimed' and d.leaving;
    suppressions := case d.decision when 'Claimed' then e.suppressions else '[]' end;
    return next;
  end loop;
end
$$;
