import { SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2"
import { Effect, Option, Result, type Scope } from "effect"

import { answeredWith, asksServer } from "../../application/mail/attempt-span.ts"
import { idOf } from "../../domain/delivery/untrusted.ts"
import { type FailureKind, failureText, noAnswer } from "../../domain/mail/failover.ts"
import { type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { otherFetch } from "../../ports/mail/transport.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"
import { askedBy } from "./asked-by.ts"
import { classifySesError } from "./classify.ts"
import { type Credentials, type CredentialSource, CredentialsUnavailable } from "./credentials.ts"
import { commandInput, decodeBody, dropRecipients, prepareRequest } from "./request.ts"

/** What the adapter is made from. */
export interface SesOptions {
  /** `CLOUD_REGION` or `PROVIDERB_REGION`. */
  readonly region: string
  readonly credentials: CredentialSource
  /** `PROVIDERB_ENDPOINT`; the vendor's for the region where absent. */
  readonly endpoint?: string | undefined
  /** `EMAIL_PROVIDERB_CONFIGURATION_SET`: for messages that name none (MAIL-23). */
  readonly configurationSet?: string | undefined
}

/**
 * Kept connections of the Node transport (fetch transports ignore it). An idle one is closed before the service closes it:
 * a request on a connection that is closing ends in a reset, and a reset is ambiguous.
 */
const AGENT = { keepAlive: true, maxSockets: 256, timeout: 20_000 }

/** The signing client. */
export const makeClient = (options: SesOptions, credentials: CredentialSource): SESv2Client =>
  withBoundedAnswers(
    new SESv2Client({
      ignoreConfiguredEndpointUrls: true,
      region: options.region,
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
      credentials,
      // The service has no idempotency key: a hidden retry could send twice. Set here, AWS_MAX_ATTEMPTS and the shared
      // configuration file do not matter.
      maxAttempts: 1,
      retryMode: "standard",
      // "auto" would ask the metadata service for the region.
      defaultsMode: "standard",
      requestHandler: { httpAgent: AGENT, httpsAgent: AGENT }
    })
  )

/**
 * `provider_b`: Amazon SES through its SDK, with the SDK's retries off; on Node and, bundled for a browser, on runtimes
 * with `fetch`. An interruption aborts the request. The client's connections are closed with the scope.
 */
export const makeSesProvider = Effect.fnUntraced(function* (
  options: SesOptions
): Effect.fn.Return<MailProvider, never, Scope.Scope> {
  let latest: Credentials | undefined
  const source: CredentialSource = async () => {
    try {
      return (latest = await options.credentials())
    } catch (cause) {
      // Whatever a source throws, its name must not be taken for that of a request that failed.
      throw cause instanceof CredentialsUnavailable
        ? cause
        : new CredentialsUnavailable("the source of the cloud credentials failed", { cause })
    }
  }
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => makeClient(options, source)),
    (open) => Effect.sync(() => open.destroy())
  )

  const failure = (kind: FailureKind, message: string, code?: string, holdMs?: number) => {
    const secrets = [latest?.secretAccessKey ?? "", latest?.sessionToken ?? ""]
    const pace = holdMs === undefined ? {} : { pace: { holdMs } }
    const text = failureText(message, secrets)
    return new ProviderFailure({ provider: "provider_b", kind, message: text, code, ...pace })
  }

  const address = options.endpoint ?? `email.${options.region}.amazonaws.com`
  const asks = asksServer(options.endpoint ?? `https://${address}`)
  const settings = options.endpoint === undefined ? "PROVIDERB_REGION" : "PROVIDERB_ENDPOINT"

  const send: MailProvider["send"] = (request) =>
    Effect.suspend(() => {
      const body = Option.getOrUndefined(decodeBody(request.body))
      if (body === undefined) {
        return Effect.fail(failure("rejected", "the request is not one that this provider prepared"))
      }
      const input = commandInput(body)
      if (Result.isFailure(input)) return Effect.fail(failure("rejected", input.failure))
      let refusedWith: unknown
      return Effect.flatMap(otherFetch, (fetch) =>
        Effect.tryPromise({
          try: (signal) =>
            client.send(askedBy(fetch, signal, new SendEmailCommand(input.success)), { abortSignal: signal }),
          catch: (cause) => {
            const { code, holdMs, kind, message, status, unanswered } = classifySesError(cause)
            refusedWith = status
            const text =
              unanswered === true ? noAnswer("provider_b", { address, cause: message, settings }) : message
            return failure(kind, text, code, holdMs)
          }
        })
      ).pipe(
        Effect.tap(({ $metadata }) => answeredWith($metadata.httpStatusCode)),
        Effect.tapError(() => answeredWith(refusedWith)),
        Effect.map(({ MessageId }) => ({ messageId: idOf(MessageId) ?? "" })),
        Effect.filterOrFail(
          ({ messageId }) => messageId !== "",
          () => failure("ambiguous", "the provider answered without a message id")
        ),
        (asked) => Effect.andThen(asks, asked)
      )
    })

  return {
    provider: "provider_b",
    prepare: prepareRequest(options.configurationSet),
    withoutRecipients: dropRecipients,
    send
  }
})
