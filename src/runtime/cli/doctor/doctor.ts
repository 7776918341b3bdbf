import { isIP } from "node:net"

import { Clock, Console, Effect, Redacted, Result, Stream } from "effect"
import { Command, Flag } from "effect/cli"

import * as Resolver from "../../../adapters/dns/resolver.ts"
import { examine } from "../../../application/doctor/doctor.ts"
import { bulkVerdicts } from "../../../domain/doctor/bulk-mail.ts"
import { tally, type Verdict, verdictsOf } from "../../../domain/doctor/verdict.ts"
import { webhookSecretForm, webhookVerdicts } from "../../../domain/doctor/webhook-secret.ts"
import { append } from "../../../domain/lists.ts"
import { usesReally } from "../../compose/sender-records.ts"
import { type Scrub, scrubOf } from "../../process/log-lines.ts"
import { typed } from "../../process/package.ts"
import {
  advice,
  decodeSettings,
  type Env,
  requirements,
  type SettingProblem
} from "../../settings/settings.ts"
import { type Installation, readInstallation } from "../installation.ts"
import { EndedBadly, telling, Json, Shell } from "../shell.ts"
import { counted, painter, visible } from "../table.ts"
import { layerExaminations } from "./examinations.ts"

const settingVerdicts = verdictsOf("settings")

const SEE = "see: postlane settings"

/** Both sides of a message's colon; a colon in brackets, as in `(unset: 8787)`, does not count. */
const sides = (message: string): readonly [string, string | undefined] => {
  for (let at = message.indexOf(": ", 1); at !== -1; at = message.indexOf(": ", at + 1)) {
    const right = message.slice(at + 2)
    if (right !== "" && !/^[^()]*\)/.test(right)) return [message.slice(0, at), right]
  }
  return [message, undefined]
}

/** A problem's message is `what is wrong: what to do`. */
const complaintOf = ({ message, setting }: SettingProblem, why: string) => {
  const [wrong, todo = SEE] = sides(message)
  return { what: `${setting} ${wrong}`, why, do: todo }
}

/** A note's message is `what is odd: what follows from it`. */
const noteOf = ({ message, setting }: SettingProblem) => {
  const [odd, why = "the service runs, with less than it could"] = sides(message)
  return { what: `${setting} ${odd}`, why, do: odd === "is unset" ? `set ${setting}; ${SEE}` : SEE }
}

const unusable = (problems: ReadonlyArray<SettingProblem>): ReadonlyArray<Verdict> =>
  problems.map((problem) =>
    settingVerdicts.fail(
      complaintOf(problem, "the service does not start with it; nothing else can be checked")
    )
  )

/** What a server would report about valid settings. */
const readable = (here: Installation, now: number): ReadonlyArray<Verdict> => {
  const { env, settings } = here
  const strict = decodeSettings(env, { embedded: settings.embedded, server: true })
  const refused = Result.isFailure(strict) ? strict.failure : settings.embedded ? [] : requirements(settings)
  // Reported by the checks of webhooks and queue as well.
  const elsewhere = new Set(["PROVIDERA_WEBHOOK_SECRET", "PROVIDERB_WEBHOOK_SECRET", "EMAIL_DEFER_QUEUE_URL"])
  const known = new Set([...refused.map(({ setting }) => setting), ...elsewhere])
  const notes = (settings.embedded ? settings.warnings : advice(settings, now)).filter(
    ({ setting }) => !known.has(setting)
  )
  return refused.length === 0 && notes.length === 0
    ? [settingVerdicts.ok("all settings can be read, and nothing is missing")]
    : [
        ...refused
          .filter(({ setting }) => !elsewhere.has(setting))
          .map((problem) =>
            settingVerdicts.fail(complaintOf(problem, `${typed("serve")} does not start without it`))
          ),
        ...notes.map((note) => settingVerdicts.warn(noteOf(note)))
      ]
}

const webhooks = ({ settings }: Installation): ReadonlyArray<Verdict> => {
  const uses = usesReally(settings)
  return webhookVerdicts({
    providerA: settings.providerA.webhookSecrets.map((secret) => webhookSecretForm(Redacted.value(secret))),
    providerBIsSet: settings.providerB.webhookSecret !== undefined,
    uses: { providerA: uses.provider_a, providerB: uses.provider_b }
  })
}

const SYMBOLS = { ok: ["green", "✓"], warn: ["yellow", "!"], fail: ["red", "✗"] } as const

/** Width of the longest name of a part. */
const NAME_WIDTH = 10

