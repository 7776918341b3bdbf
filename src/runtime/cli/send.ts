import { basename, extname, resolve } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, FileSystem, Layer, Option, Result, Stdio, Stream } from "effect"
import { Command, Flag } from "effect/cli"

import * as Simulated from "../../adapters/simulated/simulated-mail.ts"
import { Mailer } from "../../application/mail/mailer.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { decodeSendRequest } from "../../domain/mail/read-request.ts"
import { InvalidRequest, type SendResult } from "../../domain/mail/send-result.ts"
import { Category } from "../../domain/mail/suppression/policy.ts"
import { mailer } from "../compose/mail/mail.ts"
import { nodeProviders } from "../compose/mail/node-providers.ts"
import { embeddedProviders } from "../compose/mail/simulated-mail.ts"
import { typed } from "../process/package.ts"
import type { Settings } from "../settings/settings.ts"
import { clients, type Installation, installation, missingDatabase } from "./installation.ts"
import { CommandFailed, print, telling, whyNot } from "./shell.ts"
import { counted, visible } from "./table.ts"

const many = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.atLeast(0))

const flags = {
  to: Flag.String("to").pipe(
    Flag.withAlias("t"),
    Flag.withDescription("Recipient; again for more of them"),
    Flag.withMetavar("<address>"),
    Flag.atLeast(1)
  ),
  cc: many("cc", "Copy to"),
  bcc: many("bcc", "Blind copy to"),
  from: Flag.String("from").pipe(
    Flag.withDescription("Sender (default: EMAIL_FROM)"),
    Flag.withMetavar("<address>"),
    Flag.optional
  ),
  replyTo: many("reply-to", "Where answers go"),
  subject: Flag.String("subject").pipe(Flag.withAlias("s"), Flag.withDescription("Subject")),
  text: Flag.String("text").pipe(Flag.withDescription("Body as plain text"), Flag.optional),
  html: Flag.String("html").pipe(Flag.withDescription("Body as HTML"), Flag.optional),
  file: Flag.String("file").pipe(
    Flag.withDescription(
      "Body from a file: HTML where it ends in .html or .htm, else text; - is the standard input"
    ),
    Flag.withMetavar("<path>"),
    Flag.optional
  ),
  category: Flag.Literals("category", Category.literals).pipe(
    Flag.withDescription("What kind of mail it is; decides which suppressions apply")
  ),
  list: Flag.String("list").pipe(
    Flag.withDescription("The mailing list that it belongs to: its reader leaves it by one click"),
    Flag.optional
  ),
  source: Flag.String("source").pipe(
    Flag.withDescription("Who sends, for the log: api:<name> or any other short text")
  ),
  provider: Flag.Literals("provider", Provider.literals).pipe(
    Flag.withDescription("Only through this provider, without fail-over"),
    Flag.optional
  ),
  key: Flag.String("key").pipe(
    Flag.withAlias("k"),
    Flag.withDescription("Idempotency key: the same mail again under it is not sent again"),
    Flag.optional
  ),
  attach: Flag.String("attach").pipe(
    Flag.withAlias("a"),
    Flag.withDescription("File to attach; again for more of them"),
    Flag.withMetavar("<path>"),
    Flag.atLeast(0)
  )
}

interface Input {
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly from: Option.Option<string>
  readonly replyTo: ReadonlyArray<string>
  readonly subject: string
  readonly text: Option.Option<string>
  readonly html: Option.Option<string>
  readonly file: Option.Option<string>
  readonly category: Category
  readonly list: Option.Option<string>
  readonly source: string
  readonly provider: Option.Option<Provider>
  readonly key: Option.Option<string>
  readonly attach: ReadonlyArray<string>
}

const readFile = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  return yield* files
    .readFile(path)
    .pipe(
      Effect.mapError((error) => new CommandFailed({ message: `${path} cannot be read: ${whyNot(error)}` }))
    )
})

const readStdin = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  return yield* Stream.runCollect(stdin).pipe(
    Effect.map((parts) => Buffer.concat(parts)),
    Effect.mapError(() => new CommandFailed({ message: "The standard input cannot be read" }))
  )
})

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The text of a body: a mail is not called back, so that signs that cannot be read are not sent as replacement signs. */
const textOf = (path: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => utf8.decode(bytes),
    catch: () =>
      new CommandFailed({
        message: `${path === "-" ? "The standard input" : path} is no text in UTF-8: convert it first`
      })
  })

const bodyOf = Effect.fnUntraced(function* ({ file, html, text }: Input) {
  const body = { ...part("text", text), ...part("html", html) }
  if (Option.isNone(file)) return body
  const path = file.value
  const name = /^\.html?$/i.test(extname(path)) ? "html" : "text"
  if (name in body) {
    return yield* new CommandFailed({
      message: `--file ${path} and --${name} both give the ${name}: leave one out`
    })
  }
  const content = yield* textOf(path, yield* path === "-" ? readStdin : readFile(path))
  return { ...body, [name]: content }
})

const part = <K extends string, A>(name: K, value: Option.Option<A>): { readonly [P in K]?: A } =>
  Option.isSome(value) ? ({ [name]: value.value } as { readonly [P in K]: A }) : {}

