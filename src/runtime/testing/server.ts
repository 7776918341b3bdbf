import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import { Duration, Option, Schema } from "effect"

import { type Client, createClient } from "../../adapters/client/client.ts"
import { type CallProblem, type Problem, type Result, unwrap } from "../../adapters/client/problems.ts"
import { append } from "../../domain/lists.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { SETTINGS } from "../settings/table.ts"
import type { TestClock } from "./in-process.ts"
import { type MailSummary, makeTestOutbox, type TestOutbox } from "./outbox.ts"
import { makeControl, makeReports, type ProviderControl, type ProviderReports } from "./provider-control.ts"

/** In a build all programs are in one folder. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../entries/cli.ts" : "./cli.js", import.meta.url)
)

/** How long a report waits for event hooks, milliseconds: one that is away is not waited for longer. */
const HOOKS_WITHIN_MS = 5_000

const LOOK_EVERY_MS = 20

/** Most that is kept of what the server writes to its error output, characters. */
const MAX_LOG = 20_000

/** What a server says of itself at its start. */
const Started = Schema.Struct({
  ok: Schema.Literal(true),
  url: Schema.String,
  dataDir: Schema.String,
  primary: Provider,
  proxySecret: Schema.String,
  adminToken: Schema.String,
  ownerToken: Schema.String
})
type Started = typeof Started.Type
const Refused = Schema.Struct({ ok: Schema.Literal(false), error: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Started, Refused])))

/** Clients of the HTTP API, by who calls. */
export interface TestClients {
  /** A program that sends: it has the relay's secret. */
  readonly sender: Client
  readonly owner: Client
  readonly admin: Client
}

/** A server of the test's own. */
export interface TestPostlane extends ProviderReports, AsyncDisposable {
  /** Where it listens, on this machine. */
  readonly url: string
  /** Its data, until it ends. */
  readonly dataDir: string
  readonly clients: TestClients
  /** What the clients send: `x-proxy-secret`, and the bearer tokens; and what signs for the hook of `EVENT_HOOK_URL`. */
  readonly secrets: {
    readonly proxySecret: string
    readonly ownerToken: string
    readonly adminToken: string
    readonly hookSecret: string
  }
  readonly outbox: TestOutbox
  readonly provider: ProviderControl
  readonly clock: TestClock
  /** What it has logged so far, a line of JSON each. */
  readonly logs: () => string
  /** Ends it, and removes its data. */
  readonly close: () => Promise<void>
}

export interface StartOptions {
  /** Settings by name, such as `EVENT_HOOK_URL` (a missing `EVENT_HOOK_SECRET` is generated). Those of `process.env` are not used: no test reaches a real provider by accident. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

const SETTING_NAMES = new Set(SETTINGS.flatMap(({ alias, name }) => [name, alias ?? name]))

/** The environment without what could be a setting. */
const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !SETTING_NAMES.has(name) && !/^(?:AWS_|NODE_OPTIONS$|NODE_V8_COVERAGE$|VITEST)/.test(name)
    )
  )

/** Waits for the one line that the server writes. */
const started = async (child: ChildProcess, log: () => string): Promise<Started> => {
  const lines = createInterface({ input: child.stdout! })
  const ended = once(child, "close").then(() => undefined)
  const first = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended])
  lines.close()
  child.stdout!.resume()
  const said = Option.getOrUndefined(decode(first))
  if (said?.ok === true) return said
  throw new Error(`Postlane does not start. ${said?.error ?? log()}`)
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "close")
  child.kill("SIGTERM")
  await gone
}

const call = async <A, E extends Problem | CallProblem>(answer: Promise<Result<A, E>>): Promise<A> =>
  unwrap(await answer)

/** All mails of the outbox, also those beyond one answer. */
const listed = async (client: Client, address: string | undefined): Promise<ReadonlyArray<MailSummary>> => {
  const found: Array<MailSummary> = []
  let before: string | undefined
  do {
    const query = {
      ...(address === undefined ? {} : { address }),
      ...(before === undefined ? {} : { before })
    }
    const { lookedUntil, messages } = await call(client.embedded.outbox(query))
    append(found, messages)
    before = lookedUntil ?? undefined
  } while (before !== undefined)
  return found
}

/** Waits until the event hooks have been asked to take what was recorded, so that a test may look at what they did. */
const hooksTold = async ({ eventHooks }: Client): Promise<void> => {
  const until = performance.now() + HOOKS_WITHIN_MS
  while (performance.now() < until) {
    const { rows } = await call(eventHooks.listEventHooks())
    const waiting = rows.filter(({ enabled, pending }) => enabled && pending > 0)
    const untold = await Promise.all(
      waiting.map(async ({ id: hookId }) => {
        const query = { hookId, state: "pending" } as const
        const { rows: deliveries } = await call(eventHooks.eventHookDeliveries(query))
        // A try counts from its beginning: what it came to is there at its end.
        return deliveries.some(({ answerStatus, error }) => answerStatus === null && error === null)
      })
    )
    if (!untold.includes(true)) return
    await pause(LOOK_EVERY_MS)
  }
}

const clientsOf = ({ adminToken, ownerToken, proxySecret, url: baseUrl }: Started): TestClients => ({
  sender: createClient({ baseUrl, secret: proxySecret }),
  owner: createClient({ baseUrl, token: ownerToken }),
  admin: createClient({ baseUrl, token: adminToken })
})

/**
 * Starts a whole Postlane for a test: its own database, simulated providers, ports that the system chooses. It is ready in about two seconds,
 * after the first time, which prepares its database. It ends with `close`, and with the process that started it.
 */
export const startPostlane = async (options: StartOptions = {}): Promise<TestPostlane> => {
  const hookSecret = options.env?.["EVENT_HOOK_SECRET"] ?? `whsec_${randomBytes(32).toString("base64")}`
  let kept = ""
  const log = () => kept
  const child = spawn(process.execPath, [PROGRAM, "start", "--temporary", "--json"], {
    // Otherwise the server would replace its process to set it.
    env: { MALLOC_ARENA_MAX: "2", ...plainEnvironment(), EVENT_HOOK_SECRET: hookSecret, ...options.env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-MAX_LOG)
  })
  const stopAtExit = () => void child.kill("SIGTERM")
  process.once("exit", stopAtExit)
  const close = async () => {
    process.off("exit", stopAtExit)
    await ended(child)
  }
  try {
    const said = await started(child, log)
    const { adminToken, dataDir, ownerToken, primary, proxySecret, url } = said
    const clients = clientsOf(said)
    const { embedded, reader } = clients.admin
    return {
      url,
      dataDir,
      clients,
      secrets: { adminToken, ownerToken, proxySecret, hookSecret },
      outbox: makeTestOutbox({
        list: (address) => listed(clients.admin, address),
        content: (id) => call(reader.messageContent({ id })),
        clear: () => call(embedded.clearOutbox())
      }),
      provider: makeControl(primary, (body) => call(embedded.simulate({ body }))),
      ...makeReports(async (id, type, recipients) => {
        const body = { type, ...(recipients === undefined ? {} : { recipients }) }
        await call(embedded.reportEvent({ id, body }))
        await hooksTold(clients.admin)
      }),
      clock: {
        advance: async (by) =>
          void (await call(embedded.advanceClock({ body: { milliseconds: Duration.toMillis(by) } })))
      },
      logs: log,
      close,
      [Symbol.asyncDispose]: close
    }
  } catch (cause) {
    await close()
    throw cause
  }
}
