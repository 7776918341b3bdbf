-- Notes how far a process's clock is off; an entry that is not renewed goes after a day. Called by `AlarmBoard`.
create or replace function note_clock_difference(p_process text, p_difference_ms float8) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from clock_differences where process <> p_process and noted_at < clock_timestamp() - interval '1 day';
  insert into clock_differences (process, difference_ms, noted_at)
  values (p_process, p_difference_ms, clock_timestamp())
  on conflict (process) do update set difference_ms = excluded.difference_ms, noted_at = excluded.noted_at;
$$;
