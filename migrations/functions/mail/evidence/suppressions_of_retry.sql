-- Addresses that a retry must not reach any more: the suppressed ones, and those that were erased since. A step of `begin_email_retry`.
create or replace function suppressions_of_retry(p_key text, p_addresses text[]) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return email_suppressions_of(p_addresses) || coalesce((
    select jsonb_agg(jsonb_build_object('email', x.email, 'reason', 'erased'))
    from unnest(email_erased_of(p_key, p_addresses)) as x(email)
  ), '[]');
end
$$;
