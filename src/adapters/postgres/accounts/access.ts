import { Effect, Schema, Layer, Redacted } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens, faultOf } from "../../../application/accounts/tokens.ts"
import { Right } from "../../../domain/accounts/principal.ts"
import {
  ROTATE_AFTER_SECONDS,
  ROTATION_GRACE_SECONDS,
  SESSION_LIFETIME_SECONDS
} from "../../../domain/accounts/session.ts"
import { CustomerId } from "../../../domain/ids.ts"
import { Access, InvalidToken } from "../../../ports/accounts/access.ts"
import { WriteSql } from "../client.ts"
import { isAboutData, statements } from "../statement.ts"
import { Absent, Millis, storable } from "../values.ts"

/** Of one statement, or of one transaction. */
export const ask = statements({ within: "5 seconds" })

/** A uuid; anything else would fail the statement. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The columns that identify the principal of a row. */
const principalColumns = {
  actor: Schema.String,
  rights: Schema.Array(Right),
  customerId: Absent(CustomerId)
}

const TokenRow = Schema.Struct({ tokenId: Schema.String, ...principalColumns })
const SessionRow = Schema.Struct({ ...principalColumns, expiresAt: Millis, renewed: Schema.Boolean })
const BegunRow = Schema.Struct({ expiresAt: Millis })
const OpenSessionRow = Schema.Struct({
  actor: Schema.String,
  by: Schema.Literals(["token", "mail"]),
  createdAt: Millis,
  expiresAt: Millis
})
const IdRow = Schema.Struct({ id: Schema.String })

const ListedRow = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  rights: principalColumns.rights,
  customerId: principalColumns.customerId,
  createdAt: Millis,
  lastUsedAt: Absent(Millis),
  expiresAt: Absent(Millis)
})

type Store = Access["Service"]
type Sql = WriteSql["Service"]
type Secrets = Effect.Success<typeof makeSecretTokens>

/** Whether dev tokens are accepted. */
interface Options {
  readonly embedded: boolean
}

const useToken = Effect.fnUntraced(function* (
  sql: Sql,
  secrets: Secrets,
  { embedded }: Options,
  text: string
) {
  const hash = yield* secrets.hash(text)
  if (hash === undefined) return undefined
  return yield* ask.first(
    "useToken",
    TokenRow,
    sql`select token_id, actor, rights, customer_id from use_api_token(decode(${hash}, 'hex'), ${embedded})`
  )
})

/** Of the session of a hash; each kind of hash apart, so that its own index serves it whatever the statistics say. */
const END_SESSION = `with presented as (select decode($1, 'hex') as hash)
  delete from sessions where expires_at > now() and id = (
    select id from sessions where token_hash = (select hash from presented)
    union all select id from sessions where next_hash = (select hash from presented)
    union all select id from sessions where previous_hash = (select hash from presented) and previous_until > now()
    limit 1
  )
  returning id`

/** Callers by token and by cookie. */
const callersOn = (
  sql: Sql,
  secrets: Secrets,
  options: Options
): Pick<Store, "byToken" | "bySession" | "beginSession" | "endSession" | "sessionsOf"> => ({
  sessionsOf: (customerId) =>
    ask.rows(
      "sessionsOf",
      OpenSessionRow,
      sql`select s.actor, case when s.api_token_id is null then 'mail' else 'token' end as by, s.created_at, s.expires_at
        from sessions s left join api_tokens t on t.id = s.api_token_id
        where s.customer_id = ${customerId}::uuid and s.expires_at > now() and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > now()) and (${options.embedded} or t.embedded is not true)
        order by s.created_at desc, s.id`
    ),
  byToken: Effect.fnUntraced(function* (text) {
    const found = yield* useToken(sql, secrets, options, text)
    if (found === undefined) return undefined
    const { tokenId: _, ...principal } = found
    return { ...principal, via: "token" }
  }),
  bySession: Effect.fnUntraced(function* (cookie) {
    const hash = yield* secrets.hash(cookie)
    if (hash === undefined) return undefined
    const next = yield* secrets.mint
    const row = yield* ask.first(
      "useSession",
      SessionRow,
      sql`select actor, rights, customer_id, expires_at, renewed from use_session(decode(${hash}, 'hex'),
        decode(${next.hash}, 'hex'), ${options.embedded}, ${ROTATE_AFTER_SECONDS}, ${ROTATION_GRACE_SECONDS})`
    )
    if (row === undefined) return undefined
    const { expiresAt, renewed, ...principal } = row
    return {
      principal: { ...principal, via: "session" },
      renewed: renewed ? next.token : undefined,
      expiresAt
    }
  }),
  beginSession: Effect.fnUntraced(function* (text) {
    const token = yield* useToken(sql, secrets, options, text)
    if (token === undefined) return undefined
    const { tokenId, ...principal } = token
    const { hash, token: cookie } = yield* secrets.mint
    const row = yield* ask.first(
      "beginSession",
      BegunRow,
      sql`insert into sessions (token_hash, actor, rights, customer_id, api_token_id, expires_at)
        select decode(${hash}, 'hex'), name, rights, customer_id, id,
          now() + make_interval(secs => ${SESSION_LIFETIME_SECONDS})
        from api_tokens where id = ${tokenId} returning expires_at`
    )
    return row && { principal: { ...principal, via: "session" }, cookie, expiresAt: row.expiresAt }
  }),
  endSession: Effect.fnUntraced(function* (cookie) {
    const hash = yield* secrets.hash(cookie)
    if (hash === undefined) return false
    const ended = yield* ask.stored("endSession", sql.unsafe(END_SESSION, [hash]))
    return ended.length > 0
  })
})

