import { Clock, Effect, Layer, Schema } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { makeShareLinks } from "../../../domain/conversion/share-token.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import { ReadSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { ask } from "./rows.ts"

const FileRow = Schema.Struct({ fileName: Schema.String, sender: Schema.String })
const ResultRow = Schema.Struct({ fileName: Schema.String, resultKey: Schema.String })

/** Links to results, keyed by a random key in the database. */
export const layer = (options: {
  /** Without a trailing slash. */
  readonly baseUrl: string
}): Layer.Layer<SharedFiles, never, ReadSql | Mac.Mac> =>
  Layer.effect(
    SharedFiles,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const links = yield* makeShareLinks({ ...options, key: readLinkKey(sql, "share_keys") })

      return SharedFiles.of({
        link: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const file = yield* ask.first(
            "linkFile",
            FileRow,
            sql`select f.name as file_name, coalesce(c.name, c.email) as sender
                from files f join customers c on c.id = f.customer_id
                where f.id = ${fileId}::uuid and f.customer_id = ${customerId}::uuid and f.deleted_at is null
                  and c.deleted_at is null`
          )
          if (file === undefined) return undefined
          const link = yield* links.from(fileId, yield* Clock.currentTimeMillis)
          return { ...file, ...link }
        }),
        urlFrom: (fileId, from) => Effect.map(links.from(fileId, from.getTime()), ({ url }) => url),
        open: Effect.fnUntraced(function* (token) {
          const fileId = yield* links.fileOf(token)
          if (fileId === undefined) return undefined
          return yield* ask.first(
            "openLink",
            ResultRow,
            sql`select f.name as file_name, f.result_key from files f join customers c on c.id = f.customer_id
                where f.id = ${fileId}::uuid and f.deleted_at is null and f.result_key is not null
                  and c.deleted_at is null`
          )
        })
      })
    })
  )
