import { Effect, Layer, Redacted } from "effect"

import type { DeliveryEvent } from "../../domain/delivery/delivery-event.ts"
import {
  bareAddressesOf,
  bareAddressOf,
  fieldsOf,
  idOf,
  isDeeperThan,
  keyTagOf,
  listOf,
  tagsOf,
  textOf,
  timeOf
} from "../../domain/delivery/untrusted.ts"
import { append } from "../../domain/lists.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { KEY_TAG } from "../../domain/mail/tag.ts"
import { ListFailure, RecentEvents } from "../../ports/delivery/event-poll.ts"
import { ask, isToken, type PostmarkOptions } from "./api.ts"
import { classifyAnswer } from "./classify.ts"
import { MARKETING_STREAM } from "./request.ts"
import { decodeWebhookEvent } from "./webhook-event.ts"

/** The vendor's largest page, and a limit on it, bytes. */
const PAGE = 500
const MAX_PAGE = 16 * 1024 * 1024

/** How deep an item may nest; the vendor's stay below five. */
const MAX_DEPTH = 20

const kindOf = (status: number): ListFailure["kind"] => {
  if (status === 429) return "throttled"
  return status < 500 ? "refused" : "unavailable"
}

/** A mail of the list: it was accepted, whatever became of the answer. Undefined where it cannot be recorded. */
const sent = (item: unknown): DeliveryEvent | undefined => {
  const { Bcc, Cc, From, MessageID, Metadata, ReceivedAt, Recipients, Subject, To } = fieldsOf(item)
  const id = idOf(MessageID)
  if (id === undefined) return undefined
  const tags = tagsOf(Object.entries(fieldsOf(Metadata)))
  const named = [To, Cc, Bcc].flatMap(listOf).map((one) => fieldsOf(one)["Email"])
  const recipients = bareAddressesOf(Recipients)
  return {
    provider: "postmark",
    providerMessageId: id,
    event: "sent",
    occurredAt: timeOf(ReceivedAt),
    recipients: recipients.length > 0 ? recipients : bareAddressesOf(named),
    from: bareAddressOf(From),
    subject: textOf(Subject),
    reason: undefined,
    keyTag: keyTagOf(tags[KEY_TAG]),
    bounceType: undefined,
    suppress: undefined,
    alertable: true,
    tags,
    raw: item
  }
}

const bounced = (item: unknown): DeliveryEvent | undefined => {
  const incoming = decodeWebhookEvent({ ...fieldsOf(item), RecordType: "Bounce" })
  return incoming._tag === "Event" ? incoming.event : undefined
}

/** The newest items of a list in one stream; none where the server has not got the stream. */
const listed = Effect.fnUntraced(function* (
  options: PostmarkOptions,
  path: "/messages/outbound" | "/bounces",
  stream: string
) {
  const fail = (kind: ListFailure["kind"], message: string, retryAfterMs?: number) =>
    new ListFailure({
      kind,
      message: failureText(message, [Redacted.value(options.serverToken)]),
      retryAfterMs
    })
  const query = new URLSearchParams({ count: String(PAGE), offset: "0", messagestream: stream })
  const answer = yield* Effect.mapError(
    ask(options, `${path}?${query.toString()}`, { maxBytes: MAX_PAGE }),
    ({ why }) => fail("unavailable", why)
  )
  if (stream !== options.messageStream && (answer.status === 404 || answer.status === 422)) return []
  if (answer.status !== 200) {
    return yield* fail(kindOf(answer.status), classifyAnswer(answer).message, answer.retryAfterMs)
  }
  const items = fieldsOf(answer.body)[path === "/bounces" ? "Bounces" : "Messages"]
  if (!Array.isArray(items)) return yield* fail("unavailable", "the answer is no list")
  return listOf(items).filter((item) => !isDeeperThan(item, MAX_DEPTH))
})

const eventsOf = (
  items: ReadonlyArray<unknown>,
  decode: (item: unknown) => DeliveryEvent | undefined
): ReadonlyArray<DeliveryEvent> => items.flatMap((item) => decode(item) ?? [])

/** `GET /messages/outbound` and `GET /bounces` of both streams: the newest of each. */
export const makeRecentEvents = (options: PostmarkOptions): RecentEvents["Service"] =>
  RecentEvents.of({
    provider: "postmark",
    newest: Effect.gen(function* () {
      if (!isToken(Redacted.value(options.serverToken))) {
        return yield* new ListFailure({ kind: "unconfigured", message: "the server token is malformed" })
      }
      const found: Array<DeliveryEvent> = []
      for (const stream of new Set([options.messageStream, MARKETING_STREAM])) {
        // A mail before its bounces, so that the row is there.
        append(found, eventsOf(yield* listed(options, "/messages/outbound", stream), sent))
        append(found, eventsOf(yield* listed(options, "/bounces", stream), bounced))
      }
      return found
    })
  })

/** The lists of the server that the token is of. */
export const layer = (options: PostmarkOptions): Layer.Layer<RecentEvents> =>
  Layer.sync(RecentEvents, () => makeRecentEvents(options))
