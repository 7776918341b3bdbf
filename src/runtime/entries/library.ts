export { Mailer } from "../../application/mail/mailer.ts"
export {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../domain/mail/send-result.ts"
export type { SendRequest } from "../../domain/mail/message.ts"
export type { SendResult } from "../../domain/mail/send-result.ts"
export { type SendEmail, type SendOptions, SettingsRefused } from "../edge/plain-send-email.ts"
export { close, layer, sendEmail } from "../compose/node-library.ts"
