import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"

import { Effect, References } from "effect"
import * as fc from "fast-check"

import { makeRelayProvider } from "../../../src/adapters/smtp-relay/relay-provider.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"
import { relayAt } from "../../support/vendors/fake-relay.ts"
import { hold, type Opened, type Target } from "../target.ts"

/** One answer a line that is blank; the whole input is what the relay says, answer by answer. */
const ANSWERS = [
  "220 relay.test",
  "250-relay.test\r\n250-SIZE 1000000\r\n250 DSN",
  "250 ok",
  "250 2.1.5 ok",
  "354 go on",
  "250 2.0.0 queued as 4F2A",
  "451 4.7.1 later",
  "550 5.1.1 no",
  "421 4.3.2 bye",
  "550-one\r\n550-two\r\n550 three",
  "hello",
  "25",
  "250",
  "",
  "999 what",
  "250-\r\n".repeat(50)
]
const END = "\n\n"
const GOOD = [ANSWERS[0], ANSWERS[1], "250 ok", "250 ok", "354 go on", "250 ok"]
const said = (answers: ReadonlyArray<string | undefined>): Buffer => Buffer.from(answers.join(END), "latin1")

/** How long the relay waits for a command, milliseconds: an answer that does not come is no fault of the adapter's. */
const ATTEMPT_MS = 600

/** A server that says the input, one answer to each command, and closes when it has no more. */
const serve = () => {
  let script: ReadonlyArray<string> = []
  let dotted = false
  const speak = (socket: Socket): void => {
    let at = 0
    let held = ""
    let isData = false
    const next = () => {
      const answer = script[at]
      at += 1
      if (answer === undefined) return void socket.end()
      isData = answer.startsWith("354")
      socket.write(Buffer.from(`${answer}\r\n`, "latin1"))
    }
    socket.on("error", () => undefined)
    socket.on("data", (bytes) => {
      held += bytes.toString("latin1")
      const end = isData ? "\r\n.\r\n" : "\r\n"
      if (!held.endsWith(end)) return
      if (isData) dotted = true
      held = ""
      isData = false
      next()
    })
    next()
  }
  const server = createServer(speak)
  return {
    server,
    begin: (input: Buffer) => {
      script = input.toString("latin1").split(END)
      dotted = false
    },
    wasDotted: () => dotted
  }
}

const open = async (): Promise<Opened> => {
  const relay = serve()
  relay.server.listen(0, "127.0.0.1")
  await once(relay.server, "listening")
  const { port } = relay.server.address() as AddressInfo
  const attempt = Effect.gen(function* () {
    const provider = yield* makeRelayProvider({
      relay: relayAt(port),
      returns: { local: "bounce", domain: "in.test" },
      attemptTimeoutMs: ATTEMPT_MS
    })
    const sending = Effect.result(provider.send(provider.prepare(mail(), keyOf("fuzz"))))
    return yield* Effect.timeoutOption(sending, ATTEMPT_MS)
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  return {
    answer: async (input) => {
      relay.begin(input)
      const ended = await Effect.runPromise(attempt)
      if (ended._tag === "None") return "no answer"
      if (ended.value._tag === "Success") {
        hold(relay.wasDotted(), "S3: accepted before the mail was there")
        return "accepted"
      }
      const { kind, message } = ended.value.failure
      hold(kind !== "ambiguous" || relay.wasDotted(), `MAIL-36: in doubt before the final dot: ${message}`)
      hold(message.length <= 2_000, "MAIL-36: the failure's text is not bounded")
      return kind
    },
    close: async () => {
      relay.server.close()
      await once(relay.server, "close")
    }
  }
}

export const relayAnswers: Target = {
  name: "relay-answers",
  about: "what an SMTP relay says, answer by answer, read by the provider smtp",
  limitMs: 10_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => [said(GOOD), ...GOOD.map((_, at) => said([...GOOD.slice(0, at), "550 5.7.1 no"]))],
  made: fc
    .tuple(fc.nat(GOOD.length), fc.array(fc.constantFrom(...ANSWERS), { maxLength: 6 }))
    .map(([begun, more]) => said([...GOOD.slice(0, begun), ...more])),
  words: [
    END,
    "250 ",
    "250-",
    "354 ",
    "550 ",
    "\r\n",
    "\n",
    "\0",
    "\xff",
    "STARTTLS",
    "SIZE 1",
    "SMTPUTF8",
    "AUTH PLAIN"
  ],
  open
}
