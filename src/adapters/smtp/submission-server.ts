import { Effect, Result, type Scope, Stream } from "effect"
import type {
  SMTPServerAddress,
  SMTPServerAuthentication,
  SMTPServerAuthenticationResponse,
  SMTPServerDataStream,
  SMTPServerSession
} from "smtp-server"

import { SenderAccess } from "../../application/send-queue/sender-access.ts"
import { Submission, type SubmissionRefused } from "../../application/send-queue/submission.ts"
import { type Mailbox, parseMailbox } from "../../domain/mail/address.ts"
import type { SenderToken } from "../../domain/mail/sender-token.ts"
import { isLoopback, networkOf } from "../../domain/networks.ts"
import { DialogueServer } from "./dialogue.ts"
import { makeGate } from "./gate.ts"
import {
  bytesOf,
  type Callback,
  type Certificate,
  CLOSE_MS,
  CONNECTION_MS,
  drained,
  IDLE_MS,
  listenOn,
  MAIL_PARAMETERS,
  notOffered,
  refusal,
  type SmtpListenError,
  unknownParameter
} from "./listener.ts"

/** Most bytes of a mail, as a request of the send queue may have. */
const MAX_BYTES = 1024 * 1024

/** Bytes of a mail that is too large after which its client is cut off: until then it gets the answer where it looks for it. */
const MAX_DRAINED = 80 * 1024 * 1024

/** Most recipients of one mail. */
const MAX_RECIPIENTS = 50

/** Besides those of any server: a client that has logged in may name whom it speaks for (RFC 4954, section 5). */
const PARAMETERS = new Set([...MAIL_PARAMETERS, "AUTH"])

/** Longest text of a reply, characters. */
const MAX_REPLY = 400

/** How the server is set up. */
export interface SubmissionOptions {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** What it calls itself. */
  readonly name: string
  /** Without one, tokens are taken from this machine alone. */
  readonly certificate: Certificate | undefined
  /** TLS from the first byte on, in place of STARTTLS. Needs the certificate. */
  readonly implicitTls: boolean
  /** From where tokens are taken in clear; this machine unless a test says otherwise. */
  readonly isPrivate?: (address: string) => boolean
  /** Time limits that tests shorten. */
  readonly idleMs?: number
  readonly connectionMs?: number
}

/** What answers a client. */
interface Reception {
  readonly access: SenderAccess["Service"]
  readonly submission: Submission["Service"]
  readonly gate: ReturnType<typeof makeGate>
  readonly isPrivate: (address: string) => boolean
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
}

/** One line, as a reply has it. */
const line = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, MAX_REPLY)

const CODES: Readonly<Record<SubmissionRefused["why"], readonly [number, string]>> = {
  unreadable: [554, "5.6.0 Mail that cannot be read: "],
  invalid: [550, "5.6.0 "],
  "not allowed": [550, "5.7.1 "],
  suppressed: [550, "5.7.1 "],
  "too large": [552, "5.3.4 "],
  conflict: [554, "5.6.0 "],
  later: [451, "4.3.0 "],
  "too fast": [451, "4.7.1 "]
}

const TOO_LARGE = refusal(552, `5.3.4 A mail may have ${MAX_BYTES} bytes at most`)
const LATER = "4.3.0 The mail cannot be queued now, please try again later"
const IN_CLEAR = refusal(530, "5.7.0 Must issue a STARTTLS command first: a token is not sent in clear")
const NO_TOKEN = refusal(
  530,
  "5.7.0 A sender token is needed: AUTH PLAIN or LOGIN, any user name, the token as password"
)

/** The token's text of a session that has logged in; the library keeps what `onAuth` answers. */
const tokenOf = ({ user }: SMTPServerSession): string | undefined =>
  typeof user === "string" ? user : undefined

/** What the token allows now: it may have been revoked since the login. */
const identified = ({ access, run }: Reception, text: string, { remoteAddress }: SMTPServerSession) =>
  run(
    access.identify(text, networkOf(remoteAddress)).pipe(
      Effect.map((token): Error | SenderToken => token),
      Effect.catchTags({
        UnknownSender: () => Effect.succeed(refusal(535, "5.7.8 The sender token is unknown or revoked")),
        SenderTooFast: ({ message }) => Effect.succeed(refusal(454, line(`4.7.0 ${message}`)))
      }),
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logWarning(
            "a sender token could not be looked up: the client was asked to try again later",
            cause
          ),
          refusal(454, "4.7.0 Tokens cannot be looked up now, please try again later")
        )
      )
    )
  )

const answerLogin = async (
  reception: Reception,
  { password }: SMTPServerAuthentication,
  session: SMTPServerSession,
  callback: (error?: Error | null, response?: SMTPServerAuthenticationResponse) => void
): Promise<void> => {
  const found = await identified(reception, password ?? "", session)
  if (found instanceof Error) return callback(found)
  reception.gate.found(session, "trusted")
  callback(null, { user: password ?? "" })
}

const answerSender = (
  { isPrivate }: Reception,
  from: SMTPServerAddress,
  session: SMTPServerSession,
  callback: Callback
): void => {
  if (tokenOf(session) === undefined)
    return callback(session.secure || isPrivate(session.remoteAddress) ? NO_TOKEN : IN_CLEAR)
  const parameter = unknownParameter(from, PARAMETERS)
  return callback(parameter === undefined ? null : notOffered(parameter))
}

