import { hostname } from "node:os"

import { Redacted } from "effect"

import type { FailureKind } from "../../domain/mail/failover.ts"
import { type Dialogue, openDialogue, type Peer, type Reply } from "./dialogue.ts"

/** How a relay is reached and who we are there. */
export interface Relay extends Peer {
  /** Whether a relay that offers no TLS is refused. */
  readonly requiresTls: boolean
  readonly login: { readonly user: string; readonly password: Redacted.Redacted } | undefined
}

/** How far a dialogue has come: what its end proves depends on it. */
type Phase = "opening" | "before the final dot" | "after the final dot"

/** A dialogue that did not end with an accepted mail; `reply` is the answer that ended it, where there was one. */
export class RelayFailure extends Error {
  readonly phase: Phase
  readonly reply: Reply | undefined
  constructor(phase: Phase, message: string, reply?: Reply) {
    super(message)
    this.phase = phase
    this.reply = reply
  }
}

/** "Authentication required" (RFC 4954): about the account, in answer to whatever command. */
const LOGIN_REQUIRED = 530

/**
 * What a failure proves (MAIL-36). Without the final dot no relay keeps a mail, so that a loss before it is proof; after it only a
 * whole answer is.
 */
export const kindOf = ({ phase, reply }: Pick<RelayFailure, "phase" | "reply">): FailureKind => {
  if (phase === "opening" || reply?.code === LOGIN_REQUIRED) return "unavailable"
  if (reply === undefined) return phase === "after the final dot" ? "ambiguous" : "unavailable"
  if (reply.code >= 500) return "rejected"
  return reply.code >= 400 || phase !== "after the final dot" ? "unavailable" : "ambiguous"
}

const textOf = ({ code, lines }: Reply): string => `${code} ${lines.join(" ")}`.trim()

/** A logged-in connection. */
export interface Session {
  readonly dialogue: Dialogue
  /** Keywords of the answer to EHLO, with their parameters. */
  readonly offers: ReadonlyMap<string, string>
  /** Between two mails: another attempt may use it. */
  isFree: boolean
}

/**
 * Sends one command and waits for its answer. A dialogue that is lost meanwhile fails in this phase. An answer that is there before is the
 * answer to no command: the next ones would be taken for others' answers, and the last one for proof of a mail that was not read.
 */
export const ask = async (dialogue: Dialogue, phase: Phase, line: string): Promise<Reply> => {
  const early = dialogue.early()
  if (early !== undefined) {
    dialogue.destroy()
    const proves = phase === "opening" ? phase : "before the final dot"
    throw new RelayFailure(proves, `it answered before it was asked: ${textOf(early)}`, early)
  }
  try {
    await dialogue.write(`${line}\r\n`)
    return await dialogue.reply()
  } catch (cause) {
    throw new RelayFailure(phase, cause instanceof Error ? cause.message : String(cause))
  }
}

const refused = (phase: Phase, what: string, reply: Reply) =>
  new RelayFailure(phase, `${what}: ${textOf(reply)}`, reply)

