import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as fc from "fast-check"

import { layer as linksLayer } from "../../../../src/adapters/postgres/accounts/access-magic-links.ts"
import { layer as accessLayer } from "../../../../src/adapters/postgres/accounts/access.ts"
import { layer as adminsLayer } from "../../../../src/adapters/postgres/accounts/admins.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  presentCookie,
  SESSION_LIFETIME_SECONDS,
  type SessionCookies
} from "../../../../src/domain/accounts/session.ts"
import { Access, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { signIn, StoreWorld } from "../../../contracts/accounts/access/callers.ts"
import { suite } from "../../../contracts/accounts/access/index.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const accessOf = (embedded: boolean) => Layer.provide(accessLayer({ embedded }), NodeCrypto.layer)
const linksOf = (anyPromo: boolean) => Layer.provide(linksLayer({ anyPromo }), NodeCrypto.layer)

const storeWorld = Layer.effect(
  StoreWorld,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    return StoreWorld.of({
      production: Context.get(yield* Layer.build(accessOf(false)), Access),
      now: sql<{ readonly ms: number }>`select extract(epoch from now())::float8 * 1000 as ms`.pipe(
        Effect.map((rows) => rows[0]!.ms),
        Effect.orDie
      ),
      // Time goes by for the rows: every moment in them moves into the past.
      pass: (seconds) =>
        Effect.all(
          [
            sql`update sessions set expires_at = expires_at - make_interval(secs => ${seconds}),
              rotated_at = rotated_at - make_interval(secs => ${seconds}),
              next_issued_at = next_issued_at - make_interval(secs => ${seconds}),
              previous_until = previous_until - make_interval(secs => ${seconds})`,
            sql`update magic_links set expires_at = expires_at - make_interval(secs => ${seconds})`,
            sql`update api_tokens set expires_at = expires_at - make_interval(secs => ${seconds}),
              created_at = created_at - make_interval(secs => ${seconds}),
              last_used_at = last_used_at - make_interval(secs => ${seconds})`
          ],
          { discard: true }
        ).pipe(Effect.orDie)
    })
  })
)

const promotions = Layer.effectDiscard(
  WriteSql.use(
    (sql) =>
      sql`insert into promos (name, ends_at) values ('welcome', null), ('over', now() - interval '1 day')`
  )
).pipe(Layer.orDie)

const world = Layer.fresh(
  Layer.mergeAll(accessOf(true), linksOf(false), adminsLayer, storeWorld, promotions).pipe(
    Layer.provideMerge(layerPostgres)
  )
)

suite("PostgreSQL", world, it.live)

