import { Effect, type Scope } from "effect"
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from "smtp-server"

import { ReturnedMails } from "../../application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { withinLimits } from "../../application/inbound/mail-limits.ts"
import { countRefused, type Refusal } from "../../application/inbound/metrics.ts"
import { MAX_MAIL_BYTES } from "../../domain/inbound/incoming-mail.ts"
import { isQuotableAddress, isQuotableName } from "../../domain/inbound/quotable.ts"
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
import { makePeerTrust, type PeerRules } from "./peer-trust.ts"

/** How the server is set up. */
export interface SmtpOptions {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** What it calls itself. */
  readonly name: string
  /** Addresses that mail is taken for, in lower case. */
  readonly recipients: ReadonlySet<string>
  /** Without one, STARTTLS is not offered. */
  readonly certificate: Certificate | undefined
  readonly peers: PeerRules
  /** Time limits that tests shorten. */
  readonly idleMs?: number
  readonly connectionMs?: number
}

/** What answers a client: the intake, who the peers are, and the limits on their connections. */
interface Reception {
  readonly intake: ConvertByEmail["Service"]
  readonly returns: ReturnedMails["Service"]
  readonly trust: ReturnType<typeof makePeerTrust>
  readonly gate: ReturnType<typeof makeGate>
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
}

const TOO_LARGE = refusal(552, `5.3.4 Mail is larger than ${MAX_MAIL_BYTES} bytes`)

/** The reply to a server about a report. One that changes nothing is taken, too: nobody could mend it. */
const takeReturned = (returns: ReturnedMails["Service"], stream: SMTPServerDataStream, to: string) =>
  returns.accept({ to, raw: bytesOf(stream) }).pipe(
    Effect.map((): Error | string => "2.0.0 OK"),
    Effect.catchTag("TooLarge", () => Effect.as(countRefused("size"), TOO_LARGE)),
    Effect.catchTag("Cut", () => Effect.as(countRefused("cut"), refusal(451, "4.3.0 The mail was cut off"))),
    Effect.catchTag("ReturnLater", ({ why }) =>
      Effect.logInfo(`a delivery report is asked to come again: ${why}`).pipe(
        Effect.andThen(countRefused("unavailable")),
        Effect.as(refusal(451, "4.3.0 The report cannot be recorded now, please try again later"))
      )
    ),
    Effect.catchCause((cause) =>
      Effect.logWarning(
        "a delivery report could not be recorded: its server was asked to try again later",
        cause
      ).pipe(
        Effect.andThen(countRefused("unavailable")),
        Effect.as(refusal(451, "4.3.0 The report cannot be recorded now, please try again later"))
      )
    )
  )

/** The reply to the client about its mail. */
const take = (
  intake: ConvertByEmail["Service"],
  stream: SMTPServerDataStream,
  session: SMTPServerSession
) => {
  const { mailFrom } = session.envelope
  const envelopeFrom = mailFrom === false ? "" : mailFrom.address
  return intake.accept({ envelopeFrom, peerTrusted: true, raw: withinLimits(bytesOf(stream)) }).pipe(
    Effect.map((id): Error | string => `OK: queued as ${id}`),
    Effect.catchTag("TooLarge", () => Effect.as(countRefused("size"), TOO_LARGE)),
    Effect.catchTag("BeyondLimits", ({ message }) =>
      Effect.as(countRefused("limits"), refusal(554, `5.6.0 Mail that cannot be read: ${message}`))
    ),
    // The client is gone; the answer only ends the command.
    Effect.catchTag("Cut", () => Effect.as(countRefused("cut"), refusal(451, "4.3.0 The mail was cut off"))),
    // A defect, too: a client that gets no answer would wait for one.
    Effect.catchCause((cause) =>
      Effect.logWarning("a mail could not be stored: the sender was asked to try again later", cause).pipe(
        Effect.andThen(countRefused("unavailable")),
        Effect.as(refusal(451, "4.3.0 The mail cannot be stored now, please try again later"))
      )
    )
  )
}

/** Replies once the client has sent everything. */
const answerMail = async (
  { gate, intake, returns, run }: Reception,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  callback: Callback
): Promise<void> => {
  const connection = gate.of(session)
  if (connection !== undefined) connection.busy = true
  const returned = session.envelope.rcptTo.find(({ address }) => returns.isFor(address))
  const taken = await run(
    returned === undefined ? take(intake, stream, session) : takeReturned(returns, stream, returned.address)
  )
  await drained(stream, 2 * MAX_MAIL_BYTES, () => connection?.socket.destroy())
  if (connection !== undefined) connection.busy = false
  // The size is what a sender can mend, whatever else was found before it was known.
  const reply = stream.sizeExceeded ? TOO_LARGE : taken
  if (typeof reply === "string") callback(null, reply)
  else callback(reply)
}

