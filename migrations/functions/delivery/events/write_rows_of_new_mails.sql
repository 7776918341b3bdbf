-- Writes the rows of mails that have none, with what their events say, and locks those of the other mails, each at its place in the
-- order; these are `known`, and their events not folded yet. All of it or, where a row came or went meanwhile, nothing: `known` is null
-- then, and the caller begins again. A step of `record_email_events`.
create or replace function write_rows_of_new_mails(
  p_mails events_of_mail[], p_hooked boolean, out known events_of_mail[], out recorded recorded_event[]
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m events_of_mail;
  f record;
  r email_log;
  e delivery_event;
  v_rows email_log[] := '{}';
  v_new uuid[] := '{}';
begin
  known := '{}';
  recorded := '{}';
  foreach m in array p_mails
  loop
    if mail_has_row(m.provider, m.provider_message_id) then
      known := known || m;
    else
      e := m.events[1];
      r := new_row_of_event(e);
      if e.key_tag is not null then
        r.key_hash := key_of_tag(e.key_tag);
      end if;
      f := fold_events_of_mail(r, m.events, p_hooked);
      v_rows := v_rows || f.r;
      v_new := v_new || r.id;
      recorded := recorded || f.recorded;
    end if;
  end loop;
  if v_new <> '{}' then
    if known <> '{}' then
      v_rows := v_rows || array(select new_row_of_event(x.events[1]) from unnest(known) as x);
    end if;
    if v_new <> insert_or_lock_rows(v_rows) then
      raise sqlstate 'PLNEW';
    end if;
  end if;
exception
  -- No unique index of somebody else's: its refusal would come again and again.
  when sqlstate 'PLNEW' then
    known := null;
end
$$;
