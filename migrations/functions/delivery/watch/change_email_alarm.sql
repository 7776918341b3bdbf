-- Moves an alarm from the state that its caller read to the next and keeps the notice, if there is one to keep. False, and
-- nothing is written, where another caller moved it first. Times are milliseconds of the epoch.
create or replace function change_email_alarm(
  p_name text,
  p_was_firing boolean,
  p_was_episode integer,
  p_was_calm_since float8,
  p_firing boolean,
  p_episode integer,
  p_calm_since float8,
  p_notice text,
  p_detail text
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_alarms (name, firing, episode, since, detail) values (p_name, false, 0, now(), '')
  on conflict (name) do nothing;
  update email_alarms a set
    firing = p_firing,
    episode = p_episode,
    calm_since = to_timestamp(p_calm_since / 1000),
    since = case when p_notice is null then a.since else clock_timestamp() end,
    detail = case when p_notice is null then a.detail else p_detail end
  where a.name = p_name
    and a.firing = p_was_firing
    and a.episode = p_was_episode
    and a.calm_since is not distinct from to_timestamp(p_was_calm_since / 1000);
  if not found then
    return false;
  end if;
  if p_notice is not null then
    insert into email_alarm_notices (alarm, episode, kind, detail) values (p_name, p_episode, p_notice, p_detail);
  end if;
  return true;
end
$$;
