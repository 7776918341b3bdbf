-- Takes an address off all outreach; again, it changes nothing. Called by `Unsubscribes`.
create or replace function record_unsubscribe(p_email text, p_campaign text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update prospects p set status = 'unsubscribed', updated_at = now()
  where p.email = p_email and prospect_rank(p.status) < prospect_rank('unsubscribed');
  insert into unsubscribes (email, reason, campaign) values (p_email, 'one_click', p_campaign)
  on conflict (email) do nothing;
end
$$;
