import { OVERDUE_MINUTES, OVERDUE_WINDOW_HOURS } from "../../../domain/delivery/alarm-rules.ts"

/** Deferrals without a row of their retry, and of no mail that was accepted: it never began, or its end was not recorded. */
export const OVERDUE = `(
  select count(distinct l.key_hash)::int from email_log l
  where l.status = 'deferred' and l.created_at > now() - interval '${OVERDUE_WINDOW_HOURS} hours'
    and l.retry_at < now() - interval '${OVERDUE_MINUTES} minutes'
    and not exists (
      select from email_log n
      where n.key_hash = l.key_hash and n.outcome is not null
        and (n.created_at > l.created_at or n.outcome = 'sent' and n.created_at > l.created_at - interval '23 hours 50 minutes')
    )
)`
