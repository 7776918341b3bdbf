import { Context, Effect, Layer } from "effect"

import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { Mailer } from "../mail/mailer.ts"
import { isOk, makeProductMail } from "./product-mail.ts"

/** A payment that was taken. */
interface Receipt {
  /**
   * Derived from the payment, so that its mail goes out once, however often it is requested within 24 hours. When all retries
   * ended without an answer, the next request sends it again.
   */
  readonly receiptId: string
  readonly email: string
  readonly customer: string
  /** ISO 8601. */
  readonly paidAt: string
  readonly lines: ReadonlyArray<{ readonly text: string; readonly amountUsd: number }>
  readonly totalUsd: number
}

/** Mails receipts, category `transactional` (MAIL-6). */
export class Receipts extends Context.Service<
  Receipts,
  {
    /** Whether the mail went out, now or at an earlier call. */
    readonly send: (receipt: Receipt) => Effect.Effect<{ readonly receiptSent: boolean }>
  }
>()("postlane/application/Receipts") {}

/** The service, on the mailer in its context. */
export const layer: Layer.Layer<Receipts, never, Deferrals | MailTemplates | Mailer> = Layer.effect(
  Receipts,
  Effect.map(makeProductMail, (sendMail) =>
    Receipts.of({
      send: ({ email, ...receipt }) =>
        sendMail(
          { kind: "receipt", ...receipt },
          {
            to: email,
            category: "transactional",
            source: "api:receipts",
            idempotencyKey: `receipt:${receipt.receiptId}`,
            mayWait: true
          }
        ).pipe(Effect.map((sent) => ({ receiptSent: isOk(sent) })))
    })
  )
)
