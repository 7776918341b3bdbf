import { Effect, Schema } from "effect"

import { JobStatus } from "../../../domain/conversion/job.ts"
import type { FileFilter } from "../../../domain/conversion/lookup.ts"
import { FILE_ROOM, NoRoomForFile } from "../../../domain/conversion/stored-files.ts"
import { type CustomerId, FileId, JobId, FlyerId } from "../../../domain/ids.ts"
import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { ReadSql, WriteSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { interval, midnight, toJsonText } from "../values.ts"
import { ask, FILE_COLUMNS, FILE_FROM, FileRow, QueuedRow, REASONS, toFile } from "./rows.ts"
import { FLYER_WAITING, WaitRow, WAITING } from "./waiting.ts"

const Requested = Schema.Literals(["queued", "not_found", "active", "insufficient"])

type Store = ConversionStore["Service"]

const ONE = `select ${FILE_COLUMNS} from ${FILE_FROM} where f.id = $1::uuid and f.customer_id = $2::uuid and f.deleted_at is null`
const ENTERED = `select ${FILE_COLUMNS} from ${FILE_FROM} where f.id = $1::uuid`
const BY_ID = `select ${FILE_COLUMNS} from ${FILE_FROM} where f.id = any ($1::uuid[]) and f.deleted_at is null`

/** Files of an owner with a reference, and files of bulk orders with it. */
const REFERRED = (owner: string, reference: string) =>
  `select x.id from files x where x.customer_id = ${owner}::uuid and x.reference = ${reference}
    union select i.file_id from bulk_orders o join bulk_items i on i.bulk_id = o.id
    where o.customer_id = ${owner}::uuid and o.reference = ${reference}`

/** Which files a list shows. */
const conditionsOf = (
  customerId: CustomerId,
  { bulkId, name, reference, since, status, until }: FileFilter,
  bind: (value: string) => string
): ReadonlyArray<string> => [
  `f.customer_id = ${bind(customerId)}::uuid`,
  "f.deleted_at is null",
  ...(reference === undefined ? [] : [`f.id in (${REFERRED(bind(customerId), bind(reference))})`]),
  ...(bulkId === undefined
    ? []
    : [`f.id in (select i.file_id from bulk_items i where i.bulk_id = ${bind(bulkId)}::uuid)`]),
  ...(status === undefined ? [] : [`f.status = ${bind(status)}`]),
  ...(name === undefined ? [] : [`strpos(lower(f.name), lower(${bind(name)})) > 0`]),
  ...(since === undefined ? [] : [`f.created_at >= ${midnight(bind(since))}`]),
  ...(until === undefined ? [] : [`f.created_at < ${midnight(bind(until))} + interval '1 day'`])
]

const ROOM = `select coalesce((
    select count(f.id) < ($2::jsonb -> c.plan_type ->> 'files')::bigint
      and coalesce(sum(f.size_bytes), 0) < ($2::jsonb -> c.plan_type ->> 'bytes')::numeric
    from customers c left join files f on f.customer_id = c.id and f.deleted_at is null
    where c.id = $1::uuid
    group by c.plan_type
  ), true) as answer`

// Retried after a lost answer: adding the same file a second time changes nothing.
const ADD = "select add_file($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8::jsonb, $9::jsonb, $10) as answer"

export const filesOn = (
  read: ReadSql["Service"],
  write: WriteSql["Service"]
): Pick<
  Store,
  | "hasRoom"
  | "addFile"
  | "files"
  | "file"
  | "filesById"
  | "jobStatus"
  | "waitFacts"
  | "flyerWaitFacts"
  | "deleteFile"
> => ({
  hasRoom: (customerId) =>
    ask.answer("hasRoom", Schema.Boolean, read.unsafe(ROOM, [customerId, toJsonText(FILE_ROOM)])),
  addFile: (file) =>
    Effect.gen(function* () {
      const { customerId, id, kind, leftOut, name, objectKey, pages, reference, sizeBytes } = file
      const entry = [id, customerId, name, kind, sizeBytes, pages, objectKey]
      const also = [toJsonText(FILE_ROOM), leftOut ? toJsonText(leftOut) : null, reference ?? null]
      const answer = yield* ask.answer(
        "addFile",
        Schema.Literals(["added", "full"]),
        write.unsafe(ADD, [...entry, ...also])
      )
      if (answer === "full") return yield* new NoRoomForFile()
      return toFile(yield* ask.one("addFile", FileRow, write.unsafe(ENTERED, [id])))
    }),
  files: (customerId, { cursor, limit, ...filter }) =>
    newestFirst((text, parameters) => ask.stored("files", read.unsafe<StoredRow>(text, parameters)), {
      from: FILE_FROM,
      name: "f",
      columns: FILE_COLUMNS,
      conditions: (bind) => conditionsOf(customerId, filter, bind),
      limit,
      cursor
    }).pipe(
      Effect.flatMap(decodedPage("files", FileRow)),
      Effect.map(({ nextCursor, rows }) => ({ files: rows.map(toFile), nextCursor }))
    ),
  file: (fileId, customerId) =>
    Effect.map(
      ask.first("file", FileRow, read.unsafe(ONE, [fileId, customerId])),
      (row) => row && toFile(row)
    ),
  filesById: (ids) =>
    Effect.map(ask.rows("filesById", FileRow, read.unsafe(BY_ID, [ids])), (rows) => rows.map(toFile)),
  jobStatus: (jobId) =>
    Effect.map(
      ask.first(
        "jobStatus",
        Schema.Struct({ status: JobStatus }),
        read`select status from large_conversion_jobs where id = ${jobId}::uuid`
      ),
      (row) => row?.status
    ),
  waitFacts: (fileId) => ask.first("waitFacts", WaitRow, read.unsafe(WAITING, [fileId])),
  flyerWaitFacts: (flyerId) => ask.first("flyerWaitFacts", WaitRow, read.unsafe(FLYER_WAITING, [flyerId])),
  deleteFile: (fileId, customerId) =>
    ask.answer(
      "deleteFile",
      Schema.Literals(["deleted", "not_found", "finishing"]),
      write`select delete_file(${fileId}::uuid, ${customerId}::uuid, ${REASONS}::jsonb) as answer`
    )
})

/** The objects of files that are gone. */
export const purgingOn = (
  read: ReadSql["Service"],
  write: WriteSql["Service"]
): Pick<ConversionStore["Service"], "filesToPurge" | "filePurged" | "withoutObjects"> => ({
  filesToPurge: (limit) =>
    ask.rows(
      "filesToPurge",
      Schema.Struct({ id: FileId, jobIds: Schema.Array(Schema.Union([JobId, FlyerId])) }),
      read`select f.id, array(
            select j.id from large_conversion_jobs j where j.file_id = f.id
            union select x.id from flyer_jobs x where x.file_id = f.id
            union select f.job_id where f.job_id is not null
          ) as job_ids
          from files f where f.deleted_at is not null and f.purged_at is null order by f.deleted_at limit ${limit}`
    ),
  filePurged: (fileId) =>
    ask.done("filePurged", write`update files set purged_at = clock_timestamp() where id = ${fileId}::uuid`),
  withoutObjects: (ids) =>
    Effect.map(
      ask.rows(
        "withoutObjects",
        Schema.Struct({ id: FileId }),
        write`select x.id from jsonb_array_elements_text(${toJsonText(ids)}::jsonb) as x(id)
          where (select f.purged_at is null from files f where f.id = x.id::uuid) is not true`
      ),
      (rows) => rows.map(({ id }) => id)
    )
})

/** The requests for their conversion. */
export const requestsOn = (
  read: ReadSql["Service"],
  write: WriteSql["Service"]
): Pick<Store, "request" | "nextQueued" | "createJob" | "cancel"> => ({
  request: ({ bulkId, customerId, fileId, jobId, options, window }) =>
    ask.answer(
      "request",
      Requested,
      write`select request_conversion(
        ${jobId}::uuid, ${fileId}::uuid, ${customerId}::uuid, ${toJsonText(options)}::jsonb,
        ${interval(window)}::interval, ${bulkId ?? null}::uuid
      ) as answer`
    ),
  nextQueued: ask.first(
    "nextQueued",
    QueuedRow,
    read`select q.job_id, q.file_id, f.pages, q.options
      from (
        (select q.customer_id, false as wrapped from convert_queue q
          where q.customer_id > (select t.customer_id from work_turns t where t.kind = 'request')
          order by q.customer_id limit 1)
        union all
        (select q.customer_id, true from convert_queue q order by q.customer_id limit 1)
        order by wrapped limit 1
      ) o
      cross join lateral (
        select * from convert_queue q where q.customer_id = o.customer_id order by q.created_at limit 1
      ) q
      join files f on f.id = q.file_id`
  ),
  createJob: (jobId, { chunkPages, options, status }) =>
    ask.answer(
      "createJob",
      Schema.Boolean,
      write`select create_conversion_job(
        ${jobId}::uuid, ${status}, ${chunkPages}::integer, ${toJsonText(options)}::jsonb
      ) as answer`
    ),
  cancel: (jobId) =>
    ask.answer(
      "cancel",
      Schema.Literals(["cancelled", "finishing", "not_active"]),
      write`select cancel_conversion_job(${jobId}::uuid) as answer`
    )
})
