import { Context, Data, Effect, Layer, Semaphore, Stream } from "effect"

import { eventOfReport } from "../../domain/delivery/returned/report-event.ts"
import { readReport, type DeliveryReport, type ReturnedMail } from "../../domain/delivery/returned/report.ts"
import type { KeyTag } from "../../domain/ids.ts"
import {
  RETURN_HEADER,
  type ReturnAddress,
  returnMessageId,
  readReturnPath,
  tagOfToken
} from "../../domain/mail/return-address.ts"
import { DeliveryLog } from "../../ports/delivery/delivery-log.ts"
import { ReturnReader } from "../../ports/delivery/return-reader.ts"
import { EventRecording } from "./event-recording.ts"

/** A report cannot be taken now: its server keeps it and tries again. */
export class ReturnLater extends Data.TaggedError("ReturnLater")<{ readonly why: string }> {}

/** What became of a mail to the bounce address: events recorded, or the reason why nothing was recorded. */
type ReturnTaken = { readonly recorded: number } | { readonly ignored: string }

/** Bytes that are read of one. The report comes before the mail that it returns, which may have any size. */
const MAX_READ_BYTES = 128 * 1024

/** Mails that are read at the same time, each in a separate process. */
const READ_AT_ONCE = 4

/** The beginning of a mail; the rest is received and dropped. */
const beginningOf = <E, R>(raw: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Uint8Array, E, R> =>
  Stream.runFold(
    raw,
    () => ({ pieces: new Array<Uint8Array>(), bytes: 0 }),
    (held, piece) => {
      const kept = piece.subarray(0, MAX_READ_BYTES - held.bytes)
      if (kept.length > 0) held.pieces.push(kept)
      held.bytes += kept.length
      return held
    }
  ).pipe(
    Effect.map(({ bytes, pieces }) => {
      const whole = new Uint8Array(bytes)
      let at = 0
      for (const piece of pieces) {
        whole.set(piece, at)
        at += piece.length
      }
      return whole
    })
  )

/** The tag that a report proves to know (RETURN-3): by the address that it came to, by its envelope id, or by the returned header. */
const provenTag = (
  address: ReturnAddress,
  to: string,
  { envelopeId = "" }: DeliveryReport,
  { returned }: ReturnedMail
): KeyTag | undefined => {
  const inAddress = readReturnPath(address, to)?.tag ?? tagOfToken(envelopeId)
  if (inAddress !== undefined) return inAddress
  const valueOf = (name: string) => returned.find((header) => header.name === name)?.value ?? ""
  const tag = tagOfToken(valueOf(RETURN_HEADER.toLowerCase()))
  // A header alone may be quoted; with its Message-ID it is the header of that mail.
  return tag !== undefined && valueOf("message-id") === `<${returnMessageId(address, tag)}>` ? tag : undefined
}

/** A delivery report about a mail of the relay. */
interface Returned<E, R> {
  /** Recipient of the report. */
  readonly to: string
  readonly raw: Stream.Stream<Uint8Array, E, R>
}

/** Makes events of the reports that come back to `BOUNCE_ADDRESS` (RETURN-1 to RETURN-6). */
export class ReturnedMails extends Context.Service<
  ReturnedMails,
  {
    /** True: mail to this address is a returned one. */
    readonly isFor: (to: string) => boolean
    /** Ends once the events are durable, or once nothing is to be recorded. */
    readonly accept: <E, R>(mail: Returned<E, R>) => Effect.Effect<ReturnTaken, E | ReturnLater, R>
  }
>()("postlane/application/ReturnedMails") {}

const later = (why: string) => new ReturnLater({ why })

/** Records a report's events. */
const makeRecord = Effect.map(Effect.all([DeliveryLog, EventRecording]), ([log, recording]) =>
  Effect.fnUntraced(function* (
    { recipients }: DeliveryReport,
    mail: { readonly messageId: string; readonly keyTag: KeyTag }
  ): Effect.fn.Return<ReturnTaken, ReturnLater> {
    const away = () => later("the database does not answer")
    const addresses = recipients.flatMap((one) => one.addresses)
    const found = yield* Effect.mapError(log.mailOfReport(mail, addresses), away)
    if (found === undefined) return { ignored: "its token is of no mail of this installation" }
    if (found.recipients === undefined) return yield* later("its mail is not in the log yet")
    const known = new Set(found.recipients)
    let recorded = 0
    for (const recipient of recipients) {
      const address = recipient.addresses.find((one) => known.has(one))
      const event = address === undefined ? undefined : eventOfReport(recipient, { ...mail, address })
      if (event === undefined) continue
      yield* Effect.mapError(recording.recordFirst(event), away)
      recorded += 1
    }
    return recorded > 0
      ? { recorded }
      : { ignored: "it names no recipient of its mail, or says nothing of one" }
  })
)

/** The service; without a bounce address no mail is a returned one. */
export const layer = (
  address: ReturnAddress | undefined
): Layer.Layer<ReturnedMails, never, DeliveryLog | EventRecording | ReturnReader> =>
  Layer.effect(
    ReturnedMails,
    Effect.gen(function* () {
      const reader = yield* ReturnReader
      const record = yield* makeRecord
      const places = yield* Semaphore.make(READ_AT_ONCE)

      const read = Effect.fnUntraced(function* (own: ReturnAddress, to: string, raw: Uint8Array) {
        const mail = yield* Effect.result(places.withPermit(reader.read(raw)))
        if (mail._tag === "Failure") {
          const { message, reason } = mail.failure
          return reason === "unavailable" ? yield* later(message) : { ignored: message }
        }
        const { status } = mail.success
        if (status === undefined) return { ignored: "it is no delivery report" }
        const report = readReport(status)
        if (typeof report === "string") return { ignored: report }
        const keyTag = provenTag(own, to, report, mail.success)
        if (keyTag === undefined) return { ignored: "it does not prove which mail it is about" }
        return yield* record(report, { messageId: returnMessageId(own, keyTag), keyTag })
      })

      return ReturnedMails.of({
        isFor: (to) => address !== undefined && readReturnPath(address, to) !== undefined,
        accept: Effect.fnUntraced(function* ({ raw, to }) {
          const beginning = yield* beginningOf(raw)
          const taken: ReturnTaken =
            address === undefined
              ? { ignored: "there is no bounce address" }
              : yield* read(address, to, beginning)
          if ("ignored" in taken)
            yield* Effect.logInfo(`a mail to the bounce address changed nothing: ${taken.ignored}`)
          return taken
        })
      })
    })
  )
