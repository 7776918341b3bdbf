-- Stores a mail that has arrived; the same call again changes nothing. `p_sender`: its verified sender, who takes turns if they are
-- a customer. All others share one turn, so that many addresses gain no turns. `p_outcome`: its headers alone ended it (INBOUND-4).
create or replace function receive_mail(
  p_id uuid, p_raw_key text, p_raw_bytes bigint, p_envelope_from text, p_peer_trusted boolean, p_sender text, p_outcome text,
  p_reason text, p_home text
) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, sender, home, turn, step, outcome, reason, ended_at)
  values (
    p_id, p_raw_key, p_raw_bytes, p_envelope_from, p_peer_trusted, p_sender, p_home,
    coalesce(
      (select c.id::text from customers c where c.email = p_sender and c.deleted_at is null), ''
    ),
    case when p_outcome is null then 'received' else 'ended' end, p_outcome, p_reason,
    case when p_outcome is not null then clock_timestamp() end
  )
  on conflict (id) do nothing
$$;
