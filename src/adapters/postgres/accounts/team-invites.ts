import { Effect, Layer, Redacted, Schema } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens } from "../../../domain/accounts/tokens.ts"
import { type InviteTodo, TeamInvites } from "../../../ports/accounts/accounts.ts"
import { boundedBy } from "../answered.ts"
import { WriteSql } from "../client.ts"

/** How long an invitation is valid. */
export const INVITE_LIFETIME_SECONDS = 7 * 24 * 60 * 60

/** Longer than a send takes, including fail-over and all its time limits. */
const SENDING_LEASE_SECONDS = 120

/** Time limit of one statement; `begin` may wait for a lock. */
const TIME_LIMIT = "8 seconds"

const bounded = boundedBy(TIME_LIMIT, "teamInvites")

const decodeBegun = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Union([
      Schema.Struct({
        invite_id: Schema.String,
        todo: Schema.Literal("Send"),
        inviter: Schema.String,
        expires_at: Schema.Date,
        mail_key: Schema.String
      }),
      Schema.Struct({ invite_id: Schema.String, todo: Schema.Literals(["Sent", "Busy"]) })
    ])
  )
)
const decodeAccepted = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ invite_id: Schema.String, inviter: Schema.String }))
)

/** Invitations in Postgres. */
export const layer: Layer.Layer<TeamInvites, never, WriteSql | Digest | SecureRandom> = Layer.effect(
  TeamInvites,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const secrets = yield* makeSecretTokens
    return TeamInvites.of({
      begin: Effect.fnUntraced(function* ({ customerId, email }) {
        const { hash, token } = yield* secrets.mint
        const [row] = yield* bounded(
          sql`select invite_id, todo, inviter, expires_at, mail_key from begin_team_invite(${customerId}::uuid, ${email},
            decode(${hash}, 'hex'), ${INVITE_LIFETIME_SECONDS}, ${SENDING_LEASE_SECONDS})`.pipe(
            Effect.flatMap(decodeBegun)
          )
        )
        if (row === undefined) return undefined
        if (row.todo !== "Send") return { todo: row.todo, inviteId: row.invite_id } satisfies InviteTodo
        const { expires_at, invite_id: inviteId, inviter, mail_key: mailKey, todo } = row
        const expiresAt = expires_at.toISOString()
        return { todo, inviteId, token, inviter, expiresAt, mailKey } satisfies InviteTodo
      }),
      end: Effect.fnUntraced(function* (token, sent) {
        const hash = yield* secrets.hash(Redacted.value(token))
        yield* bounded(sql`select end_team_invite(decode(${hash ?? ""}, 'hex'), ${sent})`)
      }),
      accept: Effect.fnUntraced(function* (token) {
        const hash = yield* secrets.hash(token)
        if (hash === undefined) return undefined
        const [row] = yield* bounded(
          sql`select invite_id, inviter from accept_team_invite(decode(${hash}, 'hex'))`.pipe(
            Effect.flatMap(decodeAccepted)
          )
        )
        return row === undefined ? undefined : { inviteId: row.invite_id, inviter: row.inviter }
      })
    })
  })
)
