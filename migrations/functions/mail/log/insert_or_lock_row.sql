-- Writes the row of an attempt, or locks the one that it has: of its message, made by an event, or of its entry, written before. A
-- row that was written just now has no `created_at` in the answer. An acceptance gets a separate row where its row has ended
-- otherwise, or as another message (MAIL-58): a retry that was recorded as failed, but that its queue never learned of, comes back,
-- and a provider that dedupes may accept it then. Without that row the only evidence would be lost, and the next call on the key
-- would send again. A step of `record_email_sends`. By its message a row is looked for as in `write_rows_of_events`.
create or replace function insert_or_lock_row(e email_log_row) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log;
  v_row email_log_row := e;
  v_is_its_own boolean;
begin
  loop
    -- Looked for first: an insert that waits for its message's row holds its own id, which this transaction may need as it has that row.
    if not mail_has_row(e.provider, e.provider_message_id) and insert_new_rows(array[v_row]) then
      r := null;
      r.id := v_row.id;
      r.status := e.outcome;
      r.provider_message_id := e.provider_message_id;
      return r;
    end if;
    select * into r from email_log l
    where l.provider = e.provider and l.provider_message_id between e.provider_message_id and e.provider_message_id
    order by l.provider_message_id
    limit 1
    for update;
    if found then
      return r;
    end if;
    select * into strict r from email_log l where l.id = e.id for update;
    v_is_its_own := e.provider_message_id is null or coalesce(
      r.provider_message_id is null and email_status_rank(e.outcome) > email_status_rank(r.outcome), true);
    if v_is_its_own and e.provider_message_id is not null and r.provider_message_id is null then
      begin
        update email_log l set provider = coalesce(l.provider, e.provider), provider_message_id = e.provider_message_id
        where l.id = r.id
        returning * into r;
      exception when unique_violation then
        continue; -- An event made the row of the message meanwhile.
      end;
    end if;
    if v_is_its_own then
      return r;
    end if;
    v_row.id := gen_random_uuid();
  end loop;
end
$$;
