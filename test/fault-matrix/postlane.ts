import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Duration, Effect, type Exit, Fiber, Layer, Logger, Queue } from "effect"
import { TestClock } from "effect/testing"

import { makeDeferBroker } from "../../src/adapters/memory/mail/defer-queue.ts"
import { makeMailDatabase } from "../../src/adapters/memory/mail/mail-store.ts"
import { UndiciResend } from "../../src/adapters/resend/undici-resend.ts"
import { layer as layerMailer, Mailer } from "../../src/application/mail/mailer.ts"
import { layer as layerRetry, RetryHandler } from "../../src/application/mail/retry.ts"
import { MailerConfig } from "../../src/application/mail/sending.ts"
import { DEFAULT_DEFER_DELAYS_SECONDS } from "../../src/domain/mail/deferred-send.ts"
import type { SendRequest } from "../../src/domain/mail/message.ts"
import { type ReportingProvider, reports } from "../../src/domain/mail/provider.ts"
import type { SendResult } from "../../src/domain/mail/send-result.ts"
import { type EmailStatus, statusRank } from "../../src/domain/mail/status.ts"
import { DeferQueue } from "../../src/ports/mail/defer-queue.ts"
import { MailProviders } from "../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../src/ports/mail/mail-store.ts"
import type { StoreUnavailable } from "../../src/ports/store-unavailable.ts"
import type { FakeHttp } from "../support/vendors/fake-http.ts"
import { postmarkWithFake, resendWithFake, sesWithFake } from "../support/vendors/fake-peers.ts"
import { type Cell, scriptOf } from "./cells.ts"

/** What one run of a cell came to. */
export interface PostlaneRun {
  /** What the caller got. */
  readonly result: SendResult
  /** The furthest status of all rows of the key, once nothing is queued any more; `undefined` without a row. */
  readonly finalStatus: EmailStatus | undefined
  /** Copies that left each provider. */
  readonly copies: Readonly<Record<ReportingProvider, number>>
  /** Requests that reached each provider while the call lasted; one that refuses the connection sees none. */
  readonly asked: Readonly<Record<ReportingProvider, number>>
  /** Queued retries that were worked on. */
  readonly retries: number
}

const KEY = "fault-matrix"

const REQUEST: SendRequest = {
  to: "ann@example.test",
  subject: "Hello",
  text: "Hi",
  category: "transactional",
  source: "test:fault-matrix",
  idempotencyKey: KEY
}

const ATTEMPT_TIMEOUT_MS = 15_000

/** The fallback of this primary. */
export const otherThan = (primary: ReportingProvider): ReportingProvider =>
  primary === "provider_a" ? "provider_b" : "provider_a"

/** Copies that left, of all providers together. */
export const copiesOf = ({ copies }: PostlaneRun): number =>
  copies.provider_a + copies.provider_b + copies.postmark

/** The id by which a provider's events name the copy of this acceptance. */
const messageIdOf = (provider: ReportingProvider, acceptance: string): string =>
  provider === "provider_b" ? `0100${acceptance}-000000` : acceptance

const countsOf = (
  { postmark, provider_a, provider_b }: Readonly<Record<ReportingProvider, { readonly fake: FakeHttp }>>,
  count: (fake: FakeHttp) => number
) => ({
  provider_a: count(provider_a.fake),
  provider_b: count(provider_b.fake),
  postmark: count(postmark.fake)
})

/**
 * Sends one mail through the real mailer and the real adapters, then lets the provider work again and the queue run dry.
 * The production time limits and delays run on a clock that the run itself moves, so that no machine is too slow for it.
 *
 * With `event`, a delivery event of the copy that the first attempt left is recorded between the call and its retry.
 */
export const runPostlane = (cell: Cell, options: { readonly event: boolean }): Promise<PostlaneRun> =>
  Effect.gen(function* () {
    const { primary } = cell
    const peers = {
      provider_a: yield* resendWithFake({}, UndiciResend),
      provider_b: yield* sesWithFake(),
      postmark: yield* postmarkWithFake()
    }
    const { fake } = peers[primary]
    const database = makeMailDatabase()
    const broker = makeDeferBroker({ visibilitySeconds: 60 })
    const { queue } = broker.attach()
    const handled = yield* Queue.unbounded<Exit.Exit<void, StoreUnavailable>>()
    let retries = 0

    const ports = Layer.mergeAll(
      NodeCrypto.layer,
      Layer.succeed(MailStore, database.store),
      Layer.succeed(DeferQueue, queue),
      Layer.succeed(MailProviders, {
        get: (provider) => (reports(provider) ? peers[provider].provider : undefined)
      }),
      Layer.succeed(MailerConfig, {
        primary,
        fallback: otherThan(primary),
        defaults: {
          from: { name: undefined, local: "noreply", domain: "postlane.test" },
          domains: { sender: "postlane.test", legacy: "legacy.test" }
        },
        attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
        dbTimeoutMs: 2_500,
        deferDelaysSeconds: DEFAULT_DEFER_DELAYS_SECONDS,
        costUsd: { provider_a: 0.0004, provider_b: 0.0001, smtp: 0, postmark: 0.0015 }
      })
    )

    /** The call, its time-out set off once the request that nobody answers has arrived. */
    const call = Effect.gen(function* () {
      yield* Effect.promise(() => fake.always(scriptOf(cell)))
      const mailer = yield* Mailer
      const sending = yield* Effect.forkChild(mailer.send(REQUEST))
      if (cell.outcome.fault === "hang") {
        yield* Effect.promise(() => fake.until(() => fake.requests.length > 0))
        yield* TestClock.adjust(ATTEMPT_TIMEOUT_MS)
      }
      return yield* Fiber.join(sending)
    })

    const announce = Effect.suspend(() =>
      Effect.forEach(fake.accepted, ({ id }) => {
        const keyTag = database.rows()[0]?.keyTag ?? undefined
        const providerMessageId = messageIdOf(primary, id)
        return database.recordEvent({ provider: primary, providerMessageId, event: "delivered", keyTag })
      })
    )

    const runQueueDry = Effect.gen(function* () {
      const handler = yield* RetryHandler
      yield* queue
        .consume((message) => Effect.onExit(handler.handle(message), (exit) => Queue.offer(handled, exit)), {
          concurrency: 1
        })
        .pipe(Effect.forkScoped)
      while ((yield* broker.pending).some(({ held }) => !held)) {
        // To the moment it is due and no further: the retry's own time limit starts there.
        yield* TestClock.adjust(Duration.seconds(DEFAULT_DEFER_DELAYS_SECONDS[retries] ?? 0))
        yield* yield* Queue.take(handled)
        retries += 1
      }
    })

    return yield* Effect.gen(function* () {
      const result = yield* call
      const asked = countsOf(peers, ({ received }) => received)
      yield* Effect.promise(() => fake.always("ok"))
      if (options.event) yield* announce
      yield* runQueueDry
      const statuses = database
        .rows()
        .map(({ status }) => status)
        .sort((a, b) => statusRank(b) - statusRank(a))
      return {
        result,
        asked,
        retries,
        finalStatus: statuses[0],
        copies: countsOf(peers, ({ acceptedCount }) => acceptedCount)
      }
    }).pipe(Effect.provide(Layer.mergeAll(layerMailer, layerRetry).pipe(Layer.provide(ports))))
  }).pipe(Effect.scoped, Effect.provide([TestClock.layer(), Logger.layer([])]), (run) =>
    Effect.runPromise(run)
  )
