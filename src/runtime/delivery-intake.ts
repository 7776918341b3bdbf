import { isUtf8 } from "node:buffer"

import { Layer, Result } from "effect"

import { decodeWebhookEvent } from "../adapters/resend/webhook-event.ts"
import { makeSignatureCheck } from "../adapters/resend/webhook-signature.ts"
import { decodeBusEvents } from "../adapters/ses/bus-event.ts"
import { DeliveryIntake, WebhookRefused } from "../ports/delivery-intake.ts"
import type { Settings } from "./settings.ts"

/** The vendors' notices behind the port. */
export const layer = (settings: Pick<Settings, "providerA" | "providerB">): Layer.Layer<DeliveryIntake> => {
  const check = makeSignatureCheck(settings.providerA.webhookSecrets)
  const outreachSet = settings.providerB.outreachConfigurationSet
  return Layer.succeed(
    DeliveryIntake,
    DeliveryIntake.of({
      webhook: (bytes, headers) => {
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        if (!isUtf8(buffer)) {
          return Result.fail(new WebhookRefused({ about: "body", reason: "the body is not UTF-8" }))
        }
        const body = buffer.toString("utf8")
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
