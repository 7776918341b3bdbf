import { randomUUID } from "node:crypto"

import { Schema } from "effect"

const AnyId = Schema.String.pipe(
  Schema.brand("CustomerId"),
  Schema.brand("FileId"),
  Schema.brand("JobId"),
  Schema.brand("ChunkId"),
  Schema.brand("FlyerId"),
  Schema.brand("LeaseId"),
  Schema.brand("MailId"),
  Schema.brand("LogRowId"),
  Schema.brand("IdempotencyKey"),
  Schema.brand("KeyHash"),
  Schema.brand("KeyTag"),
  Schema.brand("QueueId")
)
/** An id of every kind: in a test the name of the variable says which one is meant. */
export type AnyId = typeof AnyId.Type

/** The text as an id; a new one without a text. */
export const anyId = (text: string = randomUUID()): AnyId => AnyId.make(text)
