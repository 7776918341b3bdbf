import { Layer, Result } from "effect"

import { decodeWebhookEvent } from "../../adapters/resend/webhook-event.ts"
import { makeSignatureCheck } from "../../adapters/resend/webhook-signature.ts"
import { decodeBusEvents } from "../../adapters/ses/bus-event.ts"
import { DeliveryIntake, WebhookRefused } from "../../ports/delivery/delivery-log.ts"
import type { DeliverySettings } from "../settings/settings.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of the bytes that were signed, to the last of them; undefined where they are no UTF-8. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The vendors' notices behind the port. */
export const layer = (settings: DeliverySettings): Layer.Layer<DeliveryIntake> => {
  const { webhookSecrets } = settings.providerA
  const check = makeSignatureCheck(webhookSecrets)
  const outreachSet = settings.providerB.outreachConfigurationSet
  return Layer.succeed(
    DeliveryIntake,
    DeliveryIntake.of({
      webhook: (bytes, headers) => {
        if (webhookSecrets.length === 0) {
          return Result.fail(
            new WebhookRefused({ about: "secret", reason: "PROVIDERA_WEBHOOK_SECRET is unset" })
          )
        }
        const body = textOf(bytes)
        if (body === undefined) {
          return Result.fail(new WebhookRefused({ about: "body", reason: "the body is not UTF-8" }))
        }
        const checked = check(body, headers)
        if (Result.isFailure(checked)) {
          return Result.fail(new WebhookRefused({ about: "signature", reason: checked.failure.reason }))
        }
        try {
          return Result.succeed(decodeWebhookEvent(JSON.parse(body)))
        } catch {
          return Result.fail(new WebhookRefused({ about: "body", reason: "the body is not JSON" }))
        }
      },
      bus: (body) => decodeBusEvents(body, { outreachSet })
    })
  )
}
