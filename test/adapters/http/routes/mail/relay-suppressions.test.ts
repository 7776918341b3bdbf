import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import { layer as layerStore } from "../../../../../src/adapters/postgres/mail/mail-store.ts"
import { MailStore } from "../../../../../src/ports/mail/mail-store.ts"
import { makeHarness } from "../../../../application/mail/harness.ts"
import { layerPostgres } from "../../../../support/postgres/postgres.ts"
import { mail, relay, startServer, type TestServer } from "../../harness.ts"

/** The relay over a mailer whose store is PostgreSQL. */
const world = Effect.gen(function* () {
  const context = yield* Layer.build(layerStore.pipe(Layer.provideMerge(layerPostgres)))
  const [store, sql] = yield* Effect.all([MailStore, WriteSql]).pipe(Effect.provide(context))
  const harness = yield* makeHarness({ store: () => store })
  return { harness, sql }
})

const scope = Scope.makeUnsafe()
let parts: Effect.Success<typeof world>
let server: TestServer

beforeAll(async () => {
  parts = await Effect.runPromise(Scope.provide(world, scope))
  server = await startServer({ send: parts.harness.send })
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Effect.andThen(parts.harness.shutDown, Scope.close(scope, Exit.void)))
})

describe("the relay and who unsubscribed by one click (MAIL-65)", () => {
  it("mails no marketing there, with a key and without one, and everything else", async () => {
    const to = "left@x.test"
    const { harness, sql } = parts
    await Effect.runPromise(sql`select record_unsubscribe(${to}, 'spring')`)
    for (const request of [{}, { idempotencyKey: "m-1" }, { idempotencyKey: "m-1" }]) {
      const answer = await relay(server, { ...mail, to, category: "marketing", ...request })
      expect(answer.status).toBe(422)
      expect(answer.json).toMatchObject({
        code: "EMAIL_SUPPRESSED",
        detail: "Recipient suppressed: unsubscribed"
      })
    }
    expect((await Effect.runPromise(harness.received)).provider_a).toBe(0)
    const receipt = await relay(server, { ...mail, to, category: "transactional" })
    expect(receipt.json).toMatchObject({ status: "sent" })
  })
})

describe("the relay and who was erased (P3, S7)", () => {
  it("blocks the address with a key and without one, the first time and again", async () => {
    const to = "gone@x.test"
    const { harness, sql } = parts
    await Effect.runPromise(
      Effect.andThen(
        sql`insert into email_suppressions (email, reason) values (${to}, 'complaint')`,
        sql`select erase_person(${to}, 'admin')`
      )
    )
    for (const request of [
      {},
      { idempotencyKey: "k-1" },
      { idempotencyKey: "k-1" },
      { idempotencyKey: "k-2" }
    ]) {
      const answer = await relay(server, { ...mail, to, ...request })
      expect(answer.status).toBe(422)
      expect(answer.json).toMatchObject({
        code: "EMAIL_SUPPRESSED",
        detail: "Recipient suppressed: complaint"
      })
    }
    expect((await Effect.runPromise(harness.received)).provider_a).toBe(1)
    const other = await relay(server, { ...mail, to: [to, "here@x.test"], idempotencyKey: "k-3" })
    expect(other.json).toMatchObject({ status: "sent", suppressedRecipients: [to] })
  })
})
