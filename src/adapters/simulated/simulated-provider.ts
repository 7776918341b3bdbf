import { randomUUID } from "node:crypto"

import { Clock, Effect, Option, Result, Schema, type Scope } from "effect"

import { formatMailbox, parseMailbox } from "../../domain/mail/address.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import {
  plainBodyOf,
  plainKey,
  type PlainRequestBody,
  preparePlain,
  withoutPlainRecipients
} from "../../domain/mail/plain-request.ts"
import { dedupes, type Provider, reports } from "../../domain/mail/provider.ts"
import { type ReturnAddress, returnMessageId } from "../../domain/mail/return-address.ts"
import { type Accepted, type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type { Outbox, SimulatedEvent, SimulatedOutcome } from "../../ports/mail/simulated-mail.ts"
import { composeMessage, wordsOf } from "../mime/compose-message.ts"
import { tagIn } from "./delivery-report.ts"
import { type KeyMemory, type makeKeyMemories, payloadHash } from "./key-memory.ts"
import { outboxId } from "./outbox.ts"
import type { Asked } from "./scripts.ts"
import { testAddressType } from "./vendor-event.ts"

/** How much later a slow provider answers. */
const SLOW = "1 second"

/** How long a key without a message in the outbox counts as under way elsewhere, milliseconds. */
const UNDER_WAY_MS = 2_000

/** Message ids in the shape of the vendors'. */
const newMessageId = (
  { provider, returns }: Pick<Simulation, "provider" | "returns">,
  { tags }: PlainRequestBody,
  now: number
): string => {
  const tag = tagIn(tags)
  // A relay's own: what is sent again has the same one.
  if (provider === "smtp" && returns !== undefined && tag !== undefined) return returnMessageId(returns, tag)
  return provider === "provider_b" || provider === "smtp"
    ? `0100${now.toString(16).padStart(12, "0")}-${randomUUID()}-000000`
    : randomUUID()
}

type Box = PlainRequestBody["from"]

const display = ({ name, address }: Box): string => {
  const parsed = parseMailbox(address)
  return Result.isSuccess(parsed) ? formatMailbox({ ...parsed.success, name: name ?? undefined }) : address
}

/** What a simulated provider is made of. */
interface Simulation {
  readonly provider: Provider
  readonly returns?: ReturnAddress | undefined
  readonly outbox: Outbox
  readonly keys: Awaited<ReturnType<typeof makeKeyMemories>>
  /** What to do with a request. */
  readonly next: (asked: Asked) => Effect.Effect<SimulatedOutcome, ProviderFailure>
  readonly onEvent: (event: SimulatedEvent) => Effect.Effect<void>
  /** Keeps the fibers that report events. */
  readonly scope: Scope.Scope
}

type MessageIds = Pick<KeyMemory, "messageId" | "outboxId" | "at">

const recordOf = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Json))

const membersOf = ({ body }: ProviderRequest): Readonly<Record<string, Schema.Json>> =>
  Option.getOrElse(recordOf(body), () => ({}))

/** Members of a request for scripts and the outbox; real providers do not get them. */
interface Labels {
  readonly category?: string
  readonly source?: string
}

const labelled = (request: ProviderRequest, labels: Labels): ProviderRequest => ({
  ...request,
  body: { ...membersOf(request), ...labels }
})

const labelsOf = (request: ProviderRequest): Labels => {
  const { category, source } = membersOf(request)
  return {
    ...(typeof category === "string" ? { category } : {}),
    ...(typeof source === "string" ? { source } : {})
  }
}

/** The request without its source: the same key from another source is the same request. */
const askedFor = (request: ProviderRequest): ProviderRequest => {
  const { source: _source, ...body } = membersOf(request)
  return { ...request, body }
}

const failure = (
  { provider }: Simulation,
  kind: FailureKind,
  message: string,
  code?: string
): ProviderFailure =>
  new ProviderFailure({
    provider,
    kind,
    message: `simulated ${provider}: ${message}`,
    code,
    ...(code === "invalid_idempotent_request" ? { knowsKey: true } : {})
  })

const everyBox = ({ bcc, cc, to }: PlainRequestBody): ReadonlyArray<Box> => [...to, ...cc, ...bcc]

/** The events that the test addresses among the recipients trigger. */
const eventsOf = (
  { provider }: Simulation,
  body: PlainRequestBody,
  { at, messageId }: MessageIds
): ReadonlyArray<SimulatedEvent> => {
  if (!reports(provider)) return []
  const allRecipients = [...new Set(everyBox(body).map(plainKey))]
  const byType = Map.groupBy(allRecipients, (address) => testAddressType(provider, address))
  return [...byType].flatMap(([type, recipients]): ReadonlyArray<SimulatedEvent> =>
    type === undefined
      ? []
      : [
          {
            provider,
            type,
            messageId,
            recipients,
            allRecipients,
            from: body.from.address,
            subject: body.subject,
            tags: body.tags,
            configurationSet: body.configurationSet ?? undefined,
            at: new Date(at).toISOString()
          }
        ]
  )
}

/** Reports the events of an accepted message, in a separate fiber. */
const report = (
  { onEvent, provider, scope }: Simulation,
  events: ReadonlyArray<SimulatedEvent>
): Effect.Effect<void> =>
  events.length === 0
    ? Effect.void
    : Effect.forEach(events, onEvent, { discard: true }).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning(`simulated ${provider}: an event could not be delivered`, cause)
        ),
        Effect.forkIn(scope),
        Effect.asVoid
      )

