import { Effect, Layer, Schema } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens } from "../../../application/accounts/tokens.ts"
import { isUuid } from "../../../domain/ids.ts"
import type { SenderToken } from "../../../domain/mail/sender-token.ts"
import { Category } from "../../../domain/mail/suppression/policy.ts"
import { SenderTokens } from "../../../ports/mail/sender-tokens.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { Absent, Millis, storable } from "../values.ts"

const ask = statements({ within: "5 seconds" })

const columns = {
  id: Schema.String,
  name: Schema.String,
  categories: Schema.Array(Category),
  fromAddresses: Schema.Array(Schema.String),
  ratePerMinute: Absent(Schema.Int)
}
const TokenRow = Schema.Struct(columns)
const ListedRow = Schema.Struct({ ...columns, createdAt: Millis, lastUsedAt: Absent(Millis) })

const shown = <Row extends typeof TokenRow.Type>({
  fromAddresses,
  ...row
}: Row): Omit<Row, "fromAddresses"> & Pick<SenderToken, "from"> => ({ ...row, from: fromAddresses })

/** Sender tokens in PostgreSQL. */
export const layer: Layer.Layer<SenderTokens, never, WriteSql | Digest | SecureRandom> = Layer.effect(
  SenderTokens,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const secrets = yield* makeSecretTokens
    return SenderTokens.of({
      use: Effect.fnUntraced(function* (text) {
        const hash = yield* secrets.hash(text)
        if (hash === undefined) return undefined
        const row = yield* ask.first(
          "useSenderToken",
          TokenRow,
          sql`select * from use_sender_token(decode(${hash}, 'hex'))`
        )
        return row && shown(row)
      }),
      create: Effect.fnUntraced(function* ({ categories, from, name, ratePerMinute }, actor) {
        const { hash, token } = yield* secrets.mint
        const id = yield* ask.answer(
          "createSenderToken",
          Schema.String,
          sql`select create_sender_token(
            decode(${hash}, 'hex'), ${storable(name)}, ${categories}::text[], ${from}::text[],
            ${ratePerMinute ?? null}::integer, ${storable(actor)}
          ) as answer`
        )
        return { id, token }
      }),
      list: Effect.map(
        ask.rows(
          "listSenderTokens",
          ListedRow,
          sql`select id, name, categories, from_addresses, rate_per_minute, created_at, last_used_at
            from sender_tokens where revoked_at is null order by created_at desc, id`
        ),
        (rows) => rows.map(shown)
      ),
      revoke: (id, actor) =>
        isUuid(id)
          ? ask.answer(
              "revokeSenderToken",
              Schema.Boolean,
              sql`select revoke_sender_token(${id}::uuid, ${storable(actor)}) as answer`
            )
          : Effect.succeed(false)
    })
  })
)
