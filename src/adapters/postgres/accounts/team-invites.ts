import { Effect, Layer, Redacted, Schema } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens } from "../../../application/accounts/tokens.ts"
import { TeamInvites } from "../../../ports/accounts/accounts.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { IsoTime } from "../values.ts"

/** How long an invitation is valid. */
const INVITE_LIFETIME_SECONDS = 7 * 24 * 60 * 60

/** Longer than a send takes, including fail-over and all its time limits. */
const SENDING_LEASE_SECONDS = 120

/** `begin` may wait for a lock. */
const ask = statements()

const Begun = Schema.Union([
  Schema.Struct({
    inviteId: Schema.String,
    todo: Schema.Literal("Send"),
    inviter: Schema.String,
    expiresAt: IsoTime,
    mailKey: Schema.String
  }),
  Schema.Struct({ inviteId: Schema.String, todo: Schema.Literals(["Sent", "Busy"]) })
])
const Accepted = Schema.Struct({ inviteId: Schema.String, inviter: Schema.String })

/** Invitations in Postgres. */
export const layer: Layer.Layer<TeamInvites, never, WriteSql | Digest | SecureRandom> = Layer.effect(
  TeamInvites,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const secrets = yield* makeSecretTokens
    return TeamInvites.of({
      begin: Effect.fnUntraced(function* ({ customerId, email }) {
        const { hash, token } = yield* secrets.mint
        const begun = yield* ask.first(
          "beginInvite",
          Begun,
          sql`select invite_id, todo, inviter, expires_at, mail_key from begin_team_invite(${customerId}::uuid, ${email},
            decode(${hash}, 'hex'), ${INVITE_LIFETIME_SECONDS}, ${SENDING_LEASE_SECONDS})`
        )
        return begun?.todo === "Send" ? { ...begun, token } : begun
      }),
      end: Effect.fnUntraced(function* (token, sent) {
        const hash = yield* secrets.hash(Redacted.value(token))
        yield* ask.done("endInvite", sql`select end_team_invite(decode(${hash ?? ""}, 'hex'), ${sent})`)
      }),
      accept: Effect.fnUntraced(function* (token) {
        const hash = yield* secrets.hash(token)
        if (hash === undefined) return undefined
        return yield* ask.first(
          "acceptInvite",
          Accepted,
          sql`select invite_id, inviter from accept_team_invite(decode(${hash}, 'hex'))`
        )
      })
    })
  })
)
