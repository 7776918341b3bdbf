-- Whether the words of a log row belong to their closed sets (MAIL-6, MAIL-71, EVENT-10). One call, since a check with
-- lists of literals is parsed anew by every statement, which costs more than the insert.
create or replace function email_log_words_are_known(p_category text, p_outcome text, p_status text, p_error_kind text)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_status in ('deferred', 'sent', 'delivery_delayed', 'delivered', 'opened', 'clicked',
      'suppressed', 'failed', 'bounced', 'complained')
    and p_category in ('auth', 'transactional', 'notification', 'alert', 'marketing', 'unknown')
    and (p_outcome is null or p_outcome in ('sent', 'deferred', 'suppressed', 'failed'))
    and (p_error_kind is null or p_error_kind in ('rejected', 'unavailable', 'ambiguous'));
end
$$;
