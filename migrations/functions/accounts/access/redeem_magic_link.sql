-- Uses a magic link up and begins a session; no row for a link that is unknown, used or too old. `other_browser`: it was
-- asked for in another browser, and is not used up. The reader of a closed account's mail may open it again by the link of a
-- promotion; closing an account deletes its other links. Called by `MagicLinks`. Lock order: admin, customer, link.
create or replace function redeem_magic_link(
  p_link_hash bytea, p_browser_hash bytea, p_session_hash bytea, p_lifetime_seconds integer
)
returns table (customer_id uuid, actor text, rights text[], expires_at timestamptz, other_browser boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_link magic_links;
  v_actor text;
  v_rights text[];
  v_expires_at timestamptz := now() + make_interval(secs => p_lifetime_seconds);
begin
  -- First, and until the session is there: a change of their rights ends the sessions that it sees.
  select a.email, a.rights into v_actor, v_rights
  from magic_links l join admins a on a.email = l.admin_email
  where l.token_hash = p_link_hash
  for share of a;
  perform from customers where id = (select customer_id from magic_links where token_hash = p_link_hash) for no key update;
  select * into v_link from magic_links
  where token_hash = p_link_hash and used_at is null and expires_at > now()
  for update;
  if not found then return; end if;
  if v_link.browser_hash <> p_browser_hash or (v_link.browser_hash is not null and p_browser_hash is null) then
    return query select null::uuid, null::text, null::text[], null::timestamptz, true;
    return;
  end if;
  update magic_links set used_at = now() where id = v_link.id;
  if v_link.customer_id is not null then
    update customers set deleted_at = null where id = v_link.customer_id returning email into strict v_actor;
    v_rights := array['owner'] || v_rights;
  end if;
  insert into sessions (token_hash, actor, rights, customer_id, admin_email, expires_at)
  values (p_session_hash, v_actor, v_rights, v_link.customer_id, v_link.admin_email, v_expires_at);
  return query select v_link.customer_id, v_actor, v_rights, v_expires_at, false;
end
$$;
