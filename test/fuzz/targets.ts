import type { Target } from "./target.ts"
import { batchLines } from "./targets/batch-lines.ts"
import { bus } from "./targets/bus.ts"
import { docx } from "./targets/docx.ts"
import { http } from "./targets/http.ts"
import { mail } from "./targets/mail.ts"
import { pdf } from "./targets/pdf.ts"
import { postmark } from "./targets/postmark.ts"
import { relayAnswers } from "./targets/relay-answers.ts"
import { relay } from "./targets/relay.ts"
import { reports } from "./targets/reports.ts"
import { send } from "./targets/send.ts"
import { smtp } from "./targets/smtp.ts"
import { webhook } from "./targets/webhook.ts"

/** Every target. */
export const TARGETS: ReadonlyArray<Target> = [
  mail,
  pdf,
  docx,
  batchLines,
  send,
  relay,
  webhook,
  postmark,
  relayAnswers,
  reports,
  bus,
  http,
  smtp
]
