import { Data, Redacted, Result } from "effect"
import { Webhook } from "standardwebhooks"

/** Headers as a server has them. */
type SignedHeaders = Readonly<Record<string, unknown>>

/** The signature is not the vendor's, or too old or new. */
export class BadSignature extends Data.TaggedError("BadSignature")<{ readonly reason: string }> {}

/** Resend's own header names, and those of Standard Webhooks. */
const FAMILIES = ["svix", "webhook"] as const

const SECONDS = /^\d{1,15}$/

const headersOf = (headers: SignedHeaders, family: (typeof FAMILIES)[number]) => {
  const id = headers[`${family}-id`]
  const timestamp = headers[`${family}-timestamp`]
  const signature = headers[`${family}-signature`]
  return typeof id === "string" &&
    typeof timestamp === "string" &&
    typeof signature === "string" &&
    SECONDS.test(timestamp)
    ? { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }
    : undefined
}

/** How far the time in the headers may be from now, on either side (EVENT-1), seconds. */
const TOLERANCE_SECONDS = 300

const farOff = new BadSignature({
  reason: "the signature's time is more than five minutes from this machine's: look at its clock"
})

const isNear = (signed: { readonly "webhook-timestamp": string }, now: number): boolean =>
  Math.abs(Number(signed["webhook-timestamp"]) - now / 1000) <= TOLERANCE_SECONDS + 1

/**
 * Whether the headers may be those of a signed request: checked before its body is read, so that a forged request cannot make the
 * server keep a megabyte. `now` in milliseconds since the epoch.
 */
export const checkSignatureHeaders = (
  headers: SignedHeaders,
  now: number
): Result.Result<void, BadSignature> => {
  const signed = FAMILIES.flatMap((family) => headersOf(headers, family) ?? [])
  if (signed.length === 0) {
    return Result.fail(new BadSignature({ reason: "the signature headers are missing or malformed" }))
  }
  return signed.some((family) => isNear(family, now)) ? Result.void : Result.fail(farOff)
}

/** The verifier of one secret; none where the secret is malformed, so that it accepts nothing. */
const webhookOf = (secret: Redacted.Redacted): ReadonlyArray<Webhook> => {
  try {
    return [new Webhook(Redacted.value(secret))]
  } catch {
    return []
  }
}

/**
 * Makes the verifier of raw bodies under the Standard Webhooks scheme (its specification, "Verifying signatures"): any of the
 * secrets, either header family, any of several signatures, at most five minutes from now on either side. Without a secret
 * nothing is accepted.
 */
export const makeSignatureCheck = (secrets: ReadonlyArray<Redacted.Redacted>) => {
  const webhooks = secrets.flatMap(webhookOf)
  return (body: string, headers: SignedHeaders): Result.Result<void, BadSignature> => {
    const signed = FAMILIES.flatMap((family) => headersOf(headers, family) ?? [])
    if (signed.length === 0) {
      return Result.fail(new BadSignature({ reason: "the signature headers are missing or malformed" }))
    }
    for (const webhook of webhooks) {
      for (const family of signed) {
        try {
          webhook.verify(body, family, { jsonParse: false })
          return Result.void
        } catch {
          // Another secret or family may fit.
        }
      }
    }
    return Result.fail(
      signed.some((family) => isNear(family, Date.now()))
        ? new BadSignature({
            reason: "the signature does not hold: its secret is another one, or the body was changed"
          })
        : farOff
    )
  }
}
