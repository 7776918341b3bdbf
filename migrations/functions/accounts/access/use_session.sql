-- The principal of a session's cookie, by any of its valid hashes; no row for a cookie that has none. `renewed`:
-- `p_next_hash` was kept, hand its cookie out. Equals `presentCookie` in the domain. Called by `Access`.
create or replace function use_session(
  p_hash bytea, p_next_hash bytea, p_embedded boolean, p_rotate_after_seconds integer, p_grace_seconds integer
)
returns table (actor text, rights text[], customer_id uuid, expires_at timestamptz, renewed boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  s sessions;
  v_grace interval := make_interval(secs => p_grace_seconds);
  v_renewed boolean := false;
begin
  select x.* into s
  from sessions x
    left join customers c on c.id = x.customer_id
    left join api_tokens t on t.id = x.api_token_id
  -- Each kind of hash apart, so that its own index serves it whatever the statistics say. A hash is one session's.
  where x.id = (
      select y.id from sessions y where y.token_hash = p_hash
      union all select y.id from sessions y where y.next_hash = p_hash
      union all select y.id from sessions y where y.previous_hash = p_hash
      limit 1
    )
    and x.expires_at > now() and c.deleted_at is null
    and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    and (p_embedded or t.embedded is not true);
  if not found then return; end if;

  if s.token_hash = p_hash then
    if s.rotated_at + make_interval(secs => p_rotate_after_seconds) <= now() then
      update sessions set next_hash = p_next_hash, next_issued_at = now()
      where id = s.id and token_hash = p_hash
        and (next_hash is null or next_issued_at + v_grace <= now());
      v_renewed := found;
    end if;
  elsif s.next_hash = p_hash then
    update sessions
    set previous_hash = token_hash, previous_until = now() + v_grace,
      token_hash = next_hash, next_hash = null, next_issued_at = null, rotated_at = now()
    where id = s.id and next_hash = p_hash;
  elsif s.previous_until <= now() then
    return;
  end if;
  return query select s.actor, s.rights, s.customer_id, s.expires_at, v_renewed;
end
$$;
