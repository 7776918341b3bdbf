import { Effect, Result } from "effect"
import { Command } from "effect/cli"

import {
  type DnsRecord,
  recordsOfA,
  recordsOfB,
  sharedRecords
} from "../../../domain/doctor/sender-records.ts"
import { installation, type Installation } from "../installation.ts"
import { print, telling, Shell } from "../shell.ts"
import { type Column, layoutTable } from "../table.ts"
import { providerB } from "./examinations.ts"

/** What one provider asks for, and what could not be found out. */
interface Asked {
  readonly records: ReadonlyArray<DnsRecord>
  readonly notes: ReadonlyArray<string>
}

const askedByA = Effect.fnUntraced(function* ({ settings }: Installation): Effect.fn.Return<Asked> {
  const { apiKey, baseUrl, userAgent } = settings.providerA
  if (apiKey === undefined) {
    return { records: [], notes: ["provider_a: PROVIDERA_API_KEY is unset, so its records are not known"] }
  }
  const { readDomainRecords } = yield* Effect.promise(() => import("../../../adapters/resend/account.ts"))
  const { sender } = settings.domains
  const found = yield* Effect.result(readDomainRecords({ apiKey, baseUrl, userAgent }, sender))
  if (Result.isSuccess(found)) return { records: recordsOfA(found.success, sender), notes: [] }
  const facts = found.failure
  const why =
    facts._tag === "Refused" || facts._tag === "Unknown"
      ? facts.why
      : "the key may only send: give this command one with full access"
  return { records: [], notes: [`provider_a: ${why}`] }
})

const askedByB = Effect.fnUntraced(function* (here: Installation): Effect.fn.Return<Asked> {
  const { domains, providerB: own } = here.settings
  const asked = providerB(here)
  const facts = asked === undefined ? undefined : yield* asked
  const found = facts?._tag === "Account" ? facts.identity : undefined
  const identity = found?._tag === "There" ? found.identity : undefined
  const why =
    facts !== undefined && "why" in facts ? facts.why : `there is no identity for ${domains.sender} yet`
  return {
    records: recordsOfB({ sender: domains.sender, region: own.region, identity }),
    notes:
      identity === undefined
        ? [
            `provider_b: the three DKIM records are not known: ${facts === undefined ? "it is simulated or not used" : why}`
          ]
        : []
  }
})

const COLUMNS: ReadonlyArray<Column<DnsRecord>> = [
  { title: "FOR", cell: ({ of }) => of },
  { title: "TYPE", cell: ({ type }) => type },
  { title: "NAME", cell: ({ name }) => name },
  { title: "VALUE", cell: ({ priority, value }) => (priority === undefined ? value : `${priority} ${value}`) }
]

/** `postlane dns`. */
export const dns = Command.make("dns", {}, () =>
  telling(
    Effect.gen(function* () {
      const here = yield* installation
      const [a, b] = yield* Effect.all([askedByA(here), askedByB(here)], { concurrency: "unbounded" })
      const records = [...a.records, ...b.records, ...sharedRecords(here.settings.domains.sender)]
      const notes = [...a.notes, ...b.notes]
      const table = layoutTable(COLUMNS, records, (yield* Shell).columns)
      yield* print({
        json: { records, notes },
        text: [
          ...(table.heading === undefined ? [] : [table.heading]),
          ...records.map(table.line),
          ...notes.map((note) => `! ${note}`)
        ].join("\n")
      })
    })
  )
).pipe(
  Command.withDescription(
    "The DNS records of the sender domain that both providers ask for, as they have to be published (DNS only, not proxied). Changes nothing; postlane doctor checks what is published."
  )
)