const answerRecipient = (to: SMTPServerAddress, session: SMTPServerSession, callback: Callback): void => {
  const parameter = unknownParameter(to)
  if (parameter !== undefined) return callback(notOffered(parameter))
  if (session.envelope.rcptTo.length >= MAX_RECIPIENTS)
    return callback(
      refusal(452, `4.5.3 A mail has ${MAX_RECIPIENTS} recipients at most: send it again to the rest`)
    )
  const parsed = parseMailbox(to.address)
  return callback(Result.isSuccess(parsed) ? null : refusal(553, line(`5.1.3 ${parsed.failure}`)))
}

const recipients = ({ envelope }: SMTPServerSession): ReadonlyArray<Mailbox> =>
  envelope.rcptTo.flatMap(({ address }) => {
    const parsed = parseMailbox(address)
    return Result.isSuccess(parsed) ? [parsed.success] : []
  })

/** The whole mail in memory. */
const rawOf = (stream: SMTPServerDataStream) =>
  Stream.runCollect(bytesOf(stream)).pipe(Effect.map((pieces) => new Uint8Array(Buffer.concat(pieces))))

/** The reply to a client about its mail. */
const take = (
  { submission }: Reception,
  token: SenderToken,
  stream: SMTPServerDataStream,
  session: SMTPServerSession
) =>
  Effect.flatMap(rawOf(stream), (raw) => {
    const { mailFrom } = session.envelope
    const from = mailFrom === false ? "" : mailFrom.address
    return submission.accept({ token, raw, envelope: { from, to: recipients(session) } })
  }).pipe(
    Effect.map((id): Error | string => `2.0.0 queued as ${id}`),
    Effect.catchTag("TooLarge", () => Effect.succeed(TOO_LARGE)),
    Effect.catchTag("SubmissionRefused", ({ message, why }) => {
      const [code, text] = CODES[why]
      return Effect.succeed(refusal(code, line(text + message)))
    }),
    // The client is gone; the answer only ends the command.
    Effect.catchTag("Cut", () => Effect.succeed(refusal(451, "4.3.0 The mail was cut off"))),
    // A defect, too: a client that gets no answer would wait for one.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning(
          "a submitted mail could not be queued: its client was asked to try again later",
          cause
        ),
        refusal(451, LATER)
      )
    )
  )

/** Replies once the client has sent everything. */
const answerMail = async (
  reception: Reception,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  callback: Callback
): Promise<void> => {
  const connection = reception.gate.of(session)
  if (connection !== undefined) connection.busy = true
  const token = await identified(reception, tokenOf(session) ?? "", session)
  const taken = token instanceof Error ? token : await reception.run(take(reception, token, stream, session))
  await drained(stream, MAX_DRAINED, () => connection?.socket.destroy())
  if (connection !== undefined) connection.busy = false
  // The size is what a sender can mend, whatever else was found before it was known.
  const reply = stream.sizeExceeded ? TOO_LARGE : taken
  if (typeof reply === "string") callback(null, reply)
  else callback(reply)
}

const makeServer = (options: SubmissionOptions, reception: Reception) =>
  new DialogueServer({
    name: options.name,
    banner: "Postlane",
    size: MAX_BYTES,
    socketTimeout: options.idleMs ?? IDLE_MS,
    closeTimeout: CLOSE_MS,
    authMethods: ["PLAIN", "LOGIN"],
    // Where a token may not be sent in clear, AUTH is not there before TLS (`onConnect`).
    allowInsecureAuth: true,
    authOptional: true,
    secure: options.implicitTls,
    disabledCommands: options.certificate === undefined ? ["STARTTLS"] : [],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    logger: false,
    ...options.certificate,
    onConnect: (session, callback) => {
      if (!session.secure && !reception.isPrivate(session.remoteAddress)) session.disabledCommands = ["AUTH"]
      callback()
    },
    onSecure: (socket, session, callback) => {
      session.disabledCommands = []
      reception.gate.secured(session, socket)
      callback()
    },
    onAuth: (auth, session, callback) => {
      void answerLogin(reception, auth, session, callback)
    },
    onMailFrom: (from, session, callback) => answerSender(reception, from, session, callback),
    onRcptTo: answerRecipient,
    onData: (stream, session, callback) => {
      void answerMail(reception, stream, session, callback)
    }
  })

/**
 * Takes mail of programs with a sender token until the scope closes (FRONT-3). 250 comes once the mail is in the send queue, 451 where
 * it cannot be queued now: the client then keeps it. Returns the port.
 */
export const serveSubmission = Effect.fnUntraced(function* (
  options: SubmissionOptions
): Effect.fn.Return<{ readonly port: number }, SmtpListenError, SenderAccess | Submission | Scope.Scope> {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const isPrivate = options.isPrivate ?? isLoopback
  const gate = makeGate({
    name: options.name,
    isKnown: isPrivate,
    connectionMs: options.connectionMs ?? CONNECTION_MS,
    onRefused: () => undefined,
    now: () => performance.now()
  })
  const reception = { access: yield* SenderAccess, submission: yield* Submission, gate, isPrivate, run }
  return yield* listenOn(makeServer(options, reception), options, gate.admit)
})