const requestOf = Effect.fnUntraced(function* (input: Input) {
  const attachments = yield* Effect.forEach(input.attach, (path) =>
    Effect.map(readFile(path), (content) => ({
      filename: basename(path),
      content: Buffer.from(content).toString("base64")
    }))
  )
  const decoded = decodeSendRequest({
    to: input.to,
    ...(input.cc.length === 0 ? {} : { cc: input.cc }),
    ...(input.bcc.length === 0 ? {} : { bcc: input.bcc }),
    ...(input.replyTo.length === 0 ? {} : { replyTo: input.replyTo }),
    ...part("from", input.from),
    subject: input.subject,
    ...(yield* bodyOf(input)),
    category: input.category,
    ...part("list", input.list),
    source: input.source,
    ...part("provider", input.provider),
    ...part("idempotencyKey", input.key),
    ...(attachments.length === 0 ? {} : { attachments })
  })
  return Result.isSuccess(decoded)
    ? decoded.success
    : yield* new CommandFailed({ message: new InvalidRequest({ issues: decoded.failure }).message })
})

/** The installation's mailer: the one that `npm start` or `npm run serve` would run, simulated providers included. */
export const mailerOf = (here: Installation): Layer.Layer<Mailer> => {
  const { credentials, settings } = here
  const outbox = Layer.orDie(
    Simulated.layer({
      dataDir: resolve(settings.dataDir),
      vendorLimits: settings.sendQueue.vendorLimits
    })
  )
  const providers = settings.embedded
    ? Layer.provide(embeddedProviders(settings, credentials), outbox)
    : nodeProviders(settings, credentials)
  return mailer(settings, { providers, credentials, crypto: NodeCrypto.layer }, clients(here))
}

const ADVICE = {
  rejected: "The message is at fault: mend it. Its key is free.",
  unavailable: `Nothing was accepted: it is safe to send it again, under the same key too. What is wrong: ${typed("doctor")}`,
  ambiguous: "It may have arrived: look for its delivery events before you send it again."
} as const

/** The error, with the provider that it is about. */
const byWhom = ({ error, provider }: Extract<SendResult, { readonly status: "failed" }>): string =>
  provider === null || error.includes(provider) ? error : `${provider}: ${error}`

/** What became of a send, in words, and what is wrong where it was not sent. */
const wordsOf = (
  result: SendResult,
  settings: Pick<Settings, "retryQueue">
): { readonly text: ReadonlyArray<string>; readonly problem?: ReadonlyArray<string> } => {
  const dropped = result.suppressedRecipients
  const text = [
    ...(dropped.length > 0 && result.status !== "suppressed"
      ? [`Left out, since suppressed: ${dropped.join(", ")}`]
      : []),
    `Row ${result.sendId}, key ${result.idempotencyKey}`
  ]
  switch (result.status) {
    case "sent": {
      const over = result.failedOver ? ", after the primary was unavailable" : ""
      return {
        text: [
          `Sent by ${result.provider}${over}; its id: ${result.providerMessageId ?? "not known"}`,
          ...text
        ]
      }
    }
    case "deferred": {
      const [seconds] = settings.retryQueue.delaysSeconds
      return {
        text: [
          `Deferred: ${result.provider} may have accepted it. It is tried again on the same key in ${counted(Math.round(seconds / 60), "minute")}, unless an event proves it before.`,
          ...text
        ]
      }
    }
    case "suppressed":
      return { text, problem: [`Not sent. ${result.error}`] }
    case "failed":
      return { text, problem: [`Failed (${result.kind}): ${byWhom(result)}`, ADVICE[result.kind]] }
  }
}

const linesOf = (lines: ReadonlyArray<string>): string => lines.map(visible).join("\n")

const run = Effect.fnUntraced(function* (input: Input) {
  const request = yield* requestOf(input)
  const here = yield* installation
  const missing = missingDatabase(here)
  if (missing !== undefined && here.settings.embedded) return yield* new CommandFailed({ message: missing })
  if (missing !== undefined)
    yield* Effect.logWarning(`${missing}. The mail is sent without log and suppression check`)
  const result = yield* Mailer.use((ready) => ready.send(request)).pipe(
    Effect.provide(mailerOf(here)),
    Effect.mapError(({ message }) => new CommandFailed({ message }))
  )
  const hints = here.settings.warnings.filter(({ setting }) => setting === "PROVIDERA_API_KEY")
  const { problem, text } = wordsOf(result, here.settings)
  yield* print({
    json: result,
    text: linesOf(text),
    problem: problem && linesOf([...problem, ...hints.map(({ message, setting }) => `${setting} ${message}`)])
  })
})

/** `postlane send`. */
export const send = Command.make("send", flags, (input) => telling(run(input))).pipe(
  Command.withDescription(
    "Send one mail, as the relay does: suppression check, fail-over where it is safe, one row in the log. Ends with code 0 only where the mail was accepted or its retry is queued."
  ),
  Command.withExamples([
    {
      command:
        'postlane send --to you@example.com --subject Hello --text "First mail" --category transactional --source cli',
      description: "Send a text"
    },
    {
      command:
        "postlane send -t you@example.com -s Receipt --file receipt.html -a receipt.pdf -k order-17 --category transactional --source api:receipts",
      description: "Send a page with an attachment, once, however often you call it"
    }
  ])
)
