import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Effect, Exit, Layer } from "effect"

import * as HookSender from "../../adapters/event-hooks/hook-sender.ts"
import * as AlarmBoard from "../../adapters/postgres/delivery/alarm-board.ts"
import { closeStatsDays, pruneLog } from "../../adapters/postgres/delivery/email-stats.ts"
import { runHousekeeping } from "../../adapters/postgres/housekeeping.ts"
import { ContactForms } from "../../application/accounts/contact-forms.ts"
import { BulkMessages } from "../../application/conversion/bulk-messages.ts"
import { watchAlarms } from "../../application/delivery/alarms.ts"
import { sweepAlerts } from "../../application/delivery/alerts.ts"
import { watchClock } from "../../application/delivery/clock-watch.ts"
import { dispatchDueEventHooks, tendEventHooks } from "../../application/delivery/event-hooks.ts"
import { QueueSender } from "../../application/send-queue/sender.ts"
import { EventHooks } from "../../ports/delivery/event-hooks.ts"
import { CampaignBook } from "../../ports/outreach/campaign-book.ts"
import { tick as digestTick } from "../compose/delivery/audit-digest.ts"
import { recordedAlerts } from "../compose/delivery/delivery.ts"
import { postmarkTick, tick as pollTick } from "../compose/delivery/event-poll.ts"
import { PROCESS } from "../process/process-name.ts"
import type { Settings } from "../settings/settings.ts"

/** A scheduled invocation: of EventBridge Scheduler, or of a rule with a schedule. */
export const isSchedule = (event: unknown): boolean => {
  const { source } = Object(event) as { readonly source?: unknown }
  return source === "aws.scheduler" || source === "aws.events"
}

/** When this instance polled last, milliseconds. */
let polledAt = Number.NEGATIVE_INFINITY

/** How much of a tick's time the send queue begins sends in, and after it the hooks their tries; an attempt and its end fit into the rest. */
const SHARE = 0.3

/** Schedules may be more frequent than the poll should be. */
const pollWhenDue = ({ events, postmark, providerA }: Settings) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - polledAt < events.pollSeconds * 1000) return
    polledAt = now
    if (providerA.apiKey !== undefined) yield* pollTick
    if (postmark.serverToken !== undefined) yield* postmarkTick
  })

/**
 * Runs the leader's work without conversions, each piece once. A leading process may run it at the same time: due work is claimed
 * in the database. Runs every piece, and fails afterwards if one failed.
 */
export const runTicks = Effect.fn("lambda.ticks")(function* (settings: Settings, withinMs: number) {
  const pieces = {
    clock: watchClock(PROCESS),
    "event-hook-of-settings": EventHooks.use((hooks) => hooks.adopt(settings.eventHooks.own)),
    alarms: watchAlarms,
    "alert-sweep": sweepAlerts,
    "contact-sweep": ContactForms.use(({ sweep }) => sweep),
    "bulk-messages": BulkMessages.use(({ sendDue }) => sendDue),
    "outreach-ends": CampaignBook.use(({ settle }) => settle),
    "audit-digest": digestTick,
    "events-poll": pollWhenDue(settings),
    housekeeping: runHousekeeping,
    "email-stats": closeStatsDays,
    "email-log-retention": pruneLog(settings.events.logKeepDays),
    "event-hooks-upkeep": tendEventHooks,
    // Where no process with the role send or leader runs, these minutes are all that the queue and the hooks have.
    "send-queue": QueueSender.use(({ drain }) => drain(withinMs * SHARE)),
    "event-hooks": dispatchDueEventHooks(withinMs * SHARE)
  }
  const failed = new Set(Object.keys(pieces))
  const all = Effect.forEach(
    Object.entries(pieces),
    ([name, piece]) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.asVoid<unknown, unknown, Effect.Services<typeof piece>>(piece))
        if (Exit.isSuccess(exit)) failed.delete(name)
        else yield* Effect.logError(`the scheduled work ${name} failed: the next run tries again`, exit.cause)
      }),
    { discard: true }
  ).pipe(
    Effect.provide(
      Layer.mergeAll(
        AlarmBoard.layer,
        recordedAlerts(settings),
        HookSender.layer(settings.eventHooks),
        NodeCrypto.layer
      )
    )
  )
  yield* Effect.timeoutOption(all, withinMs)
  return [...failed]
})
