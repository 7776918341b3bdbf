import { Layer, Result } from "effect"

import { decodeWebhookEvent } from "../../../adapters/resend/webhook-event.ts"
import { checkSignatureHeaders, makeSignatureCheck } from "../../../adapters/resend/webhook-signature.ts"
import { decodeBusEvents } from "../../../adapters/ses/bus-event.ts"
import { DeliveryIntake, WebhookRefused } from "../../../ports/delivery/delivery-log.ts"
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

/** The vendors' notices behind the port. */
export const layer = (settings: DeliverySettings): Layer.Layer<DeliveryIntake> => {
  const { webhookSecrets } = settings.providerA
  const check = makeSignatureCheck(webhookSecrets)
  const outreachSet = settings.providerB.outreachConfigurationSet
  const unset = new WebhookRefused({ about: "secret", reason: "PROVIDERA_WEBHOOK_SECRET is unset" })
  return Layer.succeed(
    DeliveryIntake,
    DeliveryIntake.of({
      webhookHeaders: (headers) =>
        webhookSecrets.length === 0
          ? Result.fail(unset)
          : Result.mapError(
              checkSignatureHeaders(headers, Date.now()),
              ({ reason }) => new WebhookRefused({ about: "signature", reason })
            ),
      webhook: (bytes, headers) => {
        if (webhookSecrets.length === 0) return Result.fail(unset)
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
