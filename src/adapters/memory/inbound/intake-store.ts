import { Effect, Layer, Redacted } from "effect"

import type { CustomerId } from "../../../domain/ids.ts"
import type { BlockReason } from "../../../domain/mail/suppression/policy.ts"
import { IntakeStore } from "../../../ports/inbound/intake-store.ts"
import { amountOf, availableFunds } from "../accounts/funds.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"
import { endMail, finishMail } from "./ends.ts"
import { admit, claim, defer, handBack, heartbeat, identify, receive } from "./mails.ts"
import { claimReply, endReply, retryReply } from "./replies.ts"
import { keptResults, purge, result, toClean, waitingSince, withoutObjects } from "./upkeep.ts"

/** The customer of an address, if its account is open. */
const customerOf = (db: Documents, email: string) => {
  const customer = db.customers.find((one) => one.email === email && one.deletedAt === null)
  const funds = customer && availableFunds(db, customer.id)
  return customer === undefined || funds === undefined
    ? undefined
    : { id: customer.id, email: customer.email, plan: funds.plan, balance: amountOf(funds) }
}

const emailOf = (db: Documents, customerId: CustomerId): string | undefined => {
  const customer = db.customers.get(customerId)
  return customer?.deletedAt === null ? customer.email : undefined
}

const clean = (db: Documents, id: string, what: "source" | "all"): void => {
  if (db.mails.get(id) !== undefined) db.mails.update(id, { cleaned: what })
}

/** What the send log, which is another database, knows of an address. */
type SuppressionsOf = (email: string) => ReadonlyArray<BlockReason>

/** The mails of one process on a database that others may share. */
export const makeIntakeStore = (
  documents: Documents,
  suppressionsOf: SuppressionsOf = () => []
): IntakeStore["Service"] => {
  const run = <A>(body: (db: Documents) => A) => transaction(documents, body)
  return IntakeStore.of({
    receive: (mail) => run((db) => receive(db, mail)),
    claim: (step, lease, stale, home, only) => run((db) => claim(db, step, lease, stale, home, only)),
    heartbeat: (mail, window) => run((db) => heartbeat(db, mail, window)),
    handBack: (mail, options) => run((db) => handBack(db, mail, options)),
    defer: (mail, options) => run((db) => defer(db, mail, options)),
    identify: (mail, identity, limit) => run((db) => identify(db, mail, identity, limit)),
    customer: (email) => run((db) => customerOf(db, email)),
    suppressions: (email) => Effect.sync(() => suppressionsOf(email)),
    customerEmail: (customerId) => run((db) => emailOf(db, customerId)),
    admit: (mail, admission) => run((db) => admit(db, mail, admission)),
    end: (mail, end) => run((db) => endMail(db, mail, end)),
    finish: (mail, done) => run((db) => finishMail(db, mail, done)),
    claimReply: (lease, hold, home) => run((db) => claimReply(db, lease, hold, home)),
    replySent: (reply) => run((db) => endReply(db, reply, "sent", null)),
    replyFailed: (reply, error) => run((db) => endReply(db, reply, "failed", error)),
    retryReply: (reply, options) => run((db) => retryReply(db, reply, options)),
    toClean: (limit, linkLives, home) => run((db) => toClean(db, limit, linkLives, home)),
    waitingSince: (age) => run((db) => waitingSince(db, age)),
    cleaned: (id, what) => run((db) => clean(db, id, what)),
    withoutObjects: (ids) => run((db) => withoutObjects(db, ids)),
    purge: run(purge),
    linkKey: Effect.sync(() => Redacted.make(documents.linkKey)),
    keptResults: (customerId, linkLives) => run((db) => keptResults(db, customerId, linkLives)),
    result: (id) => run((db) => result(db, id))
  })
}

/** Mails under way in memory, by the same rules as the functions of PostgreSQL. */
export const layer = (suppressionsOf?: SuppressionsOf): Layer.Layer<IntakeStore, never, MemoryDocuments> =>
  Layer.effect(
    IntakeStore,
    Effect.map(MemoryDocuments, (documents) => makeIntakeStore(documents, suppressionsOf))
  )
