/** `postlane/nodemailer`: `createTransport(postlaneTransport())`. */
import { makeTransport, type PostlaneTransport } from "../../adapters/drop-ins/nodemailer.ts"
import type { DropInOptions } from "../../adapters/drop-ins/send.ts"
import { verifySending } from "../compose/verify-sending.ts"
import { sendEmail } from "./library.ts"

export {
  type PostlaneInfo,
  PostlaneSendError,
  type PostlaneTransport
} from "../../adapters/drop-ins/nodemailer.ts"
export type { DropInOptions, Send } from "../../adapters/drop-ins/send.ts"

const CANNOT_KNOW = "whether the given send can send is not known without sending"

/**
 * A transport that sends by Postlane. A message may name `idempotencyKey`, `category`, `mailingList`, `source` and `expiresAt` in addition to
 * nodemailer's fields.
 */
export const postlaneTransport = (options: DropInOptions = {}): PostlaneTransport =>
  makeTransport(
    {
      send: options.send ?? sendEmail,
      verify: () => (options.send === undefined ? verifySending(options.env) : Promise.resolve([CANNOT_KNOW]))
    },
    options
  )
