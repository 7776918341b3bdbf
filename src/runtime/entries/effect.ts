/** Postlane for Effect programs: services, layers and errors as values. */
export { Accepted, Mailer, MailFailed, MailSuppressed, Outbox, type SendError } from "../effect/mailer.ts"
export {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../domain/mail/send-result.ts"
export { LogRowId as SendId } from "../../domain/ids.ts"
export { FailureKind } from "../../domain/mail/failover.ts"
export { SendRequest } from "../../domain/mail/message.ts"
export { Provider } from "../../domain/mail/provider.ts"
export { SettingsRefused } from "../edge/plain-send-email.ts"
