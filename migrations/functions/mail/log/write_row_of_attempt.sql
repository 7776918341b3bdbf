-- Writes one attempt into a new row or into the row of its mail. `marks`: suppressions that the row's earlier events asked for. `learned`:
-- see `learned_of_row`; null for a new row. `is_news`: false for a repeated entry. A step of `record_email_sends`; its settings apply.
create or replace function write_row_of_attempt(
  e email_log_row, out send_id uuid, out status text, out provider_message_id text, out marks text[], out learned jsonb,
  out is_news boolean
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log := lock_early_row(e);
  v_found boolean;
begin
  if r.id is null then
    r := insert_or_lock_row(e);
  end if;
  v_found := r.created_at is not null;
  marks := '{}';
  is_news := not v_found or r.outcome is null or email_status_rank(e.outcome) > email_status_rank(r.outcome);
  if v_found and r.outcome is null then
    marks := marks_of_recipient(r, e);
    r := complete_row_of_event(r, e, marks);
  elsif v_found and is_news then
    r := move_row_by_attempt(r, e);
  end if;
  if v_found or r.id <> e.id then
    learned := learned_of_row(r, e);
  end if;
  send_id := r.id;
  status := r.status;
  provider_message_id := r.provider_message_id;
end
$$;