/** A verdict as lines of text. */
const verdictText = (verdict: Verdict, colours: boolean): string => {
  const paint = painter(colours)
  const [colour, symbol] = SYMBOLS[verdict.status]
  const head = `${paint(colour, symbol)} ${verdict.check.padEnd(NAME_WIDTH)}  ${visible(verdict.what)}`
  if (verdict.status === "ok") return head
  const indent = " ".repeat(NAME_WIDTH + 4)
  return [
    head,
    `${indent}${paint("dim", "why:")} ${visible(verdict.why)}`,
    `${indent}${paint("dim", "do: ")} ${visible(verdict.do)}`
  ].join("\n")
}

/** All verdicts, group by group as each is known. */
const verdicts = (env: Env) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const found = yield* readInstallation(env)
      if (Result.isFailure(found)) {
        return { stream: Stream.succeed(unusable(found.failure)), scrub: (text: string) => text }
      }
      const here = found.success
      const { domains, http, providerB, retryQueue } = here.settings
      const stream = Stream.concat(
        Stream.fromIterable([
          readable(here, yield* Clock.currentTimeMillis),
          webhooks(here),
          // Mail of a local run reaches nobody.
          here.settings.embedded ? [] : bulkVerdicts({ baseUrl: http.baseUrl })
        ]),
        examine({
          sender: domains.sender,
          region: providerB.region,
          visibilitySeconds: retryQueue.visibilitySeconds,
          baseUrl: http.baseUrl
        })
      )
      return { stream: Stream.provide(stream, layerExaminations(here)), scrub: scrubOf(here.settings) }
    }).pipe(
      Effect.map(({ scrub, stream }) =>
        Stream.map(stream, (group) => group.map((verdict) => scrubbed(verdict, scrub)))
      )
    )
  )

/** The second line of defence: a vendor's message may quote its input. */
const scrubbed = (verdict: Verdict, scrub: Scrub): Verdict =>
  verdict.status === "ok"
    ? { ...verdict, what: scrub(verdict.what) }
    : { ...verdict, what: scrub(verdict.what), why: scrub(verdict.why), do: scrub(verdict.do) }

const run = Effect.gen(function* () {
  const { colours, env } = yield* Shell
  const json = yield* Json
  const all: Array<Verdict> = []
  yield* Stream.runForEach(verdicts(env), (group) =>
    Effect.gen(function* () {
      append(all, group)
      if (!json) for (const verdict of group) yield* Console.log(verdictText(verdict, colours))
    })
  )
  const counts = tally(all)
  yield* Console.log(
    json
      ? JSON.stringify({ ok: counts.fail === 0, counts, checks: all }, null, 2)
      : `\n${counts.ok} as they should be, ${counted(counts.warn, "to look at", "to look at")}, ${counts.fail} broken`
  )
  if (counts.fail > 0) return yield* new EndedBadly()
})

/** `1.1.1.1`, `1.1.1.1:5353`, `[2606:4700::1111]:53`: what a resolver can be asked at. */
const isServer = (text: string): boolean => {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?)$/.exec(text) ?? []
  return isIP(text) !== 0 || (v6 !== undefined && isIP(v6) === 6) || (v4 !== undefined && isIP(v4) === 4)
}

/** `postlane doctor`. */
export const doctor = Command.make(
  "doctor",
  {
    dnsServer: Flag.String("dns-server").pipe(
      Flag.withDescription("Resolver to ask instead of the system's; again for more of them"),
      Flag.withMetavar("<ip[:port]>"),
      Flag.filter(isServer, () => "must be an IP address, with a port if need be"),
      Flag.atLeast(0)
    )
  },
  ({ dnsServer }) =>
    telling(Effect.provide(run, Resolver.layer(dnsServer.length === 0 ? {} : { servers: dnsServer })))
).pipe(
  Command.withDescription(
    "Check settings, database, migrations, clock, object stores, the high-fidelity model, retry queue, both providers' credentials, the cloud side's event delivery and alarms, webhook secrets and the sender domain's DNS. Sends nothing and leaves nothing behind: in each bucket it writes, reads and removes one small object, and it asks the high-fidelity model for one word. Prints no secret. Says what to do about whatever is not as it should be, and ends with code 1 where something is broken."
  ),
  Command.withExamples([
    { command: "postlane doctor", description: "Check everything" },
    {
      command: "postlane doctor --dns-server 1.1.1.1",
      description: "With the DNS as Cloudflare's resolver sees it"
    }
  ])
)
