import { Effect } from "effect"
import { Command } from "effect/cli"

import { type DnsRecord, sharedRecords } from "../../../domain/doctor/sender-records.ts"
import { askedByA, askedByB } from "../../compose/sender-records.ts"
import { installation } from "../installation.ts"
import { print, telling, Shell } from "../shell.ts"
import { type Column, layoutTable } from "../table.ts"

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
