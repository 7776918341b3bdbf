-- Claims a key that no claim binds. What its rows, the calling process or the provider's events know of an attempt that may have
-- been accepted binds the claim to that attempt's provider. Null where a claim is there, or came meanwhile. A step of `begin_email_sends`.
create or replace function claim_unbound_key(e email_claim_entry) returns email_claim_decision
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  d email_claim_decision;
  v_now timestamptz := clock_timestamp();
  v_since timestamptz;
  v_before timestamptz;
begin
  if exists (select from email_send_claims x where x.key_hash = e.key_hash) then
    return null;
  end if;
  select t.provider, t.since, t.last, t.tag into d.sticky, v_since, v_before, d.tag
  from find_email_trail(e.key_hash, e.known) as t;
  if not found then
    select f.provider, least(f.at, v_now), least(f.at, v_now), e.tag into d.sticky, v_since, v_before, d.tag
    from find_forgotten_use(e.tag) as f;
  end if;
  if not found then
    -- The tag of refusals in the last 24 hours, as long as nothing was accepted; else a new tag, where the key was used.
    select l.key_tag into d.tag from email_log l
    where l.key_hash = e.key_hash and l.outcome is not null and l.created_at > clock_timestamp() - interval '24 hours'
    order by l.created_at desc, l.id desc
    limit 1;
    if d.tag is null then
      d.tag := case when exists (select from email_log l where l.key_hash = e.key_hash)
        then email_use_tag(e.key_hash, e.owner) else e.tag end;
    end if;
  end if;
  d.takeover := d.sticky is not null;
  d.late := coalesce(v_now - v_since >= interval '24 hours', false);
  d.leaving := e.suppressions = '[]';
  d.first_attempt_at := coalesce(v_since, v_now);
  d.last_attempt_at := coalesce(v_before, v_now);
  d.owned := false;
  insert into email_send_claims (
    key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
  ) values (
    e.key_hash, e.payload_hash, 'held', coalesce(d.sticky, e.provider), d.takeover, d.leaving, e.owner, v_now + e.lease,
    d.first_attempt_at, case when d.late or not provider_dedupes(d.sticky) then d.last_attempt_at else v_now + e.lease end, d.tag
  )
  on conflict (key_hash) do nothing;
  d.decision := case when found then 'Claimed' end;
  return d;
end
$$;
