-- Claims a promotion: the customer, made on the first claim, and a magic link for it. No row for a promotion that is
-- unknown or over. `p_any_promo`: one that is not listed counts as running (embedded runs). Called by `MagicLinks`.
create or replace function claim_promo(
  p_promo text, p_any_promo boolean, p_email text, p_link_hash bytea, p_lifetime_seconds integer
)
returns table (customer_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_ends_at timestamptz;
  v_customer uuid;
begin
  select ends_at into v_ends_at from promos where name = p_promo;
  if (not found and not p_any_promo) or v_ends_at <= now() then return; end if;
  insert into customers (email) values (p_email) on conflict (email) do nothing;
  select id into strict v_customer from customers where email = p_email;
  insert into promo_claims (promo_name, customer_id) values (p_promo, v_customer)
  on conflict (promo_name, customer_id)
    do update set claims = promo_claims.claims + 1, last_claimed_at = now();
  insert into magic_links (token_hash, customer_id, expires_at)
  values (p_link_hash, v_customer, now() + make_interval(secs => p_lifetime_seconds));
  return query select v_customer;
end
$$;