const refuse = ({ run }: Reception, callback: Callback, reason: Refusal, code: number, message: string) => {
  void run(countRefused(reason))
  callback(refusal(code, message))
}

/** Whether a mail may begin: nothing from an untrusted peer is read, and nothing that a server cannot quote is passed on. */
const answerSender = async (
  reception: Reception,
  from: SMTPServerAddress,
  session: SMTPServerSession,
  callback: Callback
): Promise<void> => {
  const found = await reception.trust.of(session.remoteAddress)
  if (!reception.gate.found(session, found)) {
    return refuse(reception, callback, "rate", 421, "4.7.0 Too many attempts, please try again later")
  }
  if (found === "stranger") {
    return refuse(reception, callback, "peer", 550, "5.7.1 Mail is taken from our own mail servers only")
  }
  if (found === "unknown") {
    return refuse(
      reception,
      callback,
      "peer",
      451,
      "4.4.3 The DNS does not say who you are, please try again later"
    )
  }
  const parameter = unknownParameter(from, MAIL_PARAMETERS)
  if (parameter !== undefined) return callback(notOffered(parameter))
  if (!isQuotableAddress(from.address)) {
    return refuse(
      reception,
      callback,
      "sender",
      553,
      "5.1.7 Such a sender address cannot stand in a header as it is, and is not taken"
    )
  }
  if (!isQuotableName(session.hostNameAppearsAs)) {
    return refuse(reception, callback, "sender", 550, "5.7.1 Such a name in EHLO is not taken")
  }
  callback(null)
}

/**
 * Whether mail is taken for a recipient. A mail has as many as we have mailboxes, at most: the server keeps each once. A report has one, so
 * that one answer is about it alone.
 */
const answerRecipient = (
  reception: Reception,
  recipients: ReadonlySet<string>,
  to: SMTPServerAddress,
  session: SMTPServerSession,
  callback: Callback
): void => {
  const parameter = unknownParameter(to)
  if (parameter !== undefined) return callback(notOffered(parameter))
  const isReturned = reception.returns.isFor(to.address)
  const others = session.envelope.rcptTo.filter(({ address }) => address !== to.address)
  if (others.some(({ address }) => isReturned || reception.returns.isFor(address)))
    return callback(refusal(452, "4.5.3 A report has one recipient: send the mail again to the others"))
  if (isReturned || recipients.has(to.address.toLowerCase())) return callback(null)
  const [ours = "nobody"] = recipients
  refuse(
    reception,
    callback,
    "recipient",
    550,
    `5.1.1 No such mailbox: this server takes documents for ${ours}, and nothing else`
  )
}

const makeServer = (options: SmtpOptions, reception: Reception) =>
  new DialogueServer({
    name: options.name,
    banner: "Postlane",
    size: MAX_MAIL_BYTES,
    socketTimeout: options.idleMs ?? IDLE_MS,
    closeTimeout: CLOSE_MS,
    authOptional: true,
    disabledCommands: options.certificate === undefined ? ["AUTH", "STARTTLS"] : ["AUTH"],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    logger: false,
    ...options.certificate,
    onSecure: (socket, session, callback) => {
      reception.gate.secured(session, socket)
      callback()
    },
    onMailFrom: (from, session, callback) => {
      void answerSender(reception, from, session, callback)
    },
    onRcptTo: (to, session, callback) =>
      answerRecipient(reception, options.recipients, to, session, callback),
    onData: (stream, session, callback) => {
      void answerMail(reception, stream, session, callback)
    }
  })

/**
 * Listens for mail until the scope closes. 250 comes once the mail is durable and its row is there, 451 where it is not: the
 * sender then keeps it. Returns the port.
 */
export const serveSmtp = Effect.fnUntraced(function* (
  options: SmtpOptions
): Effect.fn.Return<
  { readonly port: number },
  SmtpListenError,
  ConvertByEmail | ReturnedMails | Scope.Scope
> {
  const intake = yield* ConvertByEmail
  const returns = yield* ReturnedMails
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const now = () => performance.now()
  const trust = makePeerTrust(options.peers, now)
  const gate = makeGate({
    name: options.name,
    isKnown: trust.isKnown,
    connectionMs: options.connectionMs ?? CONNECTION_MS,
    onRefused: () => void run(countRefused("connections")),
    now
  })
  const server = makeServer(options, { intake, returns, trust, gate, run })
  return yield* listenOn(server, options, gate.admit)
})
