import { Schema } from "effect"

import { RECENT_MINUTES } from "../../../domain/delivery/alarm-rules.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { EXPIRED, SET_ASIDE } from "../../../domain/mail/queue.ts"

export const queueColumns = {
  oldestDueMs: Schema.Finite,
  queueDeferred: Schema.Int,
  setAside: Schema.Int,
  givenUp: Schema.Int
}

/** Most requests that are counted: the alarm needs no more. */
const MAX_DEFERRED = 1_000

/**
 * The requests that are due, the oldest of each provider and category first: `most` of each, as rows `due (lane, at)`. Read by index, so that a
 * million which wait for later cost nothing.
 */
export const dueRequests = (most: number) => `(
  select l.lane, q.at
  from (values ${["", ...Provider.literals].map((name) => `('${name}')`).join(", ")}) as p(provider)
  cross join generate_series(1, cardinality(email_queue_lanes())) as l(lane)
  cross join lateral (
    select x.due_at as at from email_send_queue x
    where x.provider = p.provider and x.lane = l.lane and x.due_at <= now() order by x.due_at limit ${most}
  ) as q
) as due`

/** The request of each state and category that was refused, and has waited for longest: each refusal moves its due time on. */
const REFUSED = `(
  select l.lane, q.at
  from unnest('{queued,sending,deferred}'::text[]) as s(state)
  cross join generate_series(1, cardinality(email_queue_lanes())) as l(lane)
  cross join lateral (
    select greatest(x.first_taken_at, x.send_at) as at from email_send_queue x
    where x.state = s.state and x.lane = l.lane and x.refusals > 0 and x.due_at is not null order by 1 limit 1
  ) as q
)`

const ended = (what: string) => `(
  select count(*)::int from email_send_queue q
  where q.ended_at > now() - interval '${RECENT_MINUTES} minutes' and q.state = 'failed' and ${what}
)`

/** Waits of people's choice do not count. Of what ended, a refusal that was not put back shows that the time of a request was over. */
export const QUEUE_MEASURES = `(
    select greatest(0, coalesce(extract(epoch from clock_timestamp() - min(x.at)) * 1000, 0))::float8
    from (select * from ${dueRequests(1)} union all select * from ${REFUSED} as refused) as x
    where not exists (select from email_queue_pauses p where p.scope in ('*', (email_queue_lanes())[x.lane]))
  ) as oldest_due_ms,
  (select count(*)::int from (
    select from email_send_queue q where q.state = 'deferred' and q.due_at is not null limit ${MAX_DEFERRED}
  ) as x) as queue_deferred,
  ${ended(`q.error = '${SET_ASIDE}'`)} as set_aside,
  ${ended(`(q.error = '${EXPIRED}' or q.result ->> 'kind' = 'unavailable')`)} as given_up`
