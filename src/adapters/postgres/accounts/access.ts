import { Effect, Schema, Layer, Redacted } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import { isSqlError } from "effect/sql/SqlError"

import { type Principal, Right } from "../../../domain/accounts/principal.ts"
import {
  ROTATE_AFTER_SECONDS,
  ROTATION_GRACE_SECONDS,
  SESSION_LIFETIME_SECONDS
} from "../../../domain/accounts/session.ts"
import { makeSecretTokens, faultOf } from "../../../domain/accounts/tokens.ts"
import { Access, InvalidToken } from "../../../ports/accounts/access.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { boundedBy, isAboutData, storeUnavailable } from "../answered.ts"
import { WriteSql } from "../client.ts"

/** Time limit of one statement, or of one transaction. */
const TIME_LIMIT = "5 seconds"

/** A statement with its time limit; every failure becomes `StoreUnavailable`. */
export const bounded = boundedBy(TIME_LIMIT, "access")

/** Decodes the one row of an answer; `undefined` where there is none. */
export const firstRow = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (rows: ReadonlyArray<unknown>): Effect.Effect<S["Type"] | undefined, StoreUnavailable> =>
    rows.length === 0
      ? Effect.succeed(undefined)
      : Effect.mapError(decode(rows[0]), storeUnavailable("access"))
}

/** The columns that identify the principal of a row. */
const principalColumns = {
  actor: Schema.String,
  rights: Schema.Array(Right),
  customer_id: Schema.NullOr(Schema.String)
}

const PrincipalRow = Schema.Struct(principalColumns)

/** The principal of such a row. */
const principalOf = (
  { actor, customer_id, rights }: typeof PrincipalRow.Type,
  via: Principal["via"]
): Principal => ({ actor, customerId: customer_id ?? undefined, rights, via })

const tokenRow = firstRow(Schema.Struct({ token_id: Schema.String, ...principalColumns }))
const sessionRow = firstRow(
  Schema.Struct({ ...principalColumns, expires_at: Schema.Date, renewed: Schema.Boolean })
)
const beganRow = firstRow(Schema.Struct({ expires_at: Schema.Date }))
const idRow = firstRow(Schema.Struct({ id: Schema.String }))

const decodeTokens = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      ...principalColumns,
      created_at: Schema.Date,
      last_used_at: Schema.NullOr(Schema.Date),
      expires_at: Schema.NullOr(Schema.Date)
    })
  )
)

