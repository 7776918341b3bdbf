import { Effect } from "effect"

import type { DeliveryLog } from "../../ports/delivery-log.ts"
import { withDeadline } from "../deadline.ts"
import type { AlertOutcome, Alerts } from "./alerts.ts"
import type { FailedSend } from "./delivery-event.ts"

/**
 * The longest that raising one alert may take. Shorter than a claim's lease (`email_alert_lease()`, three minutes), so that
 * nobody raises an alert again that is still being raised.
 */
export const ALERT_TIME_LIMIT = "2 minutes"

/**
 * Raises an alert that was claimed and settles the claim: confirmed where it went out or is not wanted, released where no
 * channel took it. A settlement that cannot be written is told; the claim's lease then ends, and the alert goes out again.
 */
export const makeAlertRaiser = (log: DeliveryLog["Service"], alerts: Alerts["Service"]) => {
  const settle = (sendId: string, delivery: AlertOutcome["delivery"]) => {
    const released = delivery === "failed" || delivery === "unconfigured"
    return (released ? log.releaseAlert(sendId) : log.confirmAlert(sendId)).pipe(
      Effect.catch((error) =>
        Effect.logError(
          released
            ? "the claim of an alert that did not go out cannot be released"
            : "an alert that went out cannot be confirmed: it may go out again",
          error
        ).pipe(Effect.annotateLogs({ sendId }))
      )
    )
  }

  return (failed: FailedSend): Effect.Effect<AlertOutcome["delivery"]> =>
    withDeadline(
      Effect.map(alerts.raise(failed), ({ delivery }) => delivery),
      {
        duration: ALERT_TIME_LIMIT,
        onTimeout: () =>
          Effect.as(Effect.logError(`an alert did not end within ${ALERT_TIME_LIMIT}`), "failed" as const)
      }
    ).pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("an alert could not be raised", cause), "failed" as const)
      ),
      Effect.tap((delivery) => settle(failed.sendId, delivery))
    )
}
