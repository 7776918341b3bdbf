import { Context, Data, type Effect } from "effect"

import type { SendKey } from "../../domain/ids.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import type { Message } from "../../domain/mail/message.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { MailTemplate, RenderedMail } from "../../domain/mail/templates/template.ts"

/** A provider did not answer with an accepted message id. */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly provider: Provider
  readonly kind: FailureKind
  /** The provider's error text for the log and the caller, without secrets and message content. */
  readonly message: string
  /** The provider's own error name, where it gave one. */
  readonly code?: string | undefined
  /** It took a request with this key before, with other bytes: that one may be a copy of this mail, whatever became of its claim. */
  readonly knowsKey?: boolean | undefined
  readonly pace?: ProviderPace | undefined
  /** Set by the mailer: there was no answer in time, or none could be waited for. */
  readonly cut?: "late" | "stopped" | undefined
}> {}

/** What a provider says of its pace, with an answer. */
export interface ProviderPace {
  /** Its limit, requests a second. */
  readonly ratePerSecond?: number | undefined
  /** How long it takes nothing, milliseconds. */
  readonly holdMs?: number | undefined
  /** When it wants to be asked again, in its own words (`Retry-After`), milliseconds: what it refused waits so long (QUEUE-10). */
  readonly retryAfterMs?: number | undefined
}

/** The provider's answer that proves acceptance. */
export interface Accepted {
  /** Never empty: an answer without an id is `ambiguous`. */
  readonly messageId: string
  /** Recipients, bare and lower-case, that the provider has on its own suppression list and does not mail; absent where it mails all. */
  readonly withheld?: ReadonlyArray<string>
  readonly pace?: ProviderPace | undefined
}

/**
 * One provider of outbound mail. `send` makes one attempt, without retries and without a time limit (the mailer interrupts it, and
 * the adapter then aborts the request if its SDK can).
 */
export interface MailProvider {
  readonly provider: Provider
  /** Makes the vendor's request; the same message and key give the same bytes. Pure. */
  readonly prepare: (message: Message, key: SendKey) => ProviderRequest
  /**
   * The same request without these recipients (bare lower-case addresses); `undefined` where no To recipient is left.
   * Without any of them in it, the request comes back unchanged, byte for byte.
   */
  readonly withoutRecipients: (
    request: ProviderRequest,
    blocked: ReadonlySet<string>
  ) => ProviderRequest | undefined
  /** One attempt. Every ending without a proven acceptance is a {@link ProviderFailure}; it never dies with a defect. */
  readonly send: (request: ProviderRequest) => Effect.Effect<Accepted, ProviderFailure>
}

/** The providers that are configured. */
export class MailProviders extends Context.Service<
  MailProviders,
  {
    /** `undefined` where the provider is not configured: a send that needs it is `unavailable`. */
    readonly get: (provider: Provider) => MailProvider | undefined
  }
>()("postlane/ports/MailProviders") {}

/** Writes the product's own mails: accessible, safe in dark mode, in HTML and plain text, every value escaped. */
export class MailTemplates extends Context.Service<
  MailTemplates,
  {
    /** Never fails: any data gives a mail. */
    readonly render: (template: MailTemplate) => Effect.Effect<RenderedMail>
  }
>()("postlane/ports/MailTemplates") {}
