-- True for the first reply of the day to `p_sender`, who has no account.
create or replace function first_today(p_sender text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into intake_strangers as s (sender, replied_at) values (p_sender, clock_timestamp())
  on conflict (sender) do update set replied_at = clock_timestamp()
    where s.replied_at <= clock_timestamp() - interval '1 day';
  return found;
end
$$;
