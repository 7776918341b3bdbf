import { Effect, Redacted, type Scope, Semaphore } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { asksServer } from "../../application/mail/attempt-span.ts"
import { failureCode, failureText, type FailureKind, noAnswer } from "../../domain/mail/failover.ts"
import type { ReturnAddress } from "../../domain/mail/return-address.ts"
import { type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { type Composed, composed, dropRecipients, prepareRequest } from "./request.ts"
import { finish, handOver, kindOf, openSession, type Relay, RelayFailure, type Session } from "./session.ts"

/** What the adapter is made from. */
interface RelayOptions {
  readonly relay: Relay
  /** `BOUNCE_ADDRESS`: where delivery reports come back. */
  readonly returns?: ReturnAddress | undefined
  /** How long an attempt may take, milliseconds: what has come to no final dot by then is proven unsent a little earlier. */
  readonly attemptTimeoutMs: number
}

/** Connections at once: as many as relays usually take from one client. */
const MOST_CONNECTIONS = 10

/** How long an unused connection is kept, milliseconds: less than relays wait. */
const IDLE_MS = 20_000

/** The part of an attempt's time in which the final dot has to be reached. */
const SHARE_BEFORE_DOT = 0.8

/** Logged-in connections that were used before. Each owes the answer to a RSET, which says that it still lives. */
const makePool = (relay: Relay) => {
  const resting = new Set<Session>()
  return {
    take: async (signal: AbortSignal): Promise<Session> => {
      for (const session of resting) {
        const { dialogue } = session
        resting.delete(session)
        if (!dialogue.isOpen()) continue
        dialogue.wake()
        signal.addEventListener("abort", dialogue.destroy, { once: true })
        try {
          if ((await dialogue.reply()).code === 250) return session
        } catch {
          // The relay has closed it meanwhile: nothing was asked on it.
        } finally {
          signal.removeEventListener("abort", dialogue.destroy)
        }
        dialogue.destroy()
      }
      return openSession(relay, signal)
    },
    /** Ends what the connection was used for, a refused mail as well. */
    put: (session: Session): void => {
      session.dialogue.write("RSET\r\n").catch(() => session.dialogue.destroy())
      session.dialogue.rest(IDLE_MS)
      resting.add(session)
    },
    close: (): void => {
      for (const { dialogue } of resting) dialogue.destroy()
      resting.clear()
    }
  }
}

/** What no message may repeat: the password, and the forms in which it goes over the wire. */
const secretsOf = ({ login }: Relay): ReadonlyArray<string> => {
  if (login === undefined) return []
  const password = Redacted.value(login.password)
  return [
    password,
    Buffer.from(password).toString("base64"),
    Buffer.from(`\0${login.user}\0${password}`).toString("base64")
  ]
}

/** A relay's own words, safe for logs and callers. */
export const relayText = (relay: Relay, text: string): string => failureText(text, secretsOf(relay))

export const addressOfRelay = ({ host, port }: Relay): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`

/**
 * `smtp`: a relay of one's own. A mail is handed over in two steps, all before the final dot and the dot itself, since a failure means
 * something else on each side of it. Connections are kept, and closed with the scope.
 */
export const makeRelayProvider = Effect.fnUntraced(function* ({
  attemptTimeoutMs,
  relay,
  returns
}: RelayOptions): Effect.fn.Return<MailProvider, never, Scope.Scope> {
  const pool = makePool(relay)
  const places = yield* Semaphore.make(MOST_CONNECTIONS)
  yield* Effect.addFinalizer(() => Effect.sync(pool.close))

  const failure = (kind: FailureKind, message: string, code?: string) =>
    new ProviderFailure({ provider: "smtp", kind, message: relayText(relay, message), code })

  const failureOf = (cause: unknown): ProviderFailure => {
    if (!(cause instanceof RelayFailure)) return failure("ambiguous", String(cause))
    const at = { address: addressOfRelay(relay), cause: cause.message, settings: "SMTP_URL" }
    return failure(
      kindOf(cause),
      cause.reply === undefined ? noAnswer("smtp", at) : cause.message,
      failureCode(cause.reply === undefined ? undefined : String(cause.reply.code))
    )
  }

  /** A connection of one attempt's own; kept unless the attempt was given up in the middle of a mail. */
  const connection = Effect.acquireRelease(
    Effect.tryPromise({ try: (signal) => pool.take(signal), catch: failureOf }),
    (session) =>
      Effect.sync(() => {
        if (session.isFree && session.dialogue.isOpen()) pool.put(session)
        else session.dialogue.destroy()
      }),
    { interruptible: true }
  )

  const attempt = Effect.fnUntraced(function* (mail: Composed) {
    const beforeDot = Effect.gen(function* () {
      yield* Effect.acquireRelease(places.take(1), () => places.release(1), { interruptible: true })
      const session = yield* connection
      yield* Effect.tryPromise({ try: () => handOver(session, mail), catch: failureOf })
      return session
    })
    const duration = attemptTimeoutMs * SHARE_BEFORE_DOT
    const session = yield* withDeadline(beforeDot, {
      duration,
      onTimeout: () => {
        const cause = `the mail was not handed over within ${duration / 1000} s`
        return Effect.fail(failureOf(new RelayFailure("before the final dot", cause)))
      }
    })
    yield* Effect.tryPromise({ try: () => finish(session), catch: failureOf })
    return { messageId: mail.messageId }
  }, Effect.scoped)

  const asks = asksServer(`smtp://${addressOfRelay(relay)}`)

  const send: MailProvider["send"] = Effect.fnUntraced(function* (request) {
    const mail = yield* Effect.tryPromise({
      try: () => composed(request),
      catch: (cause) => failure("rejected", `the mail cannot be composed: ${String(cause)}`)
    })
    if (mail === undefined)
      return yield* failure("rejected", "the request is not one that this provider prepared")
    yield* asks
    return yield* attempt(mail)
  })

  return { provider: "smtp", prepare: prepareRequest(returns), withoutRecipients: dropRecipients, send }
})
