import { Context, Duration, Effect, Layer } from "effect"

import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import type {
  BatchRow,
  BulkItemRow,
  BulkOrderRow,
  ChargeRow,
  ChunkRow,
  CustomerRow,
  FileRow,
  FlyerRow,
  GrantRow,
  HoldRow,
  IdentityRow,
  JobRow,
  LedgerRow,
  MailConversionRow,
  MailRow,
  Moment,
  QueueRow,
  ReplyRow,
  RequestKeyRow,
  ShareRow,
  ServedRow,
  StrangerRow,
  TurnRow
} from "./rows.ts"
import { type Journal, Refused, Table } from "./table.ts"

/** What PostgreSQL keeps of documents and the funds they take, in memory: several stores ("processes") may share it. */
export interface Documents {
  readonly customers: Table<CustomerRow>
  readonly grants: Table<GrantRow>
  readonly holds: Table<HoldRow>
  readonly charges: Table<ChargeRow>
  readonly ledger: Table<LedgerRow>
  readonly files: Table<FileRow>
  readonly shares: Table<ShareRow>
  readonly turns: Table<TurnRow>
  readonly served: Table<ServedRow>
  readonly queue: Table<QueueRow>
  readonly jobs: Table<JobRow>
  readonly chunks: Table<ChunkRow>
  readonly flyers: Table<FlyerRow>
  readonly bulkOrders: Table<BulkOrderRow>
  readonly bulkItems: Table<BulkItemRow>
  readonly batches: Table<BatchRow>
  readonly mails: Table<MailRow>
  readonly identities: Table<IdentityRow>
  readonly replies: Table<ReplyRow>
  readonly strangers: Table<StrangerRow>
  readonly mailConversions: Table<MailConversionRow>
  readonly requestKeys: Table<RequestKeyRow>
  /** The key of links to results: 32 bytes. */
  readonly linkKey: Uint8Array
  /** `clock_timestamp()`: no two are the same. */
  readonly moment: () => Moment
  /** An id that PostgreSQL would draw. A simulation needs the same ones in each run, so that they are counted. */
  readonly newId: () => string
  /** Runs a part of a transaction: all of it, or, where it throws, nothing. */
  readonly atomically: <A>(body: () => A) => A
  /** How many transactions have changed something. */
  readonly changes: () => number
  /** Sets the clock, milliseconds of the epoch. */
  readonly setTime: (ms: number) => void
}

/** An empty database. */
export const makeDocuments = (linkKey = new Uint8Array(32)): Documents => {
  const journal: Journal = []
  let depth = 0
  let changes = 0
  let now: Moment = 0
  let ids = 0
  const hasFunds = ({ credits, freePagesUsed }: CustomerRow) =>
    credits >= 0 && freePagesUsed >= 0 && freePagesUsed <= FREE_LIFETIME_PAGES
  const isAmount = ({ credits, freePages }: Pick<HoldRow, "credits" | "freePages">) =>
    credits >= 0 && freePages >= 0
  return {
    customers: new Table(journal, ({ id }) => id, hasFunds),
    grants: new Table<GrantRow>(
      journal,
      ({ customerId, reference }) => `${customerId} ${reference}`,
      ({ credits }) => credits !== 0
    ),
    holds: new Table<HoldRow>(journal, ({ jobId }) => jobId, isAmount),
    charges: new Table<ChargeRow>(journal, ({ jobId }) => jobId, isAmount),
    ledger: new Table(journal, ({ id }) => id),
    files: new Table(
      journal,
      ({ id }) => id,
      ({ pages, sizeBytes }) => pages > 0 && sizeBytes >= 0
    ),
    shares: new Table(journal, ({ email, fileId }) => `${fileId} ${email}`),
    turns: new Table(journal, ({ customerId }) => customerId),
    served: new Table(journal, ({ kind }) => kind),
    queue: new Table(journal, ({ jobId }) => jobId),
    jobs: new Table(journal, ({ id }) => id),
    chunks: new Table(journal, ({ id }) => id),
    flyers: new Table(journal, ({ id }) => id),
    bulkOrders: new Table(journal, ({ id }) => id),
    bulkItems: new Table(journal, ({ jobId }) => jobId),
    batches: new Table(journal, ({ jobId }) => jobId),
    mails: new Table(journal, ({ id }) => id),
    identities: new Table(journal, ({ identity }) => identity),
    replies: new Table(journal, ({ content, mailId }) => `${mailId} ${content.kind}`),
    strangers: new Table(journal, ({ sender }) => sender),
    mailConversions: new Table(
      journal,
      ({ id }) => id,
      ({ fileBytes, filename, sender }) => sender !== null && filename !== null && fileBytes !== null
    ),
    requestKeys: new Table(journal, ({ customerId, keyHash }) => `${customerId} ${keyHash}`),
    linkKey,
    moment: () => (now += 1),
    newId: () => `00000000-0000-4000-8000-${(ids += 1).toString(16).padStart(12, "0")}`,
    changes: () => changes,
    setTime: (ms) => {
      now = Math.max(now, ms * 1000)
    },
    atomically: (body) => {
      const begun = journal.length
      depth += 1
      try {
        return body()
      } catch (error) {
        for (const undo of journal.splice(begun).reverse()) undo()
        throw error
      } finally {
        depth -= 1
        if (depth === 0 && journal.length > 0) {
          journal.length = 0
          changes += 1
        }
      }
    }
  }
}

/** The database behind the stores in memory, for tests and simulations that look into it. */
export class MemoryDocuments extends Context.Service<MemoryDocuments, Documents>()(
  "postlane/adapters/memory/MemoryDocuments"
) {}

/** A database that is empty at first. */
export const layer: Layer.Layer<MemoryDocuments> = Layer.sync(MemoryDocuments, () => makeDocuments())

/** Runs a statement as one transaction at the time of the caller's clock; fails where a constraint refused it. */
export const transaction = <A>(
  db: Documents,
  body: (db: Documents) => A
): Effect.Effect<A, StoreUnavailable> =>
  Effect.clockWith((clock) => {
    db.setTime(clock.currentTimeMillisUnsafe())
    try {
      return Effect.succeed(db.atomically(() => body(db)))
    } catch (error) {
      if (!(error instanceof Refused)) return Effect.die(error)
      const { message: reason } = error
      return Effect.fail(
        new StoreUnavailable({ operation: "documents", reason, isRetryable: false, isAboutData: true })
      )
    }
  })

/** A duration in the unit of {@link Moment}. */
export const micros = (duration: Duration.Duration): number => Duration.toMillis(duration) * 1000

/** ISO 8601 in UTC with microseconds. */
export const isoOf = (moment: Moment): string =>
  `${new Date(Math.floor(moment / 1000)).toISOString().slice(0, -1)}${String(moment % 1000).padStart(3, "0")}Z`

/** The same of a moment that may not have come. */
export const isoOrNull = (moment: Moment | null): string | null => (moment === null ? null : isoOf(moment))
