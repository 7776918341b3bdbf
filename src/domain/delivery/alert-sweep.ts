import { Effect } from "effect"

import { DeliveryLog } from "../../ports/delivery-log.ts"
import { makeAlertRaiser } from "./alert-raising.ts"
import { Alerts } from "./alerts.ts"

/** How often the sweep runs, in one process at a time. */
export const ALERT_SWEEP_INTERVAL = "1 minute"

/** Most alerts of one sweep: the next one goes on. */
const MAX_ALERTS = 200

/**
 * Raises the alerts that are due: claimed by a process that died before it confirmed or released them, or released and
 * not raised by another event since (A1). One at a time, and no further after one that did not go out, so that channels
 * that are down hear of one alert a sweep. Any number of processes may do it at once. Gives how many it raised.
 */
export const sweepAlerts = Effect.gen(function* () {
  const log = yield* DeliveryLog
  const raise = makeAlertRaiser(log, yield* Alerts)
  let raised = 0
  while (raised < MAX_ALERTS) {
    const failed = yield* log.claimDueAlert
    if (failed === undefined) break
    raised += 1
    yield* Effect.logWarning("an alert was left unconfirmed: it is raised again").pipe(
      Effect.annotateLogs({ sendId: failed.sendId })
    )
    // Whoever stops this lets a claim that is under way come to its end.
    const delivery = yield* Effect.uninterruptible(raise(failed))
    if (delivery === "failed" || delivery === "unconfigured") break
  }
  return raised
})
