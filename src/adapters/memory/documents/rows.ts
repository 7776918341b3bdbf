import type { BatchOutcome, BatchRowState } from "../../../domain/batch/row.ts"
import type { CostEntry } from "../../../domain/cascade/cost.ts"
import type { FileKind, FileStatus } from "../../../domain/conversion/file.ts"
import type { ChunkStatus, JobOptions, JobStatus } from "../../../domain/conversion/job.ts"
import type { Making } from "../../../domain/conversion/making.ts"
import type {
  WorkId,
  CustomerId,
  FileId,
  JobId,
  ChunkId,
  FlyerId,
  KeyHash,
  LeaseId,
  MailId
} from "../../../domain/ids.ts"
import type { MailOutcome } from "../../../domain/inbound/mail-outcome.ts"
import type { ReplyContent } from "../../../domain/inbound/reply-content.ts"
import type { StoredFlyer } from "../../../ports/conversion/conversion-store.ts"
import type { FailingPart } from "../../../ports/inbound/intake-store.ts"
import type { LeftOut } from "../../../reader/model/left-out.ts"

/** Microseconds of the epoch: PostgreSQL's clock is that fine, and rows are ordered by it. */
export type Moment = number

/** `customers`. */
export interface CustomerRow {
  readonly id: CustomerId
  readonly email: string
  readonly name: string | null
  readonly plan: "free" | "paid"
  readonly credits: number
  readonly freePagesUsed: number
  readonly createdAt: Moment
  readonly deletedAt: Moment | null
}

/** `credit_grants`, by customer and reference; below zero what was taken back. */
export interface GrantRow {
  readonly customerId: CustomerId
  readonly credits: number
  readonly reference: string
  readonly createdAt: Moment
}

/** `funds_holds`, by job. */
export interface HoldRow {
  readonly jobId: WorkId
  readonly customerId: CustomerId
  readonly credits: number
  readonly freePages: number
  readonly state: "held" | "released" | "settled"
  readonly outcome: string | null
  readonly expiresAt: Moment
  readonly createdAt: Moment
}

/** `credit_charges`, by job. */
export interface ChargeRow {
  readonly jobId: WorkId
  readonly customerId: CustomerId
  readonly credits: number
  readonly freePages: number
  readonly createdAt: Moment
}

/** `cost_ledger`. */
export interface LedgerRow extends CostEntry {
  readonly createdAt: Moment
}

/** The worker of a piece of work, when it last reported, and how often the work was begun. */
interface Leased {
  readonly lease: LeaseId | null
  readonly heartbeatAt: Moment | null
  readonly attempts: number
}

/** `files`. */
export interface FileRow extends Leased {
  readonly id: FileId
  readonly customerId: CustomerId
  readonly name: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly pages: number
  readonly status: FileStatus
  readonly phase: string | null
  readonly objectKey: string
  readonly resultKey: string | null
  readonly unreadablePages: ReadonlyArray<number>
  readonly noModelPages: ReadonlyArray<number>
  readonly hasText: boolean | null
  readonly made: Making | null
  readonly madeAt: Moment | null
  readonly leftOut: LeftOut | null
  readonly reference: string | null
  readonly jobId: JobId | null
  readonly done: number
  readonly total: number
  readonly error: string | null
  readonly options: JobOptions
  readonly claimedAt: Moment | null
  readonly createdAt: Moment
  readonly updatedAt: Moment
  readonly deletedAt: Moment | null
  readonly purgedAt: Moment | null
  /** Links that were made until then are stopped; milliseconds of the epoch. */
  readonly sharesFrom: number | null
}

/** `file_shares`, by file and address. */
export interface ShareRow {
  /** Links name it. */
  readonly id: string
  readonly fileId: FileId
  readonly email: string
  readonly sharedAt: Moment
  /** ISO 8601. */
  readonly expiresAt: string
}

/** `inline_turns`: until when a customer has used up their share of the inline workers. */
export interface TurnRow {
  readonly customerId: CustomerId
  readonly busyUntil: Moment
}

/** `work_turns`: the owner of the work of a kind that was given out last. */
export interface ServedRow {
  readonly kind: "request" | "chunk" | "flyer" | "mail"
  readonly customerId: string
}

/** `convert_queue`. */
export interface QueueRow {
  readonly jobId: JobId
  readonly fileId: FileId
  readonly customerId: CustomerId
  readonly options: JobOptions
  readonly bulkId: string | null
  readonly createdAt: Moment
}

/** `large_conversion_jobs`. The lease is the assembly's. */
export interface JobRow extends Leased {
  readonly id: JobId
  readonly fileId: FileId
  readonly customerId: CustomerId
  readonly bulkId: string | null
  readonly status: JobStatus
  readonly options: JobOptions
  readonly totalPages: number
  readonly totalChunks: number
  readonly doneChunks: number
  readonly totalCostUsd: number | null
  readonly error: string | null
  readonly createdAt: Moment
  readonly finishedAt: Moment | null
}

/** `chunk_jobs`. */
export interface ChunkRow extends Leased {
  readonly id: ChunkId
  readonly jobId: JobId
  readonly chunkIndex: number
  readonly firstPage: number
  readonly lastPage: number
  readonly servedPages: number
  readonly status: ChunkStatus
  readonly worker: string | null
  readonly notBefore: Moment
  readonly pagesDone: number
  readonly resultKey: string | null
  readonly error: string | null
  /** Of its job: the oldest job's chunks are claimed first. */
  readonly queuedAt: Moment
}

