import { Effect } from "effect"

import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { EventEntry } from "../../../src/adapters/memory/mail/tables.ts"
import type { Alerts } from "../../../src/application/delivery/alerts.ts"
import { isProviderFailure } from "../../../src/domain/mail/status.ts"
import type { AlarmBoard } from "../../../src/ports/delivery/alarm-board.ts"
import type { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import type { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import type { SendQueue } from "../../../src/ports/mail/send-queue.ts"

/** Defects of this world that can be planted. */
export const BUGS = [
  /** A webhook is answered with success before its event is recorded. */
  "acknowledged-before-recorded",
  /** The sweep never finds the alert of a process that died. */
  "alert-claimed-and-forgotten",
  /** Every failure alerts, whichever process holds the claim. */
  "alert-without-claim",
  /** An alert counts as sent before a channel accepted it. */
  "alert-confirmed-before-raised",
  /** The alert inbox is not recognised as a recipient. */
  "alert-inbox-not-known",
  /** An event that comes before its row suppresses the recipient that it names, though there are Bcc recipients. */
  "suppression-by-early-event",
  /** A bounce that will pass suppresses. */
  "transient-bounce-suppresses",
  /** Erasing a person takes the block away, too. */
  "erased-person-mailed",
  /** A caller asks for a mail again under the key whose deferral has failed. */
  "asks-on-the-old-key",
  /** A notice of an alarm is claimed, and counts as sent. */
  "alarm-notice-lost",
  /** The event of what is recorded is written in a transaction of its own, which may be lost. */
  "hook-after-commit",
  /** The event of what is recorded is seen before the record's transaction commits, and stays where that is rolled back. */
  "hook-before-commit",
  /** An event of a mail does not wait for the one before. */
  "hooks-out-of-order",
  /** A try counts as received, whatever the receiver answered. */
  "hook-ends-unreceived",
  /** A queued mail goes by whom it was for when it was queued, even if the recipient is blocked by now. */
  "queue-skips-suppressions",
  /** A cancel of a queued mail is answered although it is being sent. */
  "queue-cancel-loses"
] as const
export type Bug = (typeof BUGS)[number]

/** The event as the database gets it, with the bug in it. */
export const breakEvent = (bug: Bug | undefined, entry: EventEntry): EventEntry => {
  switch (bug) {
    case "suppression-by-early-event":
      return entry.suppress === undefined && entry.bounceType === "Permanent"
        ? { ...entry, suppress: entry.recipients }
        : entry
    case "transient-bounce-suppresses":
      return entry.event === "bounce_transient"
        ? { ...entry, event: "bounced", bounceType: "Permanent" }
        : entry
    default:
      return entry
  }
}

/** The database with the bug in it. */
export const breakDatabase = (bug: Bug | undefined, database: MailDatabase): MailDatabase => {
  switch (bug) {
    case "alert-claimed-and-forgotten":
      return { ...database, claimDueAlert: Effect.succeed(undefined) }
    case "erased-person-mailed":
      return { ...database, erase: (email) => Effect.sync(() => void database.unsuppress(email)) }
    default:
      return database
  }
}

/** The send queue with the bug in it. */
export const breakQueue = (bug: Bug | undefined, queue: SendQueue["Service"]): SendQueue["Service"] => {
  switch (bug) {
    case "queue-skips-suppressions":
      return {
        ...queue,
        begin: (entry) => Effect.map(queue.begin(entry), (begun) => ({ ...begun, suppressions: [] }))
      }
    default:
      return queue
  }
}

/** The writer of events with the bug in it. */
export const breakDeliveryLog = (
  bug: Bug | undefined,
  log: DeliveryLog["Service"]
): DeliveryLog["Service"] => {
  switch (bug) {
    case "alert-without-claim":
      return {
        ...log,
        record: (event, options) =>
          Effect.map(log.record(event, options), (logged) => ({
            ...logged,
            alert: isProviderFailure(event.event) && !logged.backfilled
          }))
      }
    case "alert-confirmed-before-raised":
      return {
        ...log,
        record: (event, options) =>
          Effect.tap(log.record(event, options), (logged) =>
            logged.alert ? log.confirmAlert(logged.sendId) : Effect.void
          )
      }
    default:
      return log
  }
}

/** The dispatcher of alerts with the bug in it. */
export const breakAlerts = (bug: Bug | undefined, alerts: Alerts["Service"]): Alerts["Service"] =>
  bug === "alert-inbox-not-known"
    ? { raise: (failed) => alerts.raise({ ...failed, recipients: [] }) }
    : alerts

/** The callers' view of deferrals with the bug in it. */
export const breakDeferrals = (bug: Bug | undefined, deferrals: Deferrals["Service"]): Deferrals["Service"] =>
  bug === "asks-on-the-old-key"
    ? { openKey: (key) => Effect.map(deferrals.openKey(key), ({ state }) => ({ key, state })) }
    : deferrals

/** The board with the bug in it. */
export const breakBoard = (bug: Bug | undefined, board: AlarmBoard["Service"]): AlarmBoard["Service"] =>
  bug === "alarm-notice-lost"
    ? {
        ...board,
        claimNotice: Effect.tap(board.claimNotice, (notice) =>
          notice === undefined ? Effect.void : board.confirmNotice(notice)
        )
      }
    : board