describe("access on PostgreSQL", () => {
  it.live("judges every cookie as the rules do, whatever is presented when", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { pass } = yield* StoreWorld
      // No sum of these comes near a limit: what the test itself takes does not matter.
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.record({ use: fc.nat(9) }) },
        { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(25, 70, 4000, 15 * 24 * 3600) }) }
      )
      const run = Effect.fnUntraced(function* (
        steps: ReadonlyArray<{ readonly use: number } | { readonly pass: number }>
      ) {
        const { cookie } = yield* signIn("a@x.test")
        const cookies = [cookie]
        let now = 0
        let model: SessionCookies = {
          current: cookie,
          rotatedAt: 0,
          next: undefined,
          previous: undefined,
          expiresAt: SESSION_LIFETIME_SECONDS * 1000
        }
        for (const one of steps) {
          if ("pass" in one) {
            yield* pass(one.pass)
            now += one.pass * 1000
            continue
          }
          const presented = cookies[one.use % cookies.length]!
          const use = yield* access.bySession(presented)
          const renewed = use?.renewed === undefined ? undefined : Redacted.value(use.renewed)
          const expected = presentCookie(model, presented, renewed ?? "none", now)
          const actual = use === undefined ? "Refused" : renewed === undefined ? "Holds" : "Renewed"
          assert.strictEqual(actual, expected._tag)
          if (expected._tag !== "Refused") model = expected.session
          if (renewed !== undefined) cookies.push(renewed)
        }
      })
      const context = yield* Effect.context<Access | MagicLinks | StoreWorld>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
            Effect.runPromiseWith(context)(run(steps))
          ),
          { numRuns: 30 }
        )
      )
    }).pipe(Effect.provide(world))
  )

  it.live("first claims of one address at once make one customer, on the free plan", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const sql = yield* WriteSql
      yield* Effect.all(
        Array.from({ length: 20 }, () => links.claim({ promo: "welcome", email: "new@x.test" })),
        { concurrency: "unbounded" }
      )
      const rows =
        yield* sql`select c.plan_type, c.credits_remaining, c.lifetime_free_pages_used as free, p.claims,
          (select count(*) from magic_links)::int as links
        from customers c join promo_claims p on p.customer_id = c.id`
      assert.deepStrictEqual(
        [...rows],
        [{ plan_type: "free", credits_remaining: 0, free: 0, claims: 20, links: 20 }]
      )
    }).pipe(Effect.provide(world))
  )

  it.live("a promotion that is over is none; one that nobody named is one for embedded runs only", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const embedded = Context.get(yield* Layer.build(linksOf(true)), MagicLinks)
      const claim = (one: MagicLinks["Service"], promo: string) =>
        Effect.map(one.claim({ promo, email: "a@x.test" }), (token) => token !== undefined)
      assert.deepStrictEqual(
        [
          yield* claim(links, "over"),
          yield* claim(embedded, "over"),
          yield* claim(links, "launch"),
          yield* claim(embedded, "launch")
        ],
        [false, false, false, true]
      )
      const sql = yield* WriteSql
      assert.lengthOf(yield* sql`select from magic_links`, 1)
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.live("the tokens and sessions of a deleted account end; a login by its mail may open it again", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const links = yield* MagicLinks
      const sql = yield* WriteSql
      const { cookie, customerId } = yield* signIn("gone@x.test")
      const { token } = yield* access.createToken({ name: "t", rights: ["owner"], customerId })
      yield* sql`update customers set deleted_at = now(), lifetime_free_pages_used = 7`
      assert.isUndefined(yield* access.bySession(cookie))
      assert.isUndefined(yield* access.byToken(Redacted.value(token)))
      const link = yield* links.claim({ promo: "welcome", email: "gone@x.test" })
      assert.isUndefined(yield* access.bySession(cookie), "a claim proves nothing")
      yield* links.redeem(Redacted.value(link!))
      assert.deepStrictEqual(
        [...(yield* sql`select deleted_at, lifetime_free_pages_used as free from customers`)],
        [{ deleted_at: null, free: 7 }]
      )
    }).pipe(Effect.provide(world))
  )

  it.live("nothing that is stored lets anybody in", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const links = yield* MagicLinks
      const sql = yield* WriteSql
      const { cookie } = yield* signIn("a@x.test")
      const { token } = yield* access.createToken({ name: "t", rights: ["admin"] })
      const link = yield* links.claim({ promo: "welcome", email: "a@x.test" })
      const rows = yield* sql<{ readonly all: string }>`select (select jsonb_agg(x) from sessions x)::text
        || (select jsonb_agg(x) from api_tokens x)::text || (select jsonb_agg(x) from magic_links x)::text as all`
      const all = rows[0]!.all
      assert.match(all, /[0-9a-f]{64}/)
      for (const secret of [cookie, Redacted.value(token), Redacted.value(link!)]) {
        const hex = Buffer.from(secret).toString("hex")
        assert.notInclude(all, secret)
        assert.notInclude(all, hex)
      }
      for (const [hash] of all.matchAll(/[0-9a-f]{64}/g)) {
        assert.isUndefined(yield* access.byToken(hash))
        assert.isUndefined(yield* access.bySession(hash))
      }
    }).pipe(Effect.provide(world))
  )

  it.live(
    "a token that is made and one that is revoked leave one audit row each, also where two revoke it at once",
    () =>
      Effect.gen(function* () {
        const access = yield* Access
        const sql = yield* WriteSql
        const { id } = yield* access.createToken({ name: "t", rights: ["admin:read"] }, "ann")
        const revoked = yield* Effect.all([access.revokeToken(id, "ann"), access.revokeToken(id, "bob")], {
          concurrency: "unbounded"
        })
        assert.lengthOf(
          revoked.filter((one) => one),
          1
        )
        const rows = yield* sql`select action, target, details->>'tokenId' as id from admin_audit_log
        where action like 'token\\_%' order by created_at`
        assert.deepStrictEqual(
          [...rows],
          [
            { action: "token_added", target: "t", id },
            { action: "token_revoked", target: "t", id }
          ]
        )
      }).pipe(Effect.provide(world))
  )

  it.live("the last use of a token is noted to the minute; what is over is forgotten", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const links = yield* MagicLinks
      const { pass } = yield* StoreWorld
      const sql = yield* WriteSql
      const { token } = yield* access.createToken({ name: "t", rights: ["admin"] })
      const lastUse = Effect.map(sql`select last_used_at::text as at from api_tokens`, ([row]) => row!["at"])
      assert.isNull(yield* lastUse)
      yield* access.byToken(Redacted.value(token))
      const first = yield* lastUse
      assert.isString(first)
      yield* access.byToken(Redacted.value(token))
      assert.strictEqual(yield* lastUse, first)
      yield* sql`update api_tokens set last_used_at = last_used_at - interval '61 seconds'`
      const old = yield* lastUse
      yield* access.byToken(Redacted.value(token))
      assert.notStrictEqual(yield* lastUse, old)

      yield* signIn("a@x.test")
      yield* pass(SESSION_LIFETIME_SECONDS + 5)
      const { cookie } = yield* signIn("b@x.test")
      yield* links.claim({ promo: "welcome", email: "b@x.test" })
      // The browsers of links that signed somebody in are known for as long as their cookie lasts.
      const past = (name: string, days: number, used: boolean, browser: boolean) =>
        sql`insert into magic_links (token_hash, customer_id, browser_hash, expires_at, used_at)
          select sha256(${name}::bytea), id, case when ${browser} then sha256('browser') end,
            now() - make_interval(days => ${days}, mins => 1), case when ${used} then now() end
          from customers where email = 'a@x.test'`
      yield* past("unused", 1, false, true)
      yield* past("of no browser", 1, true, false)
      yield* past("a day", 0, false, true)
      yield* past("known", 399, true, true)
      yield* past("forgotten", 400, true, true)
      yield* sql`select purge_access()`
      const known = yield* sql`select token_hash = sha256('known') as known from magic_links
        where browser_hash = sha256('browser') order by expires_at`
      assert.deepStrictEqual(known, [{ known: true }, { known: false }])
      yield* sql`delete from magic_links where browser_hash = sha256('browser')`
      assert.deepStrictEqual(
        [
          ...(yield* sql`select (select count(*) from sessions)::int as sessions, (select count(*) from magic_links)::int as links`)
        ],
        [{ sessions: 1, links: 2 }]
      )
      assert.isDefined(yield* access.bySession(cookie))
    }).pipe(Effect.provide(world))
  )
})
