import { Data, Effect, Stream } from "effect"

import { type ReturnLater, ReturnedMails } from "../../application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { withinLimits } from "../../application/inbound/mail-limits.ts"
import { MAX_MAIL_BYTES } from "../../domain/inbound/incoming-mail.ts"
import { isQuotableAddress } from "../../domain/inbound/quotable.ts"
import type { ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { EmailMessage } from "./bindings.ts"

/** The routing service's name in the `Authentication-Results` that it writes on top of each mail. */
export const ROUTING_SERVICE = "mx.cloudflare.net"

/** The mail has more than {@link MAX_MAIL_BYTES}. */
class TooLarge extends Data.TaggedError("TooLarge") {}

/** The mail stopped coming. */
class Cut extends Data.TaggedError("Cut")<{ readonly cause: unknown }> {}

/** Outcome of a mail from the routing service: accepted, or permanently refused, and why. A delivery report leaves nothing to work on. */
type Taken = { readonly id: string } | { readonly reported: true } | { readonly refused: string }

const tooLarge: Taken = { refused: `Mail is larger than ${MAX_MAIL_BYTES} bytes` }

/** Streams a mail up to the size limit, counted here: the size that the service names is not relied on. */
const bytesOf = ({ raw }: EmailMessage): Stream.Stream<Uint8Array, TooLarge | Cut> => {
  let size = 0
  return Stream.fromReadableStream<Uint8Array, Cut>({
    evaluate: () => raw,
    onError: (cause) => new Cut({ cause })
  }).pipe(
    Stream.mapEffect((bytes) => {
      size += bytes.length
      return size > MAX_MAIL_BYTES ? Effect.fail(new TooLarge()) : Effect.succeed(bytes)
    })
  )
}

/**
 * Takes a mail in for one of these addresses (in lower case): durable when it ends. It fails where the mail is not durable, and
 * may then be handed over again; the sender is refused only what would never be taken.
 *
 * The platform hands over nothing that did not pass its own checks, so what it writes on top of a mail is believed.
 */
export const takeIn = (
  message: EmailMessage,
  recipients: ReadonlySet<string>
): Effect.Effect<
  Taken,
  Cut | ObjectStoreError | ReturnLater | StoreUnavailable,
  ConvertByEmail | ReturnedMails
> =>
  Effect.flatMap(ReturnedMails, (returns) =>
    returns.isFor(message.to)
      ? returns.accept({ to: message.to, raw: bytesOf(message) }).pipe(
          Effect.as<Taken>({ reported: true }),
          Effect.catchTag("TooLarge", () => Effect.succeed(tooLarge))
        )
      : takeDocument(message, recipients)
  )

const takeDocument = (
  message: EmailMessage,
  recipients: ReadonlySet<string>
): Effect.Effect<Taken, Cut | ObjectStoreError | StoreUnavailable, ConvertByEmail> => {
  if (!recipients.has(message.to.toLowerCase())) return Effect.succeed({ refused: "No such mailbox here" })
  if (!isQuotableAddress(message.from))
    return Effect.succeed({ refused: "Such a sender address is not taken" })
  if (message.rawSize > MAX_MAIL_BYTES) return Effect.succeed(tooLarge)
  return ConvertByEmail.use((intake) =>
    intake.accept({ envelopeFrom: message.from, peerTrusted: true, raw: withinLimits(bytesOf(message)) })
  ).pipe(
    Effect.map((id): Taken => ({ id })),
    Effect.catchTag("TooLarge", () => Effect.succeed(tooLarge)),
    Effect.catchTag("BeyondLimits", (beyond) =>
      Effect.succeed<Taken>({ refused: `Mail that cannot be read: ${beyond.message}` })
    )
  )
}
