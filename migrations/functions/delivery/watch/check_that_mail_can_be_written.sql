-- Writes what a send writes, for readiness. One row of the process is committed, to test the database's log; a claim and a row of
-- the send log are written and rolled back, to test the room in their files. Fails where one of them cannot be written.
create or replace function check_that_mail_can_be_written(p_process text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_key text := 'readiness ' || gen_random_uuid();
begin
  insert into readiness_checks (process, written_at) values (p_process, clock_timestamp())
  on conflict (process) do update set written_at = excluded.written_at;
  begin
    insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
    values (v_key, '', 'held', 'provider_a', false, v_key, clock_timestamp());
    insert into email_log (category, outcome, status, key_hash, subject) values ('unknown', 'failed', 'failed', v_key, v_key);
    raise exception using errcode = 'PL001', message = 'written, and taken back';
  exception when sqlstate 'PL001' then
    null;
  end;
  delete from readiness_checks where process <> p_process and written_at < clock_timestamp() - interval '1 day';
end
$$;
