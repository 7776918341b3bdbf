import { Effect, Schema } from "effect"

import { FAILURES } from "../../../domain/conversion/failures.ts"
import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { ReadSql, WriteSql } from "../client.ts"
import { interval, toJsonText } from "../values.ts"
import { ask, costsText, FLYER_COLUMNS, FlyerJobRow, FlyerRow, heldBy, REASONS } from "./rows.ts"

type Store = ConversionStore["Service"]

/** Most flyer jobs of one list. */
const MAX_FLYERS = 100

const FROM = "from flyer_jobs x join files f on f.id = x.file_id and f.deleted_at is null"
const ONE = `select ${FLYER_COLUMNS} ${FROM} where x.id = $1::uuid and x.customer_id = $2::uuid`
const OF_FILE = `select ${FLYER_COLUMNS} ${FROM} where x.file_id = $1::uuid and x.customer_id = $2::uuid
order by x.created_at desc, x.id desc limit ${MAX_FLYERS}`

/** Flyer jobs as their owners see them, start and stop them. */
export const flyersOn = (
  read: ReadSql["Service"],
  sql: WriteSql["Service"]
): Pick<Store, "flyer" | "flyersOf" | "requestFlyer" | "cancelFlyer" | "requestReflow"> => ({
  flyer: (flyerId, customerId) => ask.first("flyer", FlyerJobRow, read.unsafe(ONE, [flyerId, customerId])),
  flyersOf: (fileId, customerId) =>
    ask.rows("flyersOf", FlyerJobRow, read.unsafe(OF_FILE, [fileId, customerId])),
  requestFlyer: ({ customerId, fileId, id, window }) =>
    ask.answer(
      "requestFlyer",
      Schema.Literals(["queued", "not_found", "active", "insufficient", "unsupported"]),
      sql`select request_flyer(
        ${id}::uuid, ${fileId}::uuid, ${customerId}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  cancelFlyer: (flyerId, customerId) =>
    ask.answer(
      "cancelFlyer",
      Schema.Literals(["cancelled", "not_active", "not_found"]),
      sql`select cancel_flyer_job(
        ${flyerId}::uuid, ${customerId}::uuid, ${FAILURES.stopped}
      ) as answer`
    ),
  requestReflow: ({ customerId, flyerId, jobId, options, window }) =>
    ask.answer(
      "requestReflow",
      Schema.Literals(["queued", "not_found", "active", "insufficient", "resolved"]),
      sql`select request_reflow(
        ${flyerId}::uuid, ${customerId}::uuid, ${jobId}::uuid, ${toJsonText(options)}::jsonb,
        ${interval(window)}::interval
      ) as answer`
    )
})

/** The layout-true conversion of a flyer job. */
export const flyerWorkOn = (
  sql: WriteSql["Service"]
): Pick<Store, "claimFlyer" | "heartbeatFlyer" | "finishFlyer" | "failFlyer"> => ({
  claimFlyer: (lease, stale, perOwner) =>
    Effect.map(
      ask.first(
        "claimFlyer",
        FlyerRow,
        sql`select * from claim_flyer(${lease}::uuid, ${interval(stale)}::interval, ${perOwner ?? null}::integer)`
      ),
      heldBy(lease)
    ),
  heartbeatFlyer: ({ id, lease }, window) =>
    ask.answer(
      "heartbeatFlyer",
      Schema.Boolean,
      sql`select heartbeat(
        'flyer', ${id}::uuid, ${lease}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  finishFlyer: ({ id, lease }, resultKey, costs, unreadablePages) =>
    ask.answer(
      "finishFlyer",
      Schema.Literals(["completed", "stale", "insufficient"]),
      sql`select complete_flyer(
        ${id}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb, ${unreadablePages ?? []}::integer[],
        ${REASONS}::jsonb
      ) as answer`
    ),
  failFlyer: ({ id, lease }, { costs, error, maxAttempts }) =>
    ask.answer(
      "failFlyer",
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_flyer(
        ${id}::uuid, ${lease}::uuid, ${error ?? null}, ${costsText(costs)}::jsonb, ${maxAttempts ?? null}::integer
      ) as answer`
    )
})
