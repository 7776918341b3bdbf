import { Schema } from "effect"

import { RECENT_MINUTES } from "../../../domain/delivery/alarm-rules.ts"
import { EXPIRED, SET_ASIDE } from "../../../domain/mail/queue.ts"

export const queueColumns = { oldestDueMs: Schema.Finite, setAside: Schema.Int, givenUp: Schema.Int }

const ended = (what: string) => `(
  select count(*)::int from email_send_queue q
  where q.ended_at > now() - interval '${RECENT_MINUTES} minutes' and q.state = 'failed' and ${what}
)`

/** Waits of people's choice do not count. Of what ended, a refusal that was not put back shows that the time of a request was over. */
export const QUEUE_MEASURES = `(
    select greatest(0, coalesce(extract(epoch from clock_timestamp() - min(q.due_at)) * 1000, 0))::float8 from email_send_queue q
    where q.due_at is not null and not exists (select from email_queue_pauses p where p.scope in ('*', q.category))
  ) as oldest_due_ms,
  ${ended(`q.error = '${SET_ASIDE}'`)} as set_aside,
  ${ended(`(q.error = '${EXPIRED}' or q.result ->> 'kind' = 'unavailable')`)} as given_up`
