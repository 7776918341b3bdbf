import { randomUUID } from "node:crypto"

import { Clock, Effect, Result, type Scope } from "effect"

import { formatMailbox, parseMailbox } from "../../domain/mail/address.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import { type FailureKind, dedupes, type Provider } from "../../domain/mail/failover.ts"
import {
  plainBodyOf,
  plainKey,
  type PlainRequestBody,
  preparePlain,
  withoutPlainRecipients
} from "../../domain/mail/plain-request.ts"
import { type Accepted, type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type {
  Outbox,
  SimulatedEvent,
  SimulatedEventType,
  SimulatedOutcome
} from "../../ports/mail/simulated-mail.ts"
import { type KeyMemory, type makeKeyMemories, payloadHash } from "./key-memory.ts"
import { composeMessage, outboxId } from "./outbox.ts"
import { testAddressType } from "./vendor-event.ts"

/** How much later a slow provider answers. */
const SLOW = "1 second"

/** How long a key whose message is not in the outbox counts as under way elsewhere, milliseconds. */
const UNDER_WAY_MS = 2_000

/** Message ids in the shape of the vendors'. */
const newMessageId = (provider: Provider, now: number): string =>
  provider === "provider_a"
    ? randomUUID()
    : `0100${now.toString(16).padStart(12, "0")}-${randomUUID()}-000000`

type Box = PlainRequestBody["from"]

const display = ({ name, address }: Box): string => {
  const parsed = parseMailbox(address)
  return Result.isSuccess(parsed) ? formatMailbox({ ...parsed.success, name: name ?? undefined }) : address
}

/**
 * A provider that keeps what it accepts in the outbox. `provider_a` remembers idempotency keys as the real one does: the same
 * payload gets the first answer again and no second message, another payload is refused, and a key in progress is ambiguous.
 * `provider_b` ignores keys. A request that has arrived is completed even if its caller has given up, as at a real provider.
 */
export const makeSimulatedProvider = (options: {
  readonly provider: Provider
  readonly outbox: Outbox
  readonly keys: Awaited<ReturnType<typeof makeKeyMemories>>
  /** What to do with the next request. */
  readonly next: Effect.Effect<SimulatedOutcome>
  readonly onEvent: (event: SimulatedEvent) => Effect.Effect<void>
  /** Keeps the fibers that report events. */
  readonly scope: Scope.Scope
}): MailProvider => {
  const { provider, outbox, keys } = options

  const fail = (kind: FailureKind, message: string, code?: string) =>
    new ProviderFailure({ provider, kind, message: `simulated ${provider}: ${message}`, code })

  const report = (body: PlainRequestBody, messageId: string, now: number): Effect.Effect<void> => {
    const all = [...new Set([...body.to, ...body.cc, ...body.bcc].map(plainKey))]
    const byType = Map.groupBy(all, (address) => testAddressType(provider, address))
    const events = [...byType].flatMap(([type, recipients]): ReadonlyArray<SimulatedEvent> =>
      type === undefined
        ? []
        : [
            {
              provider,
              type,
              messageId,
              recipients,
              allRecipients: all,
              from: body.from.address,
              subject: body.subject,
              tags: body.tags,
              configurationSet: body.configurationSet ?? undefined,
              at: new Date(now).toISOString()
            }
          ]
    )
    if (events.length === 0) return Effect.void
    return Effect.forEach(events, options.onEvent, { discard: true }).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning(`simulated ${provider}: an event could not be delivered`, cause)
      ),
      Effect.forkIn(options.scope),
      Effect.asVoid
    )
  }

  const deliver = (body: PlainRequestBody, ids: Pick<KeyMemory, "messageId" | "outboxId" | "at">) =>
    Effect.gen(function* () {
      const raw = yield* Effect.tryPromise({
        try: () =>
          composeMessage(body, {
            messageId: `<${ids.messageId}@${provider.replace("_", "-")}.postlane.test>`,
            date: new Date(ids.at)
          }),
        catch: (cause) => fail("rejected", `the message cannot be composed: ${String(cause)}`)
      })
      const marks = new Set<SimulatedEventType>()
      for (const one of [...body.to, ...body.cc, ...body.bcc]) {
        const type = testAddressType(provider, one.address)
        if (type !== undefined) marks.add(type)
      }
      yield* outbox
        .put({
          id: ids.outboxId,
          via: provider,
          from: display(body.from),
          to: body.to.map(display),
          cc: body.cc.map(display),
          bcc: body.bcc.map(display),
          subject: body.subject,
          messageId: ids.messageId,
          tags: body.tags,
          marks: [...marks],
          raw
        })
        .pipe(
          Effect.mapError((error) =>
            fail("ambiguous", `the outbox cannot be written: ${String(error.cause)}`)
          )
        )
      yield* report(body, ids.messageId, ids.at)
      return { messageId: ids.messageId } satisfies Accepted
    })

  const accept = (
    request: ProviderRequest,
    body: PlainRequestBody
  ): Effect.Effect<Accepted, ProviderFailure> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const wanted: KeyMemory = {
        payloadHash: payloadHash(request),
        messageId: newMessageId(provider, now),
        outboxId: outboxId(now),
        at: now
      }
      if (!dedupes(provider)) return yield* deliver(body, wanted)

      const { mine, memory } = yield* Effect.tryPromise({
        try: () => keys.claim(request.key, wanted),
        catch: (cause) => fail("ambiguous", `the key cannot be remembered: ${String(cause)}`)
      })
      if (mine) return yield* deliver(body, memory)
      if (memory.payloadHash !== wanted.payloadHash) {
        return yield* fail(
          "rejected",
          "same idempotency key used with a different request payload",
          "invalid_idempotent_request"
        )
      }
      const delivered = yield* outbox
        .has(memory.outboxId)
        .pipe(
          Effect.mapError((error) => fail("ambiguous", `the outbox cannot be read: ${String(error.cause)}`))
        )
      if (delivered) return { messageId: memory.messageId }
      if (now - memory.at < UNDER_WAY_MS) {
        return yield* fail(
          "ambiguous",
          "same idempotency key used while the original request is still in progress",
          "concurrent_idempotent_requests"
        )
      }
      return yield* deliver(body, memory)
    }).pipe(Effect.uninterruptible)

  const send = (request: ProviderRequest): Effect.Effect<Accepted, ProviderFailure> =>
    Effect.gen(function* () {
      const body = yield* Effect.mapError(Effect.fromResult(plainBodyOf(request)), (problem) =>
        fail("rejected", problem)
      )
      const outcome = yield* options.next
      switch (outcome) {
        case "ok":
          return yield* accept(request, body)
        case "slow":
          return yield* Effect.delay(accept(request, body), SLOW)
        case "rejected":
          return yield* fail("rejected", "told to reject", "validation_error")
        case "unavailable":
          return yield* fail("unavailable", "told to be unavailable", "service_unavailable")
        case "ambiguous-lost":
          return yield* fail("ambiguous", "told to lose the request", "application_error")
        case "ambiguous-accepted":
          yield* accept(request, body)
          return yield* fail("ambiguous", "told to lose the answer", "application_error")
        case "hang-lost":
          return yield* Effect.never
        case "hang-accepted":
          yield* accept(request, body)
          return yield* Effect.never
      }
    })

  return {
    provider,
    prepare: (message, key) => preparePlain(provider, message, key),
    withoutRecipients: withoutPlainRecipients,
    send
  }
}
