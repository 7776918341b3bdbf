import { Clock, Effect, Layer, Schema } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { firstMoment, makeShareLinks } from "../../../application/conversion/share-token.ts"
import { FileId } from "../../../domain/ids.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { IsoTime, storable } from "../values.ts"
import { ask } from "./rows.ts"

const FileRow = Schema.Struct({
  fileName: Schema.String,
  sender: Schema.String,
  sharesFrom: Schema.NullOr(Schema.Finite)
})
const ShareRow = Schema.Struct({ email: Schema.String, sharedAt: IsoTime, expiresAt: IsoTime })
const FileShareRow = Schema.Struct({ ...ShareRow.fields, fileId: FileId, fileName: Schema.String })
const NotedRow = Schema.Struct({ id: Schema.String, email: Schema.String })
const ResultRow = Schema.Struct({ fileName: Schema.String, resultKey: Schema.String })

type LinkOfShare = (fileId: FileId, shareId: string, until: string) => Effect.Effect<string, StoreUnavailable>

/** Recipients of shared results. */
const recipientsOf = (
  sql: ReadSql["Service"],
  write: WriteSql["Service"],
  links: { readonly ofShare: LinkOfShare }
): Pick<SharedFiles["Service"], "note" | "shares" | "allShares" | "stop" | "revoke"> => ({
  note: Effect.fnUntraced(function* ({ expiresAt, fileId, recipients }) {
    const now = yield* Clock.currentTimeMillis
    const noted = yield* ask.rows(
      "noteShares",
      NotedRow,
      write`insert into file_shares (file_id, email, shared_at, expires_at)
          select ${fileId}::uuid, email, to_timestamp(${now}::float8 / 1000), ${expiresAt}::timestamptz
          from unnest(${recipients.map(storable)}::text[]) as email
          on conflict (file_id, email) do update set shared_at = excluded.shared_at, expires_at = excluded.expires_at
          returning id, email`
    )
    return yield* Effect.forEach(noted, ({ email, id }) =>
      Effect.map(links.ofShare(fileId, id, expiresAt), (url) => ({ email, url }))
    )
  }),
  revoke: ({ customerId, email, fileId }) =>
    ask.answer(
      "revokeShare",
      Schema.Boolean,
      write`with gone as (
          delete from file_shares s using files f
          where f.id = ${fileId}::uuid and f.customer_id = ${customerId}::uuid and f.deleted_at is null
            and s.file_id = f.id and s.email = ${storable(email)} returning s.id
        ) select exists (select from gone) as answer`
    ),
  shares: ({ customerId, fileId }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      ask.rows(
        "shares",
        ShareRow,
        sql`select s.email, s.shared_at, s.expires_at from file_shares s join files f on f.id = s.file_id
          where f.id = ${fileId}::uuid and f.customer_id = ${customerId}::uuid and f.deleted_at is null
            and s.expires_at > to_timestamp(${now}::float8 / 1000)
          order by s.shared_at desc, s.email`
      )
    ),
  allShares: (customerId, limit) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      ask.rows(
        "allShares",
        FileShareRow,
        sql`select s.email, s.shared_at, s.expires_at, f.id as file_id, f.name as file_name
          from files f join file_shares s on s.file_id = f.id
          where f.customer_id = ${customerId}::uuid and f.deleted_at is null
            and s.expires_at > to_timestamp(${now}::float8 / 1000)
          order by s.shared_at desc, s.email, f.id limit ${limit}`
      )
    ),
  stop: ({ customerId, fileId }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      ask.answer(
        "stopShares",
        Schema.Boolean,
        write`with stopped as (
            update files set shares_from = to_timestamp(${now}::float8 / 1000)
            where id = ${fileId}::uuid and customer_id = ${customerId}::uuid and deleted_at is null returning id
          ), gone as (delete from file_shares s using stopped where s.file_id = stopped.id)
          select exists (select from stopped) as answer`
      )
    )
})

/** Links to results, keyed by a random key in the database. */
export const layer = (options: {
  /** Without a trailing slash. */
  readonly baseUrl: string
}): Layer.Layer<SharedFiles, never, ReadSql | WriteSql | Mac.Mac> =>
  Layer.effect(
    SharedFiles,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const write = yield* WriteSql
      const links = yield* makeShareLinks({ ...options, key: readLinkKey(sql, "share_keys") })

      return SharedFiles.of({
        link: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const file = yield* ask.first(
            "linkFile",
            FileRow,
            sql`select f.name as file_name, coalesce(c.name, c.email) as sender,
                  extract(epoch from f.shares_from)::float8 * 1000 as shares_from
                from files f join customers c on c.id = f.customer_id
                where f.id = ${fileId}::uuid and f.customer_id = ${customerId}::uuid and f.deleted_at is null
                  and c.deleted_at is null`
          )
          if (file === undefined) return undefined
          const { fileName, sender, sharesFrom } = file
          return { fileName, sender, ...(yield* links.from(fileId, yield* firstMoment(sharesFrom))) }
        }),
        urlFrom: (fileId, from) => Effect.map(links.from(fileId, from.getTime()), ({ url }) => url),
        ...recipientsOf(sql, write, links),
        open: Effect.fnUntraced(function* (token) {
          const link = yield* links.read(token)
          if (link === undefined) return undefined
          return yield* ask.first(
            "openLink",
            ResultRow,
            sql`select f.name as file_name, f.result_key from files f join customers c on c.id = f.customer_id
                where f.id = ${link.fileId}::uuid and f.deleted_at is null and f.result_key is not null
                  and c.deleted_at is null
                  and (f.shares_from is null or f.shares_from < to_timestamp(${link.madeAt}::float8))
                  and (${link.shareId ?? null}::uuid is null or exists (
                    select from file_shares s where s.file_id = f.id and s.id = ${link.shareId ?? null}::uuid))`
          )
        })
      })
    })
  )
