import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { createServer as createTlsServer, TLSSocket } from "node:tls"

import { Effect, Redacted, type Scope } from "effect"

import { makeRelayProvider } from "../../../src/adapters/smtp-relay/relay-provider.ts"
import type { Relay } from "../../../src/adapters/smtp-relay/session.ts"
import { formattedKey } from "../../../src/domain/mail/address.ts"
import { readReturnPath, type ReturnAddress } from "../../../src/domain/mail/return-address.ts"
import { KEY_TAG } from "../../../src/domain/mail/tag.ts"
import type { PeerOutcome, ProviderUnderTest, WireFault } from "../../contracts/mail/mail-provider.ts"
import { LOCAL_CERTIFICATE } from "./certificate.ts"

/** The steps of a dialogue; `dot` is the end of a mail. */
export type Step =
  | "connect"
  | "EHLO"
  | "STARTTLS"
  | "AUTH"
  | "MAIL"
  | "RCPT"
  | "DATA"
  | "body"
  | "dot"
  | "RSET"
  | "QUIT"

/**
 * What a step is answered with: a line; `hang`: nothing; `close` and `reset`: the connection ends; `half`: a part of an answer, and the
 * connection ends. `accepted-…`: the mail is taken first.
 */
export type Answer =
  | `${number} ${string}`
  | `${number}-${string}`
  | "hang"
  | "close"
  | "reset"
  | "half"
  | "accepted-hang"
  | "accepted-close"
  | "accepted-reset"
  | "accepted-half"

interface TakenMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Without the dots that the wire doubles. */
  readonly raw: string
}

const USER = "mailer"
export const PASSWORD = "p%ss wörd"

interface FakeRelayOptions {
  readonly tls?: "implicit" | "starttls" | "none"
  readonly asksLogin?: boolean
  readonly offers?: ReadonlyArray<string>
}

const SAYS: Readonly<Record<Step, `${number} ${string}`>> = {
  connect: "220 relay.test ready",
  EHLO: "250 ok",
  STARTTLS: "220 go on",
  AUTH: "235 2.7.0 welcome",
  MAIL: "250 2.1.0 ok",
  RCPT: "250 2.1.5 ok",
  DATA: "354 go on",
  body: "250 ok",
  dot: "250 2.0.0 queued as 4F2A",
  RSET: "250 ok",
  QUIT: "221 bye"
}

