-- Locks or makes the rows of events' mails, each at its place in the order, and folds the events into them. A step of
-- `record_email_events`, which sets the planner for it.
--
-- The condition on the message id is a `between`, ordered as in the unique index: only that index matches. With `=` the planner takes any
-- index that begins with the provider for as long as the log looks empty to it, and then every event reads all rows of the provider.
create or replace function write_rows_of_events(p_mails events_of_mail[], p_hooked boolean) returns recorded_event[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  n record;
  m record;
  f record;
  v_rows email_log[];
  v_recorded recorded_event[] := '{}';
begin
  loop
    n := write_rows_of_new_mails(p_mails, p_hooked);
    continue when n.known is null;
    v_recorded := v_recorded || n.recorded;
    exit when n.known = '{}';
    p_mails := '{}';
    v_rows := '{}';
    for m in
      select x as mail, l.stored
      from unnest(n.known) as x
      left join lateral (
        select l as stored from email_log l
        where l.provider = x.provider and l.provider_message_id between x.provider_message_id and x.provider_message_id
        order by l.provider_message_id
        limit 1
        for no key update
      ) as l on true
    loop
      if m.stored is null then
        p_mails := p_mails || m.mail; -- Its row went meanwhile.
        continue;
      end if;
      f := fold_events_of_mail(m.stored, (m.mail).events, p_hooked);
      v_recorded := v_recorded || f.recorded;
      if f.r *<> m.stored then
        v_rows := v_rows || f.r;
      end if;
    end loop;
    if v_rows <> '{}' then
      perform update_rows_of_events(v_rows);
    end if;
    exit when p_mails = '{}';
  end loop;
  return v_recorded;
end
$$;
