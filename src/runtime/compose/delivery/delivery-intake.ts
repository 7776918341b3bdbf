import { Layer, Result } from "effect"

import { hasCredentials } from "../../../adapters/postmark/webhook-credentials.ts"
import { decodeWebhookEvent as decodePostmarkEvent } from "../../../adapters/postmark/webhook-event.ts"
import { decodeWebhookEvent as decodeResendEvent } from "../../../adapters/resend/webhook-event.ts"
import { checkSignatureHeaders, makeSignatureCheck } from "../../../adapters/resend/webhook-signature.ts"
import { decodeBusEvents } from "../../../adapters/ses/bus-event.ts"
import type { IncomingEvent } from "../../../domain/delivery/delivery-event.ts"
import { DeliveryIntake, type WebhookReader, WebhookRefused } from "../../../ports/delivery/delivery-log.ts"
import type { DeliverySettings } from "../../settings/settings.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of the bytes that were signed, to the last of them; undefined where they are no UTF-8. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const refused = (about: WebhookRefused["about"], reason: string) =>
  Result.fail(new WebhookRefused({ about, reason }))

/** Parses the body of an authorised caller. */
const parsed = (body: string | undefined, decode: (body: unknown) => IncomingEvent) => {
  if (body === undefined) return refused("body", "the body is not UTF-8")
  try {
    return Result.succeed(decode(JSON.parse(body)))
  } catch {
    return refused("body", "the body is not JSON")
  }
}

/** Resend's: each body is signed. */
const signed = ({ providerA: { webhookSecrets } }: DeliverySettings): WebhookReader => {
  const check = makeSignatureCheck(webhookSecrets)
  const unset = refused("secret", "PROVIDERA_WEBHOOK_SECRET is unset")
  return {
    admits: (headers) => {
      if (webhookSecrets.length === 0) return unset
      return Result.mapError(
        checkSignatureHeaders(headers, Date.now()),
        ({ reason }) => new WebhookRefused({ about: "signature", reason })
      )
    },
    read: (bytes, headers) => {
      if (webhookSecrets.length === 0) return unset
      const body = textOf(bytes)
      if (body === undefined) return refused("body", "the body is not UTF-8")
      const checked = check(body, headers)
      return Result.isFailure(checked)
        ? refused("signature", checked.failure.reason)
        : parsed(body, decodeResendEvent)
    }
  }
}

/** Postmark's: it signs nothing, and names itself by basic credentials. */
const named = ({ postmark: { webhook } }: DeliverySettings): WebhookReader => {
  const admits: WebhookReader["admits"] = (headers) => {
    if (webhook === undefined) return refused("secret", "POSTMARK_WEBHOOK_PASSWORD is unset")
    return hasCredentials(headers["authorization"], webhook)
      ? Result.void
      : refused("credentials", "the user name or the password is missing or wrong")
  }
  return {
    admits,
    read: (bytes, headers) =>
      Result.flatMap(admits(headers), () => parsed(textOf(bytes), decodePostmarkEvent))
  }
}

/** The vendors' notices behind the port. */
export const layer = (settings: DeliverySettings): Layer.Layer<DeliveryIntake> => {
  const outreachSet = settings.providerB.outreachConfigurationSet
  return Layer.succeed(
    DeliveryIntake,
    DeliveryIntake.of({
      webhooks: { "provider-a-webhook": signed(settings), "postmark-webhook": named(settings) },
      bus: (body) => decodeBusEvents(body, { outreachSet })
    })
  )
}
