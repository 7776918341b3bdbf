import { Schema } from "effect"

/** An account. */
export const CustomerId = Schema.String.pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type

/**
 * An uploaded file.
 *
 * @since 0.1.0
 * @category models
 */
export const FileId = Schema.String.pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

/**
 * One conversion of a file.
 *
 * @since 0.1.0
 * @category models
 */
export const JobId = Schema.String.pipe(Schema.brand("JobId"))
export type JobId = typeof JobId.Type

/** A chunk of a job's pages. */
export const ChunkId = Schema.String.pipe(Schema.brand("ChunkId"))
export type ChunkId = typeof ChunkId.Type

/** A layout-true conversion of a file. */
export const FlyerId = Schema.String.pipe(Schema.brand("FlyerId"))
export type FlyerId = typeof FlyerId.Type

/** The proof that a worker holds a piece of work; new at every claim. */
export const LeaseId = Schema.String.pipe(Schema.brand("LeaseId"))
export type LeaseId = typeof LeaseId.Type

/** A mail that came in to be converted. */
export const MailId = Schema.String.pipe(Schema.brand("MailId"))
export type MailId = typeof MailId.Type

/**
 * A row of the send log, and so the id of a send.
 *
 * @since 0.1.0
 * @category models
 */
export const LogRowId = Schema.String.pipe(Schema.brand("LogRowId"))
export type LogRowId = typeof LogRowId.Type

/** A request of the send queue, and its row of the send log. */
export const QueueId = Schema.String.pipe(Schema.brand("QueueId"))
export type QueueId = typeof QueueId.Type

/** Any work that funds are held for and costs are booked on. */
export const WorkId = Schema.Union([JobId, FlyerId, MailId])
export type WorkId = typeof WorkId.Type

/** What a send is recognised by when it is called again: its caller gives it, or it is the id of the send's row. */
export const IdempotencyKey = Schema.String.pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/** SHA-256 of an idempotency key, as hex: names the key in claims and rows. */
export const KeyHash = Schema.String.pipe(Schema.brand("KeyHash"))
export type KeyHash = typeof KeyHash.Type

/**
 * Names one use of a key at this installation, as 64 hex digits: the value of the tag that delivery events bring back. Only who
 * holds the installation's secret can make it, so that no event of another installation, or of an earlier use, is taken for this one.
 */
export const KeyTag = Schema.String.pipe(Schema.brand("KeyTag"))
export type KeyTag = typeof KeyTag.Type

/** A key with its hash, the first attempt on it, and the tag of its use; without a tag where no database has handed out the installation's secret. */
export interface SendKey {
  readonly key: IdempotencyKey
  readonly keyHash: KeyHash
  readonly tag: KeyTag | undefined
  /** Milliseconds since the epoch. */
  readonly firstAttemptAt: number
}

const PART_BITS = 48

/** The id of the thing at `place`, from 0, of those that were made together: theirs, but for the last twelve digits. */
export const idOfPart = (id: string, place: number): string => {
  const last = (Number.parseInt(id.slice(-12), 16) + 1 + place) % 2 ** PART_BITS
  return id.slice(0, -12) + last.toString(16).padStart(12, "0")
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a text has the form of our ids. */
export const isUuid = (text: string): boolean => UUID.test(text)
