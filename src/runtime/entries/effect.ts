/** Postlane for Effect programs: services, layers and errors as values. */
export {
  type Accepted,
  Mailer,
  MailFailed,
  MailSuppressed,
  Outbox,
  type SendError
} from "../effect/mailer.ts"
export {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../domain/mail/send-result.ts"
export type { SendRequest } from "../../domain/mail/message.ts"
export { SettingsRefused } from "../edge/plain-send-email.ts"
