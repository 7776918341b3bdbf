/** Two who sign in, or change who may, at once: each call waits for the other where it has to, and in one order of locks. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"

import { layer as linksLayer } from "../../../../src/adapters/postgres/accounts/access-magic-links.ts"
import { layer as accessLayer } from "../../../../src/adapters/postgres/accounts/access.ts"
import { layer as adminsLayer } from "../../../../src/adapters/postgres/accounts/admins.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { Access, Admins, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { BROWSER, text } from "../../../contracts/accounts/access/callers.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const layers = Layer.mergeAll(
  accessLayer({ embedded: false }),
  linksLayer({ anyPromo: true }),
  adminsLayer
).pipe(Layer.provide(NodeCrypto.layer), Layer.provideMerge(layerPostgres))

const [email, actor] = ["ann@x.test", "ops"]

suiteLayer(layers)("signing in at once", (it) => {
  const clear = empty("customers, admins")
  const adminLink = Effect.gen(function* () {
    yield* clear
    const [admins, links] = [yield* Admins, yield* MagicLinks]
    yield* admins.invite({ email, right: "admin", actor })
    return text((yield* links.request({ email, browser: BROWSER }))!.token)
  })

  it.effect("of two who use an admin's link at once, one is signed in", () =>
    Effect.gen(function* () {
      const link = yield* adminLink
      const links = yield* MagicLinks
      const redeem = links.redeem(link, BROWSER)
      assert.isUndefined(yield* whileOpen(redeem, redeem))
    })
  )

  it.effect("an admin who signs in while their rights change keeps no session with the old ones", () =>
    Effect.gen(function* () {
      const link = yield* adminLink
      const [access, admins, links] = [yield* Access, yield* Admins, yield* MagicLinks]
      let cookie = ""
      const signsIn = Effect.tap(links.redeem(link, BROWSER), (session) =>
        Effect.sync(() => {
          cookie = Redacted.value(session!.cookie)
        })
      )
      assert.strictEqual(
        yield* whileOpen(signsIn, admins.invite({ email, right: "admin:read", actor })),
        "changed"
      )
      assert.isUndefined(yield* access.bySession(cookie))
    })
  )

  it.effect(
    "a link is locked after its customer, as where an account is closed, which takes the link away",
    () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        const links = yield* MagicLinks
        yield* links.claim({ promo: "p", email })
        // As it is, without another try after a deadlock.
        const redeem = sql`select r.* from magic_links l, redeem_magic_link(l.token_hash, null, sha256('s'), 9) r`
        const closes = sql`update customers set deleted_at = now()`
        assert.deepStrictEqual(yield* whileOpen(closes, redeem, sql`delete from magic_links`), [])
        assert.deepStrictEqual(yield* sql`select deleted_at is null as open from customers`, [
          { open: false }
        ])
      })
  )

  it.effect.each(["an admin", "a customer"])("of links that %s asks for at once each one counts", (who) =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      if (who === "an admin") yield* Admins.use((admins) => admins.invite({ email, right: "admin", actor }))
      else yield* sql`insert into customers (email) values (${email})`
      const ask = sql`select from begin_sign_in(${email}, sha256(gen_random_uuid()::text::bytea), sha256('b'), 900, 1)`
      assert.lengthOf(yield* whileOpen(ask, ask), 0)
    })
  )
})
