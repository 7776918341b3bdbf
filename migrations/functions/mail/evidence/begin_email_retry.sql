-- Decides whether a queued retry may go out (MAIL-52, MAIL-54). Called by `MailStore`. Keys of the entry: key_hash, tag (what its
-- request carries), first_attempt_at (milliseconds of the epoch; null where no store gave it), age_ms (the least that it can be), provider, row_id, addresses, owner, lease_ms.
--   Recorded  its row is there: its outcome was recorded before its message came back.
--   Settled   `evidence` { provider, providerMessageId } of an accepted attempt.
--   Busy      another owner's lease on the key is alive.
--   Go        the key is leased to the caller (again, where it asked before); `torn`: the key is in doubt at two providers, and neither may be asked.
-- Of `Settled` and `Go`: `first_attempt_at` and `last_attempt_at` of this use of the key, milliseconds of the epoch.
--
-- Lock order: key, rows, claim. An event of the key that is being recorded is waited for: it may be the evidence. A row that an
-- event made before the key of its tag was known gets the key now: without the deferral's row it is the only proof of the deferral's end.
create or replace function begin_email_retry(p_entry jsonb)
returns table (decision text, evidence jsonb, suppressions jsonb, first_attempt_at float8, last_attempt_at float8, torn boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  c email_send_claims;
  v_claimed boolean;
  v_is_of_use boolean;
  v_in_doubt boolean;
  v_key text := p_entry ->> 'key_hash';
  v_tag text := p_entry ->> 'tag';
  v_row_id uuid := (p_entry ->> 'row_id')::uuid;
  v_provider text := p_entry ->> 'provider';
  v_owner text := p_entry ->> 'owner';
  v_first timestamptz := coalesce(
    to_timestamp((p_entry ->> 'first_attempt_at')::float8 / 1000.0),
    clock_timestamp() - make_interval(secs => (p_entry ->> 'age_ms')::float8 / 1000.0));
begin
  suppressions := '[]';
  perform pg_advisory_xact_lock(email_key_lock(coalesce(v_tag, v_key)));
  update email_log l set key_hash = v_key
  where l.key_tag = v_tag and l.outcome is distinct from 'sent' and l.key_hash is null;
  loop
    select * into c from email_send_claims x where x.key_hash = v_key for update;
    v_claimed := found;
    -- Read once the claim is held: the row's writer has let go of it.
    if exists (select from email_log l where l.id = v_row_id)
      or exists (select from email_log l where l.entry_id = v_row_id) then
      decision := 'Recorded';
      return next;
      return;
    end if;
    exit when v_claimed;
    perform add_claim_of_retry(v_key, v_tag, v_provider, v_owner, v_first);
  end loop;

  select jsonb_build_object('provider', x.provider, 'providerMessageId', x.provider_message_id) into evidence
  from find_email_evidence(v_key, v_tag, v_first) as x;
  first_attempt_at := extract(epoch from c.first_attempt_at) * 1000;
  last_attempt_at := extract(epoch from least(c.last_attempt_at, clock_timestamp())) * 1000;
  if evidence is not null then
    decision := 'Settled';
    -- The claim may be a later use's.
    if c.tag is distinct from v_tag then
      first_attempt_at := extract(epoch from v_first) * 1000;
      last_attempt_at := first_attempt_at;
    end if;
  elsif c.lease_until > clock_timestamp() and c.owner <> v_owner then
    decision := 'Busy';
  else
    decision := 'Go';
    v_is_of_use := c.tag is not distinct from v_tag;
    -- A copy of a holder that died may be out, too, once its request may have left.
    v_in_doubt := v_is_of_use and (c.ambiguous or (c.state = 'held' and c.leaving));
    -- A retry that ends a use which is over, a day late, leaves the present use alone.
    if v_is_of_use or clock_timestamp() - v_first < interval '24 hours' then
      torn := (v_in_doubt and c.provider <> v_provider) or (v_is_of_use and c.state = 'ended')
        or email_doubt_at(v_key, c.first_attempt_at, v_provider) is not null;
      if not torn or v_in_doubt or (v_is_of_use and c.state in ('deferred', 'refused')) then
        perform hold_claim_for_retry(c, v_owner, v_provider, (p_entry ->> 'lease_ms')::float8, torn);
      end if;
    end if;
    suppressions := suppressions_of_retry(v_key, email_addresses(p_entry -> 'addresses'));
  end if;
  return next;
end
$$;
