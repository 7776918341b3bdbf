-- Suppresses by events of mails that have lost their row: after ten minutes no process writes it any more, and the recipients are
-- those that the events name (EVENT-14). Returns how many rows it went through; the leader calls again while it returns `p_limit`.
create or replace function suppress_lost_email_rows(p_limit integer default 1000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  r record;
  v_marks text[];
  v_suppress text[] := '{}';
  v_count integer := 0;
begin
  for r in
    select l.id, l.to_addresses, l.suppression_marks from email_log l
    where l.outcome is null and l.suppression_marks && array['hard_bounce:', 'complaint:']
      and l.created_at < now() - interval '10 minutes'
    limit p_limit
    for update skip locked
  loop
    v_marks := array(
      select x.mark || r.to_addresses[1] from unnest(r.suppression_marks) as x(mark)
      where x.mark like '%:' and email_distinct_count(r.to_addresses) = 1
        and x.mark || r.to_addresses[1] <> all (r.suppression_marks)
    );
    v_suppress := v_suppress || v_marks;
    update email_log l set
      suppression_marks = array(select x.mark from unnest(r.suppression_marks) as x(mark) where x.mark not like '%:') || v_marks,
      updated_at = now()
    where l.id = r.id;
    v_count := v_count + 1;
  end loop;
  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event of a mail whose row was lost');
  end if;
  return v_count;
end
$$;