/** The actor where no admin is named. */
const COMMAND_LINE = "cli"

/** Tokens that are in force, by the same conditions as in `use_api_token`. */
const tokenListsOn = (sql: Sql, { embedded }: Options): Pick<Store, "listTokens" | "tokensOf"> => {
  const text = (whose: string) => `
    select t.id, t.name, t.rights, t.customer_id, t.created_at, t.last_used_at, t.expires_at
    from api_tokens t left join customers c on c.id = t.customer_id
    where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and c.deleted_at is null and ($1 or not t.embedded) ${whose}
    order by t.created_at desc, t.id`
  return {
    listTokens: ask.rows("listTokens", ListedRow, sql.unsafe(text(""), [embedded])),
    tokensOf: (customerId) =>
      ask.rows("tokensOf", ListedRow, sql.unsafe(text("and t.customer_id = $2"), [embedded, customerId]))
  }
}

/** The tokens themselves. */
const tokensOn = (sql: Sql, secrets: Secrets): Pick<Store, "createToken" | "revokeToken"> => ({
  createToken: Effect.fnUntraced(function* (token, actor = COMMAND_LINE) {
    const { customerId, expiresAt, name, rights } = token
    const unknown = new InvalidToken({ message: "There is no such customer" })
    const fault = faultOf(token)
    if (fault !== undefined) return yield* new InvalidToken({ message: fault })
    if (customerId !== undefined && !UUID.test(customerId)) return yield* unknown
    const minted = yield* secrets.mint
    const { id } = yield* ask
      .one(
        "createToken",
        IdRow,
        sql`with added as (
            insert into api_tokens (token_hash, name, rights, customer_id, expires_at)
            values (decode(${minted.hash}, 'hex'), ${name}, ${rights}::text[], ${customerId ?? null},
              ${expiresAt === undefined ? null : new Date(expiresAt)})
            returning id, name, rights
          ), noted as (
            insert into admin_audit_log (action, actor, target, details)
            select 'token_added', ${storable(actor)}, a.name, jsonb_build_object('tokenId', a.id, 'rights', a.rights) from added a
          )
          select id from added`
      )
      .pipe(Effect.mapError((error) => (isAboutData(error) ? unknown : error)))
    return { id, token: minted.token }
  }),
  revokeToken: (id, actor = COMMAND_LINE) =>
    UUID.test(id)
      ? Effect.map(
          ask.stored(
            "revokeToken",
            sql`with revoked as (
                update api_tokens set revoked_at = now() where id = ${id} and revoked_at is null returning id, name
              ), noted as (
                insert into admin_audit_log (action, actor, target, details)
                select 'token_revoked', ${storable(actor)}, r.name, jsonb_build_object('tokenId', r.id) from revoked r
              )
              select id from revoked`
          ),
          (rows) => rows.length > 0
        )
      : Effect.succeed(false)
})

/** Dev tokens of an embedded installation. */
const devTokensOn = (sql: Sql, secrets: Secrets): Pick<Store, "keepDevToken"> => ({
  keepDevToken: Effect.fnUntraced(function* ({ name, owner, rights, token }) {
    const hash = yield* secrets.hash(Redacted.value(token))
    yield* ask.done(
      "keepDevToken",
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

/** Access in Postgres. */
export const layer = (options: Options): Layer.Layer<Access, never, WriteSql | Digest | SecureRandom> =>
  Layer.effect(
    Access,
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const secrets = yield* makeSecretTokens
      return Access.of({
        ...callersOn(sql, secrets, options),
        ...tokenListsOn(sql, options),
        ...tokensOn(sql, secrets),
        ...devTokensOn(sql, secrets)
      })
    })
  )
