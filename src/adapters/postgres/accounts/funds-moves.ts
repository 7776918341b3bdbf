import { Effect, Schema } from "effect"

import { FileId, WorkId } from "../../../domain/ids.ts"
import type { Accounts } from "../../../ports/accounts/accounts.ts"
import type { ReadSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { statements } from "../statement.ts"
import { TextOrNull, timeColumn } from "../values.ts"

const ask = statements({ within: "5 seconds" })

/** What moved a customer's funds. */
const MOVES = `(
  select c.id, c.created_at, c.customer_id, 'charge' as kind, c.credits, c.free_pages, c.job_id from credit_charges c
  union all
  select g.id, g.created_at, g.customer_id, case when g.credits > 0 then 'grant' else 'debit' end, abs(g.credits), 0, null
  from credit_grants g
) m`

/** What a charge or a hold `m` is for; a deleted file has no name any more. Look-ups: `exists` could read all flyers and mails. */
const WORK = `m.job_id,
  case
    when m.job_id is null then null
    when (select true from flyer_jobs x where x.id = m.job_id) then 'layout'
    when (select true from intake_mails x where x.id = m.job_id) then 'mail'
    else 'conversion'
  end as work,
  w.id as file_id, coalesce(w.name, (select x.filename from intake_mails x where x.id = m.job_id)) as name`

const WITH_WORK = `left join lateral (
  select f.name, f.id from files f
  where f.customer_id = m.customer_id and f.deleted_at is null and f.id = coalesce(
    (select j.file_id from large_conversion_jobs j where j.id = m.job_id),
    (select x.file_id from flyer_jobs x where x.id = m.job_id),
    (select x.id from files x where x.job_id = m.job_id limit 1)
  )
) w on true`

const work = {
  jobId: Schema.NullOr(WorkId),
  work: Schema.NullOr(Schema.Literals(["conversion", "layout", "mail"])),
  fileId: Schema.NullOr(FileId),
  name: TextOrNull
}

const MoveRow = Schema.Struct({
  id: Schema.String,
  createdAt: Schema.String,
  kind: Schema.Literals(["charge", "grant", "debit"]),
  credits: Schema.Int,
  freePages: Schema.Int,
  ...work
})

const HoldRow = Schema.Struct({
  createdAt: Schema.String,
  expiresAt: Schema.String,
  credits: Schema.Int,
  freePages: Schema.Int,
  ...work
})

/** What moved an account's funds, and what is set aside. */
export const movesOn = (sql: ReadSql["Service"]): Pick<Accounts["Service"], "moves" | "holds"> => ({
  moves: (customerId, { cursor, limit }) =>
    newestFirst((text, parameters) => ask.stored("moves", sql.unsafe<StoredRow>(text, parameters)), {
      from: `${MOVES} ${WITH_WORK}`,
      name: "m",
      columns: `m.id, ${timeColumn("created_at", "m.created_at")}, m.kind, m.credits, m.free_pages, ${WORK}`,
      conditions: (bind) => [`m.customer_id = ${bind(customerId)}::text::uuid`],
      limit,
      cursor
    }).pipe(Effect.flatMap(decodedPage("moves", MoveRow))),
  holds: (customerId) =>
    ask.rows(
      "holds",
      HoldRow,
      sql.unsafe(
        `select ${timeColumn("created_at", "m.created_at")}, ${timeColumn("expires_at", "m.expires_at")}, m.credits, m.free_pages, ${WORK}
        from funds_holds m ${WITH_WORK}
        where m.customer_id = $1::uuid and m.state = 'held' and m.expires_at > clock_timestamp() and m.credits + m.free_pages > 0
        order by m.created_at desc, m.id desc`,
        [customerId]
      )
    )
})
