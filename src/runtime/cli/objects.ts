import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"

import * as PostgresStores from "../../adapters/postgres/conversion/store-identities.ts"
import { reasonOf } from "../../adapters/postgres/statement.ts"
import { adoptStore, examineStore, type OwnStore } from "../../application/own-stores.ts"
import type { ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { objects as storesOf, ownStores } from "../compose/objects.ts"
import { type Installation, onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable } from "./table.ts"

/** Runs with the object stores that this installation's settings name. */
export const onStores = <A, E, R>(
  here: Installation,
  use: (stores: ReadonlyArray<OwnStore>) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(ownStores({ ...here.settings, roles: ["leader"] }), use).pipe(
    Effect.provide(
      Layer.mergeAll(storesOf(here.settings, here.credentials), PostgresStores.layer, NodeCrypto.layer)
    )
  )

export const whyUnreachable = (error: ObjectStoreError | StoreUnavailable): string =>
  error._tag === "StoreUnavailable" ? error.reason : reasonOf(error.cause)

const failed = (error: ObjectStoreError | StoreUnavailable) =>
  Effect.fail(new CommandFailed({ message: `${whyUnreachable(error)}. See: postlane doctor` }))

/** States of a store in words. */
const WORDS = {
  same: "the one that the database knows",
  expired: "the one that the database knows",
  new: "the database knows none yet",
  lost: "emptied or replaced: files of the database are missing",
  empty: "empty: the database knows another",
  another: "the database knows another"
} as const

interface Row {
  readonly name: string
  readonly where: string
  readonly standing: keyof typeof WORDS
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { title: "STORE", cell: ({ name }) => name },
  { title: "WHERE", cell: ({ where }) => where, flexible: true },
  { title: "STANDING", cell: ({ standing }) => WORDS[standing] }
]

const list = telling(
  Effect.gen(function* () {
    const rows = yield* onDatabase((here) =>
      onStores(here, (stores) =>
        Effect.forEach(stores, (store) =>
          Effect.map(examineStore(store), ({ state }) => ({
            name: store.name,
            where: store.shown,
            standing: state
          }))
        )
      ).pipe(Effect.catch(failed))
    )
    const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
    yield* print({
      json: { stores: rows },
      text: [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)].join("\n")
    })
  })
)

const adopt = Command.make(
  "adopt",
  {
    store: Argument.Literals("store", ["files", "batch"]).pipe(Argument.withDescription("Which store"))
  },
  ({ store: name }) =>
    telling(
      Effect.gen(function* () {
        const where = yield* onDatabase((here) =>
          onStores(
            here,
            Effect.fnUntraced(function* (stores) {
              const store = stores.find((one) => one.name === name)
              if (store === undefined) {
                return yield* new CommandFailed({
                  message: "There is no batch store: BATCH_CONVERSION_S3_BUCKET is unset"
                })
              }
              yield* adoptStore(store).pipe(Effect.catch(failed))
              return store.shown
            })
          )
        )
        yield* print({
          json: { adopted: name, where },
          text: `The object store of ${name} is ${where} from now on. Processes with another one stop working on files within a minute.`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Make the object store that these settings name the one of this installation. Files in the one before stay there: copy them first."
  ),
  Command.withExamples([
    { command: "postlane objects adopt files", description: "After FILES_BUCKET was changed on purpose" }
  ])
)

/** `postlane objects`. */
export const objects = Command.make("objects", {}, () => list).pipe(
  Command.withDescription(
    "The object stores of this installation, and whether they are those that the database knows. All processes on one database must have the same. Without a subcommand: the list."
  ),
  Command.withSubcommands([adopt])
)
