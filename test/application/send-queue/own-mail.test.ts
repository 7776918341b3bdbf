import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import * as Templates from "../../../src/adapters/mail-templates/mail-templates.ts"
import * as NoDeferQueue from "../../../src/adapters/memory/mail/defer-queue.ts"
import * as MemoryDeferrals from "../../../src/adapters/memory/mail/deferrals.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../src/adapters/memory/mail/send-queue.ts"
import { limited } from "../../../src/adapters/simulated/vendor-limit.ts"
import { isOk, makeProductMail } from "../../../src/application/accounts/product-mail.ts"
import {
  BulkMessages,
  BulkMessageSender,
  layer as layerBulkMessages
} from "../../../src/application/conversion/bulk-messages.ts"
import { layer as layerMailer } from "../../../src/application/mail/mailer.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { layer as layerEnqueue } from "../../../src/application/send-queue/enqueue.ts"
import * as Pace from "../../../src/application/send-queue/pace.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import * as SendLater from "../../../src/application/send-queue/send-later.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import { BulkOrders } from "../../../src/ports/conversion/bulk-orders.ts"
import { SharedFiles } from "../../../src/ports/conversion/shared-files.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import { mailerConfig } from "../../support/mailer-config.ts"

const BURST = 200
const PER_SECOND = 2

/** Takes as few requests a second as Resend, on the test's clock. */
const makeLimit = () => {
  const taken = new Map<number, number>()
  return {
    take: (at: number) => {
      const second = Math.floor(at / 1_000)
      const before = taken.get(second) ?? 0
      taken.set(second, before + 1)
      return Promise.resolve(before < PER_SECOND)
    }
  }
}

/** The mail of a server on one provider with a fixed pace. */
const makeWorld = Effect.gen(function* () {
  const database = makeMailDatabase()
  const { queue } = makeSendQueue(database)
  const provider = makeMemoryProvider({ provider: "provider_a", outcome: () => Effect.succeed("ok") })
  let asked = 0
  const counted = limited(provider.provider, makeLimit())
  const paced = {
    ...counted,
    send: (request: Parameters<typeof counted.send>[0]) =>
      Effect.suspend(() => {
        asked += 1
        return counted.send(request)
      })
  }
  const ports = Layer.mergeAll(
    Layer.succeed(MailerConfig, mailerConfig),
    Layer.succeed(QueueConfig, {
      concurrency: 32,
      maxAgeMs: 24 * 3_600_000,
      paces: [{ provider: "provider_a", ...fixedRate(PER_SECOND) }]
    }),
    Layer.succeed(MailStore, database.store),
    Layer.succeed(SendQueue, queue),
    MemoryDeferrals.layer(database),
    NoDeferQueue.layerNone,
    Layer.succeed(MailProviders, { get: (name) => (name === "provider_a" ? paced : undefined) }),
    Templates.layer,
    NodeCrypto.layer
  )
  const mail = Layer.mergeAll(
    Layer.provide(layerMailer, Pace.ofDirectSends),
    Layer.provide(layerSender, Pace.ofQueue),
    Layer.provideMerge(SendLater.layer, layerEnqueue)
  ).pipe(Layer.provideMerge(Pace.layer))
  const context = yield* Layer.build(Layer.provideMerge(mail, ports))
  const sender = Context.get(context, QueueSender)
  return {
    context,
    copies: provider.copies,
    asked: () => asked,
    /** Lets time pass until every one of them was accepted; each second of it is more than the pace needs. */
    untilAllLeft: Effect.gen(function* () {
      yield* Effect.forkScoped(sender.run)
      for (let seconds = 0; seconds < 10 * BURST; seconds += 1) {
        if ((yield* provider.copies).length >= BURST) return
        for (let part = 0; part < 20; part += 1) {
          yield* TestClock.adjust("50 millis")
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
      }
    })
  }
})

const PEOPLE = Array.from({ length: BURST }, (_, n) => `person-${n}@x.test`)

const recipientsOf = (copies: ReadonlyArray<{ readonly body: object }>) =>
  copies.map(({ body }) => /person-\d+@x\.test/.exec(JSON.stringify(body))?.[0] ?? "").sort()

it.effect(
  "a burst of invitations is mailed at the provider's pace, each once, and none is called unsent (MAIL-3, QUEUE-11)",
  () =>
    Effect.gen(function* () {
      const { context, copies, untilAllLeft } = yield* makeWorld
      const sendMail = yield* Effect.provideContext(makeProductMail, context)
      const invite = (to: string) =>
        sendMail(
          { kind: "admin-invite", inviter: "ann", readOnly: false, url: "https://p.test/sign-in" },
          {
            to,
            category: "transactional",
            source: "api:admin-invite",
            idempotencyKey: `invite:${to}`,
            mayWait: true
          }
        )
      const answers = yield* Effect.forEach(PEOPLE, invite, { concurrency: 20 })
      assert.deepStrictEqual(
        answers.filter((answer) => !isOk(answer)),
        []
      )
      // The caller asks again: the mail waits under the same key.
      assert.isTrue(isOk(yield* invite(PEOPLE.at(-1)!)))
      yield* untilAllLeft
      assert.deepStrictEqual(recipientsOf(yield* copies), PEOPLE.toSorted())
    }).pipe(Effect.scoped)
)

it.effect(
  "the messages of many orders that end at once go through the send queue, each once (QUEUE-11)",
  () =>
    Effect.gen(function* () {
      const { asked, context, copies, untilAllLeft } = yield* makeWorld
      const open = new Map(PEOPLE.map((email, n) => [`order-${n}`, email]))
      let turn: Array<readonly [string, string]> = []
      let attempts = 0
      const orders = Layer.mock(BulkOrders, {
        claimMessage: () =>
          Effect.sync(() => {
            const next = turn.pop()
            return next && { bulkId: next[0], email: next[1], endedAt: new Date(0), attempts, items: [] }
          }),
        confirmMessage: (bulkId) => Effect.sync(() => open.delete(bulkId))
      })
      const services = layerBulkMessages.pipe(
        Layer.provide([
          orders,
          Layer.mock(SharedFiles, {}),
          Layer.succeed(BulkMessageSender, { from: "noreply@postlane.test", replyTo: "convert@legacy.test" })
        ]),
        Layer.provide(Layer.succeedContext(context))
      )
      const { sendDue } = yield* Effect.provide(BulkMessages, services)
      const claimAll = Effect.suspend(() => {
        turn = [...open]
        attempts += 1
        return sendDue
      })
      // Those that the provider takes now are sent. Another look asks it for none of the others again.
      const done = yield* claimAll
      assert.deepStrictEqual([done > 0, yield* claimAll, asked()], [true, 0, BURST])
      yield* untilAllLeft
      assert.deepStrictEqual(recipientsOf(yield* copies), PEOPLE.toSorted())
      assert.strictEqual(yield* claimAll, BURST - done)
      assert.strictEqual(open.size, 0)
    }).pipe(Effect.scoped)
)