/** A uuid; anything else would fail the statement. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Access in Postgres. `embedded`: whether dev tokens are accepted. */
export const layer = (options: {
  readonly embedded: boolean
}): Layer.Layer<Access, never, WriteSql | Digest | SecureRandom> =>
  Layer.effect(
    Access,
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const secrets = yield* makeSecretTokens

      const tokenOf = Effect.fnUntraced(function* (text: string) {
        const hash = yield* secrets.hash(text)
        if (hash === undefined) return undefined
        return yield* bounded(
          sql`select token_id, actor, rights, customer_id from use_api_token(decode(${hash}, 'hex'), ${options.embedded})`
        ).pipe(Effect.flatMap(tokenRow))
      })

      return Access.of({
        byToken: Effect.fnUntraced(function* (text) {
          const row = yield* tokenOf(text)
          return row === undefined ? undefined : principalOf(row, "token")
        }),
        bySession: Effect.fnUntraced(function* (cookie) {
          const hash = yield* secrets.hash(cookie)
          if (hash === undefined) return undefined
          const next = yield* secrets.mint
          const row = yield* bounded(
            sql`select actor, rights, customer_id, expires_at, renewed from use_session(decode(${hash}, 'hex'),
              decode(${next.hash}, 'hex'), ${options.embedded}, ${ROTATE_AFTER_SECONDS}, ${ROTATION_GRACE_SECONDS})`
          ).pipe(Effect.flatMap(sessionRow))
          if (row === undefined) return undefined
          return {
            principal: principalOf(row, "session"),
            renewed: row.renewed ? next.token : undefined,
            expiresAt: row.expires_at.getTime()
          }
        }),
        beginSession: Effect.fnUntraced(function* (text) {
          const token = yield* tokenOf(text)
          if (token === undefined) return undefined
          const { hash, token: cookie } = yield* secrets.mint
          const row = yield* bounded(
            sql`insert into sessions (token_hash, actor, rights, customer_id, api_token_id, expires_at)
              select decode(${hash}, 'hex'), name, rights, customer_id, id,
                now() + make_interval(secs => ${SESSION_LIFETIME_SECONDS})
              from api_tokens where id = ${token.token_id} returning expires_at`
          ).pipe(Effect.flatMap(beganRow))
          if (row === undefined) return undefined
          return { principal: principalOf(token, "session"), cookie, expiresAt: row.expires_at.getTime() }
        }),
        endSession: Effect.fnUntraced(function* (cookie) {
          const hash = yield* secrets.hash(cookie)
          if (hash === undefined) return false
          const ended = yield* bounded(
            sql`with presented as (select decode(${hash}, 'hex') as hash)
              delete from sessions using presented
              where expires_at > now() and (token_hash = hash or next_hash = hash
                or (previous_hash = hash and previous_until > now()))
              returning id`
          )
          return ended.length > 0
        }),
        createToken: Effect.fnUntraced(function* (token) {
          const { customerId, expiresAt, name, rights } = token
          const unknown = new InvalidToken({ message: "There is no such customer" })
          const fault = faultOf(token)
          if (fault !== undefined) return yield* new InvalidToken({ message: fault })
          if (customerId !== undefined && !UUID.test(customerId)) return yield* unknown
          const minted = yield* secrets.mint
          const row = yield* bounded(
            sql`insert into api_tokens (token_hash, name, rights, customer_id, expires_at)
              values (decode(${minted.hash}, 'hex'), ${name}, ${rights}::text[], ${customerId ?? null},
                ${expiresAt === undefined ? null : new Date(expiresAt)})
              returning id`
          ).pipe(
            Effect.mapError((error) =>
              isSqlError(error.cause) && isAboutData(error.cause) ? unknown : error
            ),
            Effect.flatMap(idRow)
          )
          if (row === undefined) return yield* storeUnavailable("createToken")("the statement gave no row")
          return { id: row.id, token: minted.token }
        }),
        listTokens: bounded(
          // A token is in force by the same conditions as in `use_api_token`.
          sql`select t.id, t.name as actor, t.rights, t.customer_id, t.created_at, t.last_used_at, t.expires_at
            from api_tokens t left join customers c on c.id = t.customer_id
            where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
              and c.deleted_at is null and (${options.embedded} or not t.embedded)
            order by t.created_at desc, t.id`.pipe(Effect.flatMap(decodeTokens))
        ).pipe(
          Effect.map((rows) =>
            rows.map(({ actor, created_at, customer_id, expires_at, id, last_used_at, rights }) => ({
              id,
              name: actor,
              rights,
              customerId: customer_id ?? undefined,
              createdAt: created_at.getTime(),
              lastUsedAt: last_used_at?.getTime(),
              expiresAt: expires_at?.getTime()
            }))
          )
        ),
        revokeToken: (id) =>
          UUID.test(id)
            ? bounded(
                sql`update api_tokens set revoked_at = now() where id = ${id} and revoked_at is null returning id`
              ).pipe(Effect.map((rows) => rows.length > 0))
            : Effect.succeed(false),
        keepDevToken: Effect.fnUntraced(function* ({ name, owner, rights, token }) {
          const hash = yield* secrets.hash(Redacted.value(token))
          yield* bounded(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`delete from api_tokens where embedded and name = ${name}
                  and token_hash is distinct from decode(${hash ?? null}, 'hex')`
                if (owner !== undefined) {
                  yield* sql`insert into customers (email, name, plan_type, credits_remaining)
                    values (${owner.email}, ${owner.name}, 'paid', ${owner.credits})
                    on conflict (email) do update set deleted_at = null`
                }
                if (hash === undefined) return
                yield* sql`insert into api_tokens (token_hash, name, rights, customer_id, embedded)
                  values (decode(${hash}, 'hex'), ${name}, ${rights}::text[],
                    (select id from customers where email = ${owner?.email ?? null}), true)
                  on conflict (token_hash) do update
                    set name = excluded.name, rights = excluded.rights, customer_id = excluded.customer_id
                  where api_tokens.embedded`
              })
            )
          )
        })
      })
    })
  )
