import { Clock, Effect, Layer, Schema } from "effect"
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
import { ReadSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { ask } from "./rows.ts"

const FileRow = Schema.Struct({ fileName: Schema.String, sender: Schema.String })
const ResultRow = Schema.Struct({ fileName: Schema.String, resultKey: Schema.String })

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
        key: readLinkKey(sql, "share_keys")
      })
      const urlOf = (subject: ShareSubject) =>
        Effect.map(tokens.write(payloadOf(subject)), (token) => `${options.baseUrl}/shared/${token}`)
      const endOf = (fromMs: number) => Math.floor(fromMs / 1000) + SHARE_SECONDS

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
          const expiresAt = endOf(yield* Clock.currentTimeMillis)
          return {
            ...file,
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
