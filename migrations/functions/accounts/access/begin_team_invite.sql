-- An invitation, new or the open one of this address, and what is to be done about its mail:
--   Send  the caller holds the sending for `p_lease_seconds`, and this token's hash is the one that counts; `mail_key` is
--         the idempotency key of this sending
--   Sent  its mail went out before, and the link in it still works
--   Busy  another call is sending it
-- No row for a deleted customer. An invitation is sent again where its mail was deferred and did not go out in the end
-- (R3). Lock order: customer (for share, so that closing the account and this wait for each other), invitation.
create or replace function begin_team_invite(
  p_customer_id uuid, p_email text, p_token_hash bytea, p_lifetime_seconds integer, p_lease_seconds integer
)
returns table (invite_id uuid, todo text, inviter text, expires_at timestamptz, mail_key text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_inviter text;
  v_invite team_invites;
  v_todo text := 'Send';
begin
  -- For share: closing the account waits for this, or this waits for it.
  select coalesce(c.name, c.email) into v_inviter
  from customers c where c.id = p_customer_id and c.deleted_at is null for share;
  if not found then return; end if;
  loop
    insert into team_invites as i (customer_id, email, token_hash, expires_at, sending_until, mail_key)
    values (
      p_customer_id, p_email, p_token_hash, clock_timestamp() + make_interval(secs => p_lifetime_seconds),
      clock_timestamp() + make_interval(secs => p_lease_seconds), 'team-invite:' || gen_random_uuid()
    )
    on conflict (customer_id, email) where accepted_at is null do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at, sending_until = excluded.sending_until,
      mail_key = excluded.mail_key, sent_at = null
    where (i.sent_at is null or i.expires_at <= clock_timestamp()
        or coalesce(email_deferral_end(i.mail_key) in ('failed', 'suppressed'), false))
      and (i.sending_until is null or i.sending_until <= clock_timestamp())
    returning * into v_invite;
    exit when found;
    select * into v_invite from team_invites i
    where i.customer_id = p_customer_id and i.email = p_email and i.accepted_at is null;
    continue when not found; -- Accepted or withdrawn since.
    v_todo := case when v_invite.sent_at is null then 'Busy' else 'Sent' end;
    exit;
  end loop;
  return query select v_invite.id, v_todo, v_inviter, v_invite.expires_at, v_invite.mail_key;
end
$$;
