import { Effect } from "effect"

import { type JobReport, OtherWork } from "../../../ports/conversion/job-report.ts"
import type { SlowSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { timeColumn } from "../values.ts"

/** Work by its last change, newest first. A conversion in one go without a lease is pending. */
const FROM = `(
  select f.job_id as id, f.kind, f.id as file_id, f.customer_id,
    case when f.status = 'processing' and f.lease is null then 'pending' else f.status end as status,
    f.pages, f.attempts, f.error, f.updated_at as created_at
  from files f
  where f.kind <> 'pdf' and f.job_id is not null and f.deleted_at is null and f.status in ('processing', 'completed', 'failed')
  union all
  select x.id, 'layout', x.file_id, x.customer_id, x.status, f.pages, x.attempts, x.error, x.updated_at
  from flyer_jobs x join files f on f.id = x.file_id
) w left join files n on n.id = w.file_id left join customers c on c.id = w.customer_id`

const COLUMNS = `w.id, w.kind, w.file_id, n.name as file_name, c.email as customer_email, w.status, w.pages, w.attempts,
case when w.status = 'failed' then w.error end as error, ${timeColumn("created_at", "w.created_at")}, ${timeColumn("moved_at", "w.created_at")}`

/** Work that has no job. */
export const othersIn =
  (sql: SlowSql["Service"]): JobReport["Service"]["others"] =>
  ({ cursor, limit, status }) =>
    newestFirst((text, parameters) => slowReads.stored("others", sql.unsafe<StoredRow>(text, parameters)), {
      from: FROM,
      name: "w",
      columns: COLUMNS,
      conditions: (bind) => (status === undefined ? [] : [`w.status = ${bind(status)}`]),
      limit,
      cursor
    }).pipe(Effect.flatMap(decodedPage("others", OtherWork)))