/** Puts the message into the outbox. */
const deliver = Effect.fnUntraced(function* (
  simulation: Simulation,
  request: ProviderRequest,
  body: PlainRequestBody,
  ids: MessageIds
): Effect.fn.Return<Accepted, ProviderFailure> {
  const { outbox, provider } = simulation
  const raw = yield* Effect.tryPromise({
    try: () =>
      composeMessage(body, {
        messageId: `<${ids.messageId}@${provider.replace("_", "-")}.postlane.test>`,
        date: new Date(ids.at)
      }),
    catch: (cause) => failure(simulation, "rejected", `the message cannot be composed: ${String(cause)}`)
  })
  const events = eventsOf(simulation, body, ids)
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
      key: request.key,
      ...labelsOf(request),
      files: body.attachments.filter(({ contentId }) => contentId === null).length,
      tags: body.tags,
      configurationSet: body.configurationSet ?? undefined,
      marks: events.map(({ type }) => type),
      text: wordsOf(body),
      raw
    })
    .pipe(
      Effect.mapError((error) =>
        failure(simulation, "ambiguous", `the outbox cannot be written: ${error.reason}`)
      )
    )
  yield* report(simulation, events)
  return { messageId: ids.messageId }
})

/** Answers a key that was seen before as the real provider does. */
const repeat = Effect.fnUntraced(function* (
  simulation: Simulation,
  request: ProviderRequest,
  body: PlainRequestBody,
  memory: KeyMemory,
  wanted: KeyMemory
): Effect.fn.Return<Accepted, ProviderFailure> {
  if (memory.payloadHash !== wanted.payloadHash) {
    return yield* failure(
      simulation,
      "rejected",
      "same idempotency key used with a different request payload",
      "invalid_idempotent_request"
    )
  }
  const delivered = yield* Effect.mapError(simulation.outbox.has(memory.outboxId), (error) =>
    failure(simulation, "ambiguous", `the outbox cannot be read: ${error.reason}`)
  )
  if (delivered) return { messageId: memory.messageId }
  if (wanted.at - memory.at < UNDER_WAY_MS) {
    return yield* failure(
      simulation,
      "ambiguous",
      "same idempotency key used while the original request is still in progress",
      "concurrent_idempotent_requests"
    )
  }
  return yield* deliver(simulation, request, body, memory)
})

const accept = Effect.fnUntraced(function* (
  simulation: Simulation,
  request: ProviderRequest,
  body: PlainRequestBody
): Effect.fn.Return<Accepted, ProviderFailure> {
  const { keys, provider } = simulation
  const now = yield* Clock.currentTimeMillis
  const wanted: KeyMemory = {
    payloadHash: payloadHash(askedFor(request)),
    messageId: newMessageId(simulation, body, now),
    outboxId: outboxId(now),
    at: now
  }
  if (!dedupes(provider)) return yield* deliver(simulation, request, body, wanted)
  const { memory, mine } = yield* Effect.tryPromise({
    try: () => keys.claim(request.key, wanted),
    catch: (cause) => failure(simulation, "ambiguous", `the key cannot be remembered: ${String(cause)}`)
  })
  return yield* mine
    ? deliver(simulation, request, body, memory)
    : repeat(simulation, request, body, memory, wanted)
}, Effect.uninterruptible)

/** One request, by the outcome that the script names for it. */
const send = Effect.fnUntraced(function* (
  simulation: Simulation,
  request: ProviderRequest
): Effect.fn.Return<Accepted, ProviderFailure> {
  const decoded = plainBodyOf(request)
  if (Result.isFailure(decoded)) return yield* failure(simulation, "rejected", decoded.failure)
  const accepted = accept(simulation, request, decoded.success)
  const outcome = yield* simulation.next({
    to: everyBox(decoded.success).map(plainKey),
    key: request.key,
    category: labelsOf(request).category
  })
  switch (outcome) {
    case "ok":
      return yield* accepted
    case "slow":
      return yield* Effect.delay(accepted, SLOW)
    case "rejected":
      return yield* failure(simulation, "rejected", "the script rejects this request", "validation_error")
    case "unavailable":
      return yield* failure(
        simulation,
        "unavailable",
        "the script has no capacity for this request",
        "service_unavailable"
      )
    case "ambiguous-lost":
      return yield* failure(simulation, "ambiguous", "the script loses this request", "application_error")
    case "ambiguous-accepted":
      yield* accepted
      return yield* failure(simulation, "ambiguous", "the script loses this answer", "application_error")
    case "hang-lost":
      return yield* Effect.never
    case "hang-accepted":
      yield* accepted
      return yield* Effect.never
  }
})

/**
 * A provider that keeps what it accepts in the outbox. `provider_a` remembers idempotency keys as the real one does: the same
 * payload gets the first answer again and no second message, another payload is refused, and a key in progress is ambiguous.
 * The others ignore keys. A request that has arrived is completed even if its caller has given up, as at a real provider.
 */
export const makeSimulatedProvider = (simulation: Simulation): MailProvider => ({
  provider: simulation.provider,
  prepare: (message, key) => {
    const { category, source } = message
    return labelled(preparePlain(simulation.provider, message, key), { category, source })
  },
  withoutRecipients: (request, blocked) => {
    const left = withoutPlainRecipients(request, blocked)
    return left && labelled(left, labelsOf(request))
  },
  send: (request) => send(simulation, request)
})
