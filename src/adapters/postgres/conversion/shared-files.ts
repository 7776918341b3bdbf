import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { makeSignedTokens } from "../../../domain/accounts/tokens.ts"
import {
  MAX_SHARE_TOKEN,
  payloadOf,
  SHARE_LABEL,
  SHARE_SECONDS,
  type ShareSubject,
  subjectOf
} from "../../../domain/conversion/share-token.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { ReadSql } from "../client.ts"
import { firstOf } from "./statement.ts"

const KeyRow = Schema.Struct({
  key: Schema.Uint8Array.check(Schema.makeFilter((key) => key.length === 32))
})
const FileRow = Schema.Struct({ name: Schema.String, sender: Schema.String })
const ResultRow = Schema.Struct({ name: Schema.String, result_key: Schema.String })

/** The key of the links. The decoder's error is dropped: it would show the key. */
const readKey = (sql: ReadSql["Service"]) =>
  firstOf(Schema.Unknown, sql`select key from share_keys`).pipe(
    Effect.flatMap((row) =>
      Effect.mapError(
        Schema.decodeUnknownEffect(KeyRow)(row),
        () =>
          new StoreUnavailable({
            operation: "readKey",
            reason: "share_keys holds no key of 32 bytes",
            isRetryable: false
          })
      )
    ),
    Effect.map(({ key }) => Redacted.make(key))
  )

/**
 * Signed links to results: file id and expiry with an HMAC-SHA256 over both, keyed by a random key in the database. The same
 * expiry gives the same link, so that a mail with links can be sent again under its idempotency key.
 */
export const layer = (options: {
  /** Without a trailing slash. */
  readonly baseUrl: string
}): Layer.Layer<SharedFiles, never, ReadSql | Mac.Mac> =>
  Layer.effect(
    SharedFiles,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const tokens = yield* makeSignedTokens({
        label: SHARE_LABEL,
        maxLength: MAX_SHARE_TOKEN,
        key: readKey(sql)
      })
      const urlOf = (subject: ShareSubject) =>
        Effect.map(tokens.write(payloadOf(subject)), (token) => `${options.baseUrl}/shared/${token}`)
      const endOf = (fromMs: number) => Math.floor(fromMs / 1000) + SHARE_SECONDS

      return SharedFiles.of({
        link: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const file = yield* firstOf(
            FileRow,
            sql`select f.name, coalesce(c.name, c.email) as sender
                from files f join customers c on c.id = f.customer_id
                where f.id = ${fileId}::uuid and f.customer_id = ${customerId}::uuid and f.deleted_at is null
                  and c.deleted_at is null`
          )
          if (file === undefined) return undefined
          const expiresAt = endOf(yield* Clock.currentTimeMillis)
          return {
            fileName: file.name,
            sender: file.sender,
            url: yield* urlOf({ fileId, expiresAt }),
            expiresAt: new Date(expiresAt * 1000).toISOString()
          }
        }),
        urlFrom: (fileId, from) => urlOf({ fileId, expiresAt: endOf(from.getTime()) }),
        open: Effect.fnUntraced(function* (token) {
          const payload = yield* tokens.read(token)
          const subject = payload === undefined ? undefined : subjectOf(payload)
          if (subject === undefined) return undefined
          const { expiresAt, fileId } = subject
          if (expiresAt * 1000 <= (yield* Clock.currentTimeMillis)) return undefined
          const row = yield* firstOf(
            ResultRow,
            sql`select f.name, f.result_key from files f join customers c on c.id = f.customer_id
                where f.id = ${fileId}::uuid and f.deleted_at is null and f.result_key is not null
                  and c.deleted_at is null`
          )
          return row === undefined ? undefined : { fileName: row.name, resultKey: row.result_key }
        })
      })
    })
  )
