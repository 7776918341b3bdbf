import { Context, Effect, Layer, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { addressKey, formatMailbox, parseMailbox } from "../../domain/mail/address.ts"
import { OUTREACH_PROVIDER } from "../../domain/mail/provider.ts"
import {
  type ClaimUnavailable,
  type IdempotencyConflict,
  type IdempotencyInProgress,
  InvalidRequest,
  type SendResult
} from "../../domain/mail/send-result.ts"
import type { TemplateLink } from "../../domain/mail/templates/template.ts"
import type { CampaignSendStatus } from "../../domain/outreach/campaign-status.ts"
import { pathTo } from "../../domain/pages.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { CampaignBook } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { Mailer } from "../mail/mailer.ts"
import { CAMPAIGN_TAG, SEND_TAG } from "./campaign-events.ts"
import { CAMPAIGN, Unsubscribing } from "./unsubscribe.ts"

/** `source` of outreach mail. */
const OUTREACH_SOURCE = "api:outreach"

/** The settings that outreach depends on. */
export class OutreachConfig extends Context.Service<
  OutreachConfig,
  {
    /** The outreach mailbox on the sender domain, as a From header. */
    readonly from: string
    /** `PROVIDERB_CONFIGURATION_SET`. */
    readonly configurationSet: string
    /** Where unsubscribe links lead, without a slash at its end. Mail services take one-click links with https only. */
    readonly baseUrl: string
    /** The sender's postal address and why the reader gets this. */
    readonly footer: string
  }
>()("postlane/application/OutreachConfig") {}

/** One mail of a campaign to one prospect. */
export interface OutreachMail {
  /** One address, bare. */
  readonly email: string
  readonly name?: string | undefined
  /** Letters, digits, `.`, `_` and `-`, 64 at most. */
  readonly campaign: string
  readonly subject: string
  /** Plain text. */
  readonly paragraphs: ReadonlyArray<string>
  readonly action?: TemplateLink | undefined
}

/** The outcome of an outreach mail. `id` is its row in `email_sends`. */
export type OutreachResult =
  /** Nothing was sent: the address has unsubscribed. */
  | { readonly _tag: "Unsubscribed" }
  | { readonly _tag: "Ended"; readonly id: string; readonly result: SendResult }
  /** The same mail went out before, or may have; nothing was sent. */
  | {
      readonly _tag: "SentBefore"
      readonly id: string
      readonly status: CampaignSendStatus
      readonly providerMessageId: string | null
    }

export type OutreachFailure =
  | InvalidRequest
  | IdempotencyConflict
  | IdempotencyInProgress
  | ClaimUnavailable
  | StoreUnavailable

/** Prospect outreach (EVENT-70). */
export class Outreach extends Context.Service<
  Outreach,
  {
    /**
     * Sends one mail of a campaign: pinned to `provider_b`, on the outreach configuration set, with the links of one-click
     * unsubscribing, its row in `email_sends` written before and after. The same mail to the same person goes out once; a
     * repeated call sends it again only where it was deferred and failed in the end.
     */
    readonly send: (mail: OutreachMail) => Effect.Effect<OutreachResult, OutreachFailure>
  }
>()("postlane/application/Outreach") {}

const invalid = (path: string, message: string) => new InvalidRequest({ issues: [{ path, message }] })

// oxlint-disable-next-line no-control-regex -- the point is to refuse them
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Finds what would make the send fail after its row was made. */
const issueOf = ({
  action,
  campaign,
  name,
  paragraphs,
  subject
}: OutreachMail): InvalidRequest | undefined => {
  if (!CAMPAIGN.test(campaign)) {
    return invalid("campaign", "is not 1 to 64 letters, digits, dots, underscores and hyphens")
  }
  if (name !== undefined && CONTROL.test(name)) return invalid("name", "holds a control character")
  if (subject.trim() === "") return invalid("subject", "is empty")
  if (CONTROL.test(subject)) return invalid("subject", "holds a control character")
  if (paragraphs.every((paragraph) => paragraph.trim() === "")) return invalid("paragraphs", "say nothing")
  if (action !== undefined && !/^https?:\/\/[^\s]+$/.test(action.url)) {
    return invalid("action.url", "is no http or https address")
  }
  return undefined
}

/** What every mail is sent with. */
const makeParts = Effect.gen(function* () {
  return {
    config: yield* OutreachConfig,
    book: yield* CampaignBook,
    mailer: yield* Mailer,
    templates: yield* MailTemplates,
    unsubscribing: yield* Unsubscribing,
    digest: yield* Digest
  }
})
type Parts = Effect.Success<typeof makeParts>

/** The same mail to the same person has the same key. */
const keyOf = ({ digest }: Parts, email: string, mail: OutreachMail): Effect.Effect<string> => {
  const { action, campaign, paragraphs, subject } = mail
  const content = [email, campaign, subject, paragraphs, action?.text ?? null, action?.url ?? null]
  return Effect.map(
    digest.digestHex(sha256, new TextEncoder().encode(JSON.stringify(content))),
    (hash) => `${OUTREACH_SOURCE}/${hash}`
  )
}

/** Records how the send ended. If it cannot, the result of the send stays, and its events complete the row. */
const finish = ({ book }: Parts, id: string, result: SendResult): Effect.Effect<void> =>
  book
    .finish({
      id,
      outcome: result.status,
      providerMessageId: result.providerMessageId,
      error: result.ok ? null : result.error,
      errorKind: result.status === "failed" ? result.kind : null
    })
    .pipe(
      Effect.catch(({ cause }) =>
        Effect.logError(
          "the end of an outreach send is not recorded: its events complete the row",
          cause
        ).pipe(Effect.annotateLogs({ id, status: result.status }))
      )
    )

const mailIt = Effect.fnUntraced(function* (
  { config, mailer, templates }: Parts,
  mail: OutreachMail,
  to: string,
  unsubscribeUrl: string,
  begun: { readonly id: string; readonly mailKey: string }
) {
  const { action, campaign, paragraphs, subject } = mail
  const { configurationSet, footer, from } = config
  const rendered = yield* templates.render({
    kind: "outreach",
    subject,
    paragraphs,
    action,
    footer,
    unsubscribeUrl
  })
  return yield* mailer.send({
    to,
    from,
    ...rendered,
    category: "marketing",
    source: OUTREACH_SOURCE,
    provider: OUTREACH_PROVIDER,
    configurationSet,
    tags: { [CAMPAIGN_TAG]: campaign, [SEND_TAG]: begun.id },
    headers: {
      "List-Unsubscribe": `<${unsubscribeUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
    },
    idempotencyKey: begun.mailKey
  })
})

const send = Effect.fnUntraced(function* (parts: Parts, mail: OutreachMail) {
  const { book, config, unsubscribing } = parts
  const parsed = parseMailbox(mail.email.trim())
  if (Result.isFailure(parsed)) return yield* invalid("email", parsed.failure)
  const wrong = issueOf(mail)
  if (wrong !== undefined) return yield* wrong
  if (!config.baseUrl.startsWith("https://"))
    return yield* invalid(
      "",
      "BASE_URL does not begin with https://: no mail service takes its links (RFC 8058)"
    )
  const { domain, local } = parsed.success
  const email = addressKey(parsed.success)
  const { campaign, name, subject } = mail
  const idempotencyKey = yield* keyOf(parts, email, mail)
  const unsubscribeUrl = `${config.baseUrl}${pathTo.unsubscribe(yield* unsubscribing.token({ email, campaign }))}`

  // Unlike the suppression look-up this fails closed: a mail that goes out later does no harm, and one to a person who
  // asked for none breaks the law in most places, and the promise of the link everywhere.
  const begun = yield* book.begin({ email, name, campaign, subject, idempotencyKey })
  if (begun._tag === "Unsubscribed") return begun
  if (begun._tag === "Settled") return { ...begun, _tag: "SentBefore" as const }

  const result = yield* mailIt(parts, mail, formatMailbox({ name, local, domain }), unsubscribeUrl, begun)
  yield* finish(parts, begun.id, result)
  return { _tag: "Ended" as const, id: begun.id, result }
}, Effect.uninterruptible)

export const layer: Layer.Layer<
  Outreach,
  never,
  OutreachConfig | CampaignBook | Mailer | MailTemplates | Unsubscribing | Digest
> = Layer.effect(
  Outreach,
  Effect.map(makeParts, (parts) => Outreach.of({ send: (mail) => send(parts, mail) }))
)
