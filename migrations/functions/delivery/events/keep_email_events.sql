-- Keeps events of rows that their caller has locked: the first 50 of a mail and the last 50, so that a link that is clicked a
-- million times costs no more. One that comes again is kept once: the same event of the same time with the same body, and of the
-- list, which has no times, the same event. `number` counts the events of a mail from 1: a statement takes one of each. Then event
-- hooks get `p_first`, and what was kept: the entries of `p_for_hooks` at the same places as in `p_events`, without what the list repeats after a webhook.
-- The last step of a transaction, because of the locks that this takes.
create or replace function keep_email_events(
  p_events email_events[], p_for_hooks hook_event[] default null, p_first hook_event[] default '{}'
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_turn integer := 0;
  v_turns integer := (select max(e.number) from unnest(p_events) as e);
  v_kept email_events[];
  v_long uuid[];
  v_news integer[] := '{}';
begin
  while v_turn < v_turns
  loop
    v_turn := v_turn + 1;
    with kept as (
      insert into email_events as i (send_id, number, event, occurred_at, listed, raw, raw_bytes)
      select e.send_id, k.last + 1, e.event, coalesce(e.occurred_at, clock_timestamp()), e.listed,
        case when e.raw_bytes <= 32768 then e.raw end, e.raw_bytes
      from unnest(p_events) as e
      cross join lateral (
        select coalesce(max(x.number), 0) as last,
          bool_or(
            x.event = e.event and x.listed = e.listed
              and (e.listed or (e.occurred_at is null or x.occurred_at = e.occurred_at) and (x.raw is null or x.raw = e.raw))
          ) as known
        from email_events x
        where x.send_id = e.send_id
      ) as k
      where e.number = v_turn and k.known is not true
      returning i.send_id, i.number, i.event, i.listed
    )
    select
      array_agg(row(k.send_id, k.number, k.event, null, k.listed, null, null)::email_events) filter (where p_for_hooks is not null),
      array_agg(k.send_id) filter (where k.number > 100)
    into v_kept, v_long
    from kept k;
    if v_kept is not null then
      v_news := v_news || array(
        select e.place
        from unnest(v_kept) as k
        join unnest(p_events) with ordinality as e(send_id, number, event, occurred_at, listed, raw, raw_bytes, place)
          on e.send_id = k.send_id and e.number = v_turn
        where not k.listed or (
          -- A look-up; `exists` could be answered by a list of all events.
          select true from email_events x where x.send_id = k.send_id and x.event = k.event and x.number <> k.number limit 1
        ) is not true
      )::integer[];
    end if;
    if v_long is not null then
      delete from email_events x
      where x.send_id = any (v_long) and x.number > 50
        and x.number <= (select max(y.number) from email_events y where y.send_id = x.send_id) - 50;
    end if;
  end loop;
  if p_for_hooks is not null then
    perform tell_hooks_of_events(p_first || array(
      select p_for_hooks[x.place] from unnest(v_news) as x(place) where (p_for_hooks[x.place]).type is not null
    ));
  end if;
end
$$;