/** The name that we greet with: of this machine where it is a whole one, else its address. */
const ownName = (dialogue: Dialogue): string => {
  const name = hostname()
  if (/^[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(name)) return name
  const address = dialogue.localAddress() ?? "127.0.0.1"
  return address.includes(":") ? `[IPv6:${address}]` : `[${address}]`
}

const greet = async (dialogue: Dialogue): Promise<ReadonlyMap<string, string>> => {
  const reply = await ask(dialogue, "opening", `EHLO ${ownName(dialogue)}`)
  if (reply.code !== 250) throw refused("opening", "it refuses the greeting", reply)
  return new Map(
    reply.lines.slice(1).map((line) => {
      const [keyword = "", ...parameters] = line.trim().split(/ +|=/)
      return [keyword.toUpperCase(), parameters.join(" ").toUpperCase()] as const
    })
  )
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64")

/** Whether what is said to this host stays on this machine. */
const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host)

const logIn = async (
  { dialogue, offers }: Session,
  { host, login }: Pick<Relay, "host" | "login">
): Promise<void> => {
  if (login === undefined) return
  if (!dialogue.isEncrypted() && !isLoopback(host))
    throw new RelayFailure("opening", "it offers no TLS, and a password is not sent without")
  const ways = new Set((offers.get("AUTH") ?? "").split(" "))
  const password = Redacted.value(login.password)
  const say = (line: string) => ask(dialogue, "opening", line)
  let reply: Reply
  if (ways.has("PLAIN")) reply = await say(`AUTH PLAIN ${base64(`\0${login.user}\0${password}`)}`)
  else if (ways.has("LOGIN")) {
    reply = await say("AUTH LOGIN")
    if (reply.code === 334) reply = await say(base64(login.user))
    if (reply.code === 334) reply = await say(base64(password))
  } else throw new RelayFailure("opening", "it offers neither AUTH PLAIN nor AUTH LOGIN")
  if (reply.code !== 235) throw refused("opening", "it refuses the user name or the password", reply)
}

const begin = async (dialogue: Dialogue, relay: Relay): Promise<Session> => {
  const greeting = await dialogue.reply()
  if (greeting.code !== 220) throw refused("opening", "it takes no connection", greeting)
  let offers = await greet(dialogue)
  if (!relay.secure && offers.has("STARTTLS")) {
    const reply = await ask(dialogue, "opening", "STARTTLS")
    if (reply.code !== 220) throw refused("opening", "it refuses STARTTLS", reply)
    await dialogue.encrypt()
    // What it offered before was said in the clear.
    offers = await greet(dialogue)
  } else if (!relay.secure && relay.requiresTls) {
    throw new RelayFailure("opening", "it offers no STARTTLS (SMTP_TLS=optional does without)")
  }
  const session: Session = { dialogue, offers, isFree: true }
  await logIn(session, relay)
  return session
}

/** Connects, and goes as far as a mail can be handed over. Every failure is one of the phase `opening`. */
export const openSession = async (relay: Relay, signal: AbortSignal): Promise<Session> => {
  let dialogue: Dialogue | undefined
  const giveUp = () => dialogue?.destroy()
  signal.addEventListener("abort", giveUp, { once: true })
  try {
    dialogue = await openDialogue(relay, signal)
    return await begin(dialogue, relay)
  } catch (cause) {
    giveUp()
    if (cause instanceof RelayFailure) throw cause
    throw new RelayFailure("opening", cause instanceof Error ? cause.message : String(cause))
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

/** A mail as it goes over the wire. */
export interface Envelope {
  readonly from: string
  /** Address of the From header. */
  readonly author: string
  /** Token of the envelope sender where reports are wanted. */
  readonly reportsTo?: string | undefined
  readonly to: ReadonlyArray<string>
  /** RFC 5322, lines by CRLF. */
  readonly raw: Uint8Array
}

/** Dots at the beginning of a line doubled, every line ended by CRLF: a lone CR or LF could end the mail early (smuggling). */
const stuffed = (raw: Uint8Array): Buffer => {
  const lines = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    .toString("latin1")
    .replaceAll(/\r\n|\r|\n/g, "\r\n")
    .replaceAll(/(?<=^|\r\n)\./g, "..")
  return Buffer.from(lines.endsWith("\r\n") ? lines : `${lines}\r\n`, "latin1")
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** An address as a parameter has it (RFC 3461, section 4). */
const xtext = (text: string): string =>
  text.replaceAll(
    /[^!-*,-<>-~]/g,
    (char) => `+${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
  )

/** Parameters that ask for reports of a recipient, of a relay that offers DSN. */
const reportParameters = (address: string): string =>
  ` NOTIFY=SUCCESS,FAILURE,DELAY${isAscii(address) ? ` ORCPT=rfc822;${xtext(address)}` : ""}`

/** Names the recipients; where one is refused none gets the mail, so that a retry is one decision. */
const nameRecipients = async (
  { dialogue }: Session,
  to: ReadonlyArray<string>,
  parametersOf: (address: string) => string
): Promise<void> => {
  const not: Array<readonly [string, Reply]> = []
  for (const address of to) {
    const line = `RCPT TO:<${address}>${parametersOf(address)}`
    const reply = await ask(dialogue, "before the final dot", line)
    if (reply.code < 200 || reply.code >= 300) not.push([address, reply])
  }
  // What is refused for good decides: a retry would meet it again.
  const [first] = [...not.filter(([, { code }]) => code >= 500), ...not]
  if (first === undefined) return
  const all = not.map(([address, reply]) => `<${address}> ${textOf(reply)}`).join("; ")
  throw new RelayFailure(
    "before the final dot",
    `it refuses ${not.length} of ${to.length} recipients: ${all}`,
    first[1]
  )
}

/** Up to the answer that lets the mail come. */
const envelope = async (session: Session, { author, from, raw, reportsTo, to }: Envelope): Promise<void> => {
  const { dialogue, offers } = session
  const phase = "before the final dot"
  const isWide = ![author, from, ...to].every(isAscii)
  if (isWide && !offers.has("SMTPUTF8")) {
    const why = "it takes no address with a character outside ASCII before the @"
    throw new RelayFailure(phase, why, { code: 553, lines: [why] })
  }
  const size = offers.has("SIZE") ? ` SIZE=${raw.byteLength}` : ""
  // A relay that offers no DSN reports failures alone, to the envelope sender.
  const wantsReports = reportsTo !== undefined && offers.has("DSN")
  const returns = wantsReports ? ` RET=HDRS ENVID=${reportsTo}` : ""
  const mail = await ask(dialogue, phase, `MAIL FROM:<${from}>${size}${isWide ? " SMTPUTF8" : ""}${returns}`)
  if (mail.code !== 250) throw refused(phase, "it refuses the sender or the mail", mail)
  await nameRecipients(session, to, wantsReports ? reportParameters : () => "")
  const data = await ask(dialogue, phase, "DATA")
  if (data.code !== 354) throw refused(phase, "it refuses the mail", data)
}

/** Everything but the final dot: until then the relay has accepted nothing. */
export const handOver = async (session: Session, mail: Envelope): Promise<void> => {
  const { dialogue } = session
  session.isFree = false
  try {
    await envelope(session, mail)
  } catch (cause) {
    session.isFree = cause instanceof RelayFailure && cause.reply !== undefined
    throw cause
  }
  let why = "it answered before the mail was complete"
  let isWritten = true
  try {
    await dialogue.write(stuffed(mail.raw))
  } catch (cause) {
    // The connection may not know yet that it is lost: a failed write says so before its own event does.
    isWritten = false
    why = cause instanceof Error ? cause.message : why
  }
  const early = dialogue.early()
  // A dialogue in the middle of a mail can only be closed.
  if (early !== undefined || !isWritten || !dialogue.isOpen()) {
    dialogue.destroy()
    throw new RelayFailure(
      "before the final dot",
      early === undefined ? why : `${why}: ${textOf(early)}`,
      early
    )
  }
}

/** The final dot and the answer to it. */
export const finish = async (session: Session): Promise<Reply> => {
  const reply = await ask(session.dialogue, "after the final dot", ".")
  session.isFree = true
  if (reply.code < 200 || reply.code >= 300)
    throw refused("after the final dot", "it did not take the mail", reply)
  return reply
}
