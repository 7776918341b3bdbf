-- A row that is written by hand is completed: its outcome is there exactly while it is closed; one that is closed without is
-- what its reason says, else skipped. A submitted one has a deadline, after the shortest time-out and the 2 h of grace.
create or replace function batch_row_is_whole() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.state <> 'closed' then
    new.outcome := null;
    new.closed_at := null;
  elsif new.outcome is null then
    new.outcome := case when new.close_reason in ('collected', 'failed', 'expired') then new.close_reason else 'skipped' end;
    new.closed_at := coalesce(new.closed_at, clock_timestamp());
  end if;
  if new.state = 'submitted' then
    new.submitted_at := coalesce(new.submitted_at, clock_timestamp());
    new.deadline_at := coalesce(new.deadline_at, new.submitted_at + interval '26 hours');
  end if;
  return new;
end
$$;