/** A relay that answers by its script, and writes down what it hears and takes. */
export const startFakeRelay = async ({
  asksLogin,
  offers = ["SIZE 20000000"],
  tls = "starttls"
}: FakeRelayOptions) => {
  const answers: Partial<Record<Step, Answer | ((line: string) => Answer | undefined)>> = {}
  const perMail: Array<Partial<Record<Step, Answer>>> = []
  const heard: Array<string> = []
  const taken: Array<TakenMail> = []
  const sockets = new Set<Socket>()
  const watchers = new Set<() => void>()
  let connections = 0
  let closed = 0
  const changed = () => {
    for (const watch of watchers) watch()
  }
  const note = (line: string) => {
    heard.push(line)
    changed()
  }

  const serve = (first: Socket, isSecured: boolean): void => {
    let socket = first
    let secured = isSecured
    let held = ""
    let mail: { from: string; to: Array<string> } = { from: "", to: [] }
    let isData = false
    let script: Partial<Record<Step, Answer>> = {}
    const write = (text: string) => void socket.write(text)
    const end = (answer: Answer): void => {
      const how = answer.replace(/^accepted-/, "")
      if (how === "hang") return
      if (how === "half") return void socket.end("250-2.0.0 alm")
      if (how === "close") return void socket.end()
      if (how === "reset")
        return void (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy())
      write(`${answer}\r\n`)
    }
    const answerTo = (step: Step, line = ""): Answer => {
      const set = answers[step]
      return script[step] ?? (typeof set === "function" ? set(line) : set) ?? SAYS[step]
    }
    const onLine = (line: string): void => {
      const [, verb = ""] = /^(\w+)/.exec(line) ?? []
      const step = verb.toUpperCase() as Step
      note(step === "AUTH" ? "AUTH" : line)
      if (step === "MAIL") {
        script = perMail.shift() ?? {}
        mail = { from: /<(.*)>/.exec(line)?.[1] ?? "", to: [] }
      }
      const answer = answerTo(step, line)
      if (step === "EHLO" && answer === SAYS.EHLO) {
        const all = [
          ...offers,
          ...(tls === "starttls" && !secured ? ["STARTTLS"] : []),
          ...(asksLogin === true ? ["AUTH PLAIN LOGIN"] : [])
        ]
        return write(
          ["relay.test", ...all].map((one, at) => `250${at === all.length ? " " : "-"}${one}\r\n`).join("")
        )
      }
      if (step === "AUTH" && answer === SAYS.AUTH) {
        const [, user, password] = Buffer.from(line.split(" ")[2] ?? "", "base64")
          .toString("utf8")
          .split("\0")
        return write(user === USER && password === PASSWORD ? `${answer}\r\n` : "535 5.7.8 no\r\n")
      }
      if (step === "RCPT" && answer.startsWith("250")) mail.to.push(/<(.*)>/.exec(line)?.[1] ?? "")
      if (step === "DATA" && answer.startsWith("354")) isData = true
      end(answer)
      if (step === "STARTTLS" && answer === SAYS.STARTTLS) {
        socket.removeAllListeners("data")
        socket = new TLSSocket(socket, { isServer: true, ...LOCAL_CERTIFICATE })
        socket.on("error", () => undefined)
        secured = true
        listen()
      }
    }
    const onData = (): boolean => {
      const body = answerTo("body")
      if (body !== SAYS.body) {
        note("(body)")
        end(body)
        held = ""
        return false
      }
      const at = held.startsWith(".\r\n") ? 0 : held.indexOf("\r\n.\r\n")
      if (at < 0) return false
      const raw = held.slice(0, at === 0 ? 0 : at + 2).replaceAll(/(?<=^|\r\n)\.\./g, ".")
      held = held.slice(at === 0 ? 3 : at + 5)
      isData = false
      note(".")
      const answer = answerTo("dot")
      if (/^(?:250|accepted)/.test(answer)) {
        taken.push({ ...mail, raw })
        changed()
      }
      end(answer)
      return true
    }
    const listen = () =>
      socket.on("data", (chunk: Buffer) => {
        held += chunk.toString("latin1")
        for (;;) {
          if (isData) {
            if (!onData()) return
            continue
          }
          const at = held.indexOf("\r\n")
          if (at < 0) return
          const line = Buffer.from(held.slice(0, at), "latin1").toString("utf8")
          held = held.slice(at + 2)
          onLine(line)
        }
      })
    connections += 1
    sockets.add(first)
    first.on("error", () => undefined)
    first.on("close", () => {
      sockets.delete(first)
      closed += 1
      changed()
    })
    listen()
    end(answerTo("connect"))
    changed()
  }

  const server =
    tls === "implicit"
      ? createTlsServer(LOCAL_CERTIFICATE, (socket) => serve(socket, true))
      : createServer((socket) => serve(socket, false))
  server.on("tlsClientError", () => undefined)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  return {
    port,
    /** How each step is answered, until it is changed. */
    answers,
    /** The same for the next mails, one after the other. */
    script: (...mails: ReadonlyArray<Partial<Record<Step, Answer>>>) =>
      void perMail.splice(0, Infinity, ...mails),
    heard,
    taken,
    connections: () => connections,
    closed: () => closed,
    count: (verb: string) => heard.filter((line) => line.startsWith(verb)).length,
    until: (holds: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const watch = () => {
          if (!holds()) return
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
      }),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
}

/** The adapter's part of the settings for a relay on this machine. */
export const relayAt = (port: number, parts: Partial<Relay> = {}): Relay => ({
  host: "127.0.0.1",
  port,
  secure: false,
  requiresTls: false,
  login: undefined,
  ...parts
})

export const LOGIN = { user: USER, password: Redacted.make(PASSWORD) }

/** The adapter with a relay behind it. */
export const relayWithFake = (
  options: FakeRelayOptions & {
    readonly relay?: Partial<Relay>
    readonly returns?: ReturnAddress
    readonly attemptTimeoutMs?: number
  } = {}
) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeRelay({ tls: "none", ...options })),
      (open) => Effect.promise(() => open.close())
    )
    const provider = yield* makeRelayProvider({
      relay: relayAt(fake.port, options.relay),
      returns: options.returns,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 15_000
    })
    return { fake, provider }
  })

const OUTCOMES: Readonly<Record<PeerOutcome, Partial<Record<Step, Answer>>>> = {
  ok: {},
  rejected: { RCPT: "550 5.1.1 nobody here" },
  unavailable: { MAIL: "451 4.3.0 later" },
  ambiguous: { dot: "half" },
  lost: { dot: "accepted-reset" },
  hang: { dot: "hang" }
}

const FAULTS: Readonly<Record<WireFault, Partial<Record<Step, Answer>>>> = {
  page: { dot: "354 what" },
  half: { dot: "accepted-half" },
  "accepted-hang": { dot: "accepted-hang" }
}

/** What a report of a mail would bring back: the tag, in the envelope sender, or without a bounce address in the Message-ID. */
const tagIn = (from: string, messageId: string, returns: ReturnAddress | undefined): string =>
  (returns === undefined ? messageId.split("@")[0] : readReturnPath(returns, from)?.tag) ?? ""

/** A relay, as test/contracts/mail asks for a provider. */
export const relayUnderTest = (
  returns?: ReturnAddress
): Effect.Effect<ProviderUnderTest, never, Scope.Scope> =>
  Effect.map(
    relayWithFake({ offers: ["SIZE 20000000", "DSN"], ...(returns && { returns }) }),
    ({ fake, provider }) => ({
      provider,
      peer: {
        wire: {
          next: (fault) => Effect.sync(() => fake.script(FAULTS[fault])),
          bodies: Effect.sync(() => fake.taken.map(({ raw }) => raw)),
          secrets: []
        },
        next: (...outcomes) =>
          Effect.sync(() => fake.script(...outcomes.map((outcome) => OUTCOMES[outcome]))),
        copies: Effect.sync(() =>
          fake.taken.map(({ from, raw, to }) => {
            const messageId = /^Message-ID:\s+<(.+)>\r$/m.exec(raw)?.[1] ?? ""
            return {
              messageId,
              recipients: to.map(formattedKey),
              tags: { [KEY_TAG]: tagIn(from, messageId, returns) }
            }
          })
        ),
        received: Effect.sync(() => fake.count("MAIL")),
        arrived: (count) => Effect.promise(() => fake.until(() => fake.count(".") >= count)),
        gaveUp: Effect.promise(() => fake.until(() => fake.closed() > 0))
      }
    })
  )
