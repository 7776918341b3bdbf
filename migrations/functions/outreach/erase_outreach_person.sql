-- The part of `erase_person` that is about outreach and digests; returns whether anything was found. An address that wanted
-- no outreach gets none afterwards either, by a hash (P3).
create or replace function erase_outreach_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_found boolean;
begin
  insert into unsubscribes (email, reason, created_at)
  select erased_alias(p_email), case p.status when 'complained' then 'complaint' else 'manual' end, p.updated_at
  from prospects p where p.email = p_email and p.status in ('unsubscribed', 'complained')
  on conflict do nothing;
  delete from prospects where email = p_email;
  v_found := found;
  insert into unsubscribes (email, reason, created_at)
  select erased_alias(p_email), u.reason, u.created_at from unsubscribes u where u.email = p_email
  on conflict (email) do update set reason = excluded.reason, created_at = excluded.created_at;
  delete from unsubscribes where email = p_email;
  v_found := v_found or found;
  insert into list_unsubscribes (email, list, created_at)
  select erased_alias(p_email), l.list, l.created_at from list_unsubscribes l where l.email = p_email
  on conflict do nothing;
  delete from list_unsubscribes where email = p_email;
  v_found := v_found or found;
  delete from audit_digest_subscriptions where lower_address(email) = p_email;
  return v_found or found;
end
$$;
