-- Hands a mail back, to be claimed again after `p_after`; the attempt counts where `p_counts`.
create or replace function hand_back_mail(p_id uuid, p_lease uuid, p_after interval, p_counts boolean) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_mails set
    lease = null, heartbeat_at = null, not_before = clock_timestamp() + p_after,
    attempts = case when p_counts then attempts else greatest(attempts - 1, 0) end
  where id = p_id and lease = p_lease and step <> 'ended';
  return found;
end
$$;