/** `flyer_jobs`. */
export interface FlyerRow extends Leased {
  readonly id: FlyerId
  readonly fileId: FileId
  readonly customerId: CustomerId
  readonly status: StoredFlyer["status"]
  readonly compConversionId: JobId | null
  readonly resultKey: string | null
  readonly unreadablePages: ReadonlyArray<number>
  readonly error: string | null
  readonly createdAt: Moment
  readonly updatedAt: Moment
}

/** `bulk_orders`. */
export interface BulkOrderRow {
  readonly id: string
  readonly customerId: CustomerId
  readonly reference: string | null
  readonly createdAt: Moment
  readonly endedAt: Moment | null
  readonly notifyingUntil: Moment | null
  readonly attempts: number
  readonly notifiedAt: Moment | null
}

/** `bulk_items`, by job. */
export interface BulkItemRow {
  readonly bulkId: string
  readonly place: number
  readonly fileId: FileId
  readonly jobId: JobId
}

/** `conversion_batch_jobs`, by job. */
export interface BatchRow {
  readonly id: string
  readonly jobId: JobId
  readonly state: BatchRowState
  readonly outcome: BatchOutcome | null
  readonly closeReason: string | null
  readonly arn: string | null
  readonly name: string | null
  readonly model: string | null
  readonly inputUsdPerMtok: number | null
  readonly outputUsdPerMtok: number | null
  readonly inputPrefix: string | null
  readonly records: number
  readonly accepted: number
  readonly fallback: number
  readonly shards: number
  readonly inputBytes: number
  readonly costUsd: number
  readonly endState: string | null
  /** Collects begun. */
  readonly attempts: number
  readonly lease: LeaseId | null
  readonly preparer: string | null
  readonly term: number | null
  readonly createdAt: Moment
  readonly claimedAt: Moment
  readonly prepareStartedAt: Moment
  readonly fullAt: Moment | null
  readonly submittedAt: Moment | null
  readonly deadlineAt: Moment | null
  readonly nextPollAt: Moment
  readonly closedAt: Moment | null
  readonly purgedAt: Moment | null
}

/** `intake_mails`. */
export interface MailRow extends Leased {
  readonly id: MailId
  readonly rawKey: string
  readonly rawBytes: number
  readonly envelopeFrom: string
  readonly peerTrusted: boolean
  readonly step: "received" | "converting" | "ended"
  readonly outcome: MailOutcome | null
  readonly reason: string | null
  readonly identity: string | null
  readonly messageId: string | null
  readonly sender: string | null
  readonly contentSha256: string | null
  readonly subject: string | null
  readonly references: string | null
  readonly customerId: CustomerId | null
  readonly filename: string | null
  readonly fileBytes: number | null
  readonly pages: number | null
  readonly ignored: ReadonlyArray<string>
  readonly sourceKey: string | null
  readonly resultKey: string | null
  readonly resultBytes: number | null
  /** The lease that was taken over as stale. */
  readonly formerLease: string | null
  /** The object store that holds it. */
  readonly home: string
  /** By whom mails are read in turns, and when it was claimed last. */
  readonly turn: string
  readonly claimedAt: Moment | null
  readonly failures: number
  readonly failingPart: FailingPart | null
  readonly failingSince: Moment | null
  readonly failedAt: Moment | null
  readonly notBefore: Moment
  readonly receivedAt: Moment
  readonly endedAt: Moment | null
  readonly cleaned: "source" | "all" | null
}

/** `intake_identities`: signatures that make two deliveries one mail. */
export interface IdentityRow {
  readonly identity: string
  readonly mailId: MailId
}

/** `intake_replies`. */
export interface ReplyRow {
  readonly id: string
  readonly mailId: MailId
  readonly recipient: string
  readonly content: ReplyContent
  readonly status: "queued" | "sent" | "failed"
  readonly asLink: boolean
  readonly attempts: number
  readonly unknowns: number
  readonly lease: LeaseId | null
  readonly notBefore: Moment
  readonly error: string | null
  readonly createdAt: Moment
  readonly endedAt: Moment | null
}

/** `intake_strangers`: when an address without an account was last answered. */
export interface StrangerRow {
  readonly sender: string
  readonly repliedAt: Moment
}

/** `conversion_jobs`: the log of conversions by mail, by mail. */
export interface MailConversionRow {
  readonly id: string
  readonly customerId: CustomerId | null
  readonly sender: string | null
  readonly filename: string | null
  readonly fileBytes: number | null
  readonly totalPages: number
  readonly standardPages: number
  readonly complexPages: number
  readonly creditsCharged: number
  readonly status: "success" | "error"
  readonly error: string | null
}

/** `request_keys`: calls that their callers may repeat. */
export interface RequestKeyRow {
  readonly customerId: CustomerId
  readonly keyHash: KeyHash
  readonly requestHash: string
  readonly contentHash: string | null
  readonly callId: string
  readonly lease: LeaseId
  readonly heldUntil: Moment
  readonly attempts: number
  readonly answer: unknown
  readonly createdAt: Moment
}
