export {
  cancelEmail,
  enqueueEmail,
  type Enqueued,
  type EnqueueRequest,
  type TransactionClient,
  type TransactionOptions
} from "../../adapters/postgres/mail/own-transaction.ts"
export { cancelEmailEffect, enqueueEmailEffect } from "../../adapters/postgres/mail/own-transaction-effect.ts"
export { Mailer } from "../../application/mail/mailer.ts"
export {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../domain/mail/send-result.ts"
export type { QueueState } from "../../domain/mail/queue.ts"
export type { SendRequest } from "../../domain/mail/message.ts"
export type { SendResult } from "../../domain/mail/send-result.ts"
export { type SendEmail, type SendOptions, SettingsRefused } from "../edge/plain-send-email.ts"
export { close, layer, sendEmail } from "../compose/node-library.ts"
