import { Effect } from "effect"

import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { ReadSql } from "../client.ts"
import { FLYER_COLUMNS, FlyerJobRow, toFlyer } from "./rows.ts"
import { firstOf, rowsOf } from "./statement.ts"

/** Most flyer jobs of one list. */
const MAX_FLYERS = 100

const FROM = "from flyer_jobs x join files f on f.id = x.file_id and f.deleted_at is null"
const ONE = `select ${FLYER_COLUMNS} ${FROM} where x.id = $1::uuid and x.customer_id = $2::uuid`
const OF_FILE = `select ${FLYER_COLUMNS} ${FROM} where x.file_id = $1::uuid and x.customer_id = $2::uuid
order by x.created_at desc, x.id desc limit ${MAX_FLYERS}`

/** Flyer jobs as their owners see them. */
export const flyersOn = (
  read: ReadSql["Service"]
): Pick<ConversionStore["Service"], "flyer" | "flyersOf"> => ({
  flyer: (flyerId, customerId) =>
    Effect.map(firstOf(FlyerJobRow, read.unsafe(ONE, [flyerId, customerId])), (row) => row && toFlyer(row)),
  flyersOf: (fileId, customerId) =>
    Effect.map(rowsOf(FlyerJobRow, read.unsafe(OF_FILE, [fileId, customerId])), (rows) => rows.map(toFlyer))
})
