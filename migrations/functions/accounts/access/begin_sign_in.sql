-- Makes a sign-in link for a customer with an open account, an admin, or one who is both; no row where the address is neither, or
-- has asked for `p_most` links within an hour. Called by `MagicLinks`. Lock order: admin, customer.
create or replace function begin_sign_in(
  p_email text, p_link_hash bytea, p_browser_hash bytea, p_lifetime_seconds integer, p_most integer
)
returns table (link_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_lifetime interval := make_interval(secs => p_lifetime_seconds);
  v_customer uuid;
  v_admin text;
  v_known boolean;
begin
  -- The locks make requests of one person follow one another, so that the limit is exact.
  select a.email into v_admin from admins a where a.email = p_email for no key update;
  select c.id into v_customer from customers c where c.email = p_email and c.deleted_at is null for no key update;
  if v_customer is null and v_admin is null then return; end if;
  v_known := exists (
    select from magic_links l
    where (l.customer_id = v_customer or l.admin_email = v_admin) and l.browser_hash = p_browser_hash
      and l.used_at is not null
  );
  if p_most <= (
    select count(*) from magic_links l
    where (l.customer_id = v_customer or l.admin_email = v_admin) and l.browser_hash is not null
      and l.expires_at > now() + v_lifetime - interval '1 hour'
      and (not v_known or l.browser_hash = p_browser_hash)
  ) then return; end if;
  return query
    insert into magic_links (token_hash, customer_id, admin_email, browser_hash, expires_at)
    values (p_link_hash, v_customer, v_admin, p_browser_hash, now() + v_lifetime)
    returning id;
end
$$;
