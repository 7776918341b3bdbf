-- Claims the keys of the entries that `claim_new_keys` has not claimed, one by one in their order. A step of `begin_email_sends`, which says what
-- the columns hold.
create or replace function claim_known_keys(p_entries jsonb, p_claimed integer[])
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, late boolean, torn boolean, first_attempt_at float8, last_attempt_at float8, tag text, result jsonb,
  evidence jsonb, leaving boolean, suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  e email_claim_entry;
  d email_claim_decision;
begin
  foreach e in array email_claim_entries_of(p_entries)
  loop
    continue when e.ordinal = any (p_claimed);
    d := claim_email_key(e);
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
