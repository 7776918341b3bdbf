import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"

import { layerSingle, layerSqlClient } from "../../../src/adapters/postgres/client.ts"
import { migrate } from "../../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../../src/runtime/process/package.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import { openShop } from "../../support/worlds/shop-database.ts"
import type { Place, Reference } from "../reference.ts"
import { must, pip, run } from "../tools.ts"

const PSYCOPG = "3.3.9"
const PGX = "v5.13.0"
const PRISMA = "7.10.0"
const RUBY_PG = "1.6.2"

const program = ({ root }: Place, name: string): Promise<string> =>
  readFile(join(root, "examples/own-transaction", name), "utf8")

/** A program of the guide on a migrated database, as a role that may queue and write orders: one mail for its order. */
const queues =
  (work: (place: Place, env: { readonly DATABASE_URL: string }) => Promise<unknown>): Reference["run"] =>
  async (place) => {
    const server = await startTestServer()
    try {
      await Effect.runPromise(
        migrate(MIGRATIONS).pipe(
          Effect.provide([
            layerSqlClient.pipe(Layer.provide(layerSingle({ url: Redacted.make(server.url) }))),
            NodeServices.layer
          ])
        )
      )
      const shop = await openShop(server.url)
      await work(place, { DATABASE_URL: shop.url })
      const { keys, orders } = await shop.written()
      await shop.close()
      const isOne = keys.length === 1 && keys[0] === orders[0]
      return [
        {
          name: "the program queues one mail with its order",
          outcome: isOne ? "held" : "failed",
          detail: `orders ${orders.join(", ")}; mails ${keys.join(", ")}`
        }
      ]
    } finally {
      await server.stop()
    }
  }

const checks = "examples/own-transaction: the program queues a mail with its order"

const python = (cache: string) => pip(cache, `psycopg[binary]==${PSYCOPG}`, "python")

const psycopg: Reference = {
  name: "psycopg",
  version: PSYCOPG,
  checks,
  needs: ["python3"],
  install: async ({ cache }) => void (await python(cache)),
  run: queues(async (place, env) =>
    must(await python(place.cache), ["-c", await program(place, "program.py")], { env })
  )
}

const pgx: Reference = {
  name: "pgx",
  version: PGX,
  checks,
  needs: ["go"],
  install: () => Promise.resolve(),
  run: queues(async (place, env) => {
    const { work } = place
    await writeFile(
      join(work, "go.mod"),
      `module example.com/shop\n\ngo 1.24\n\nrequire github.com/jackc/pgx/v5 ${PGX}\n`
    )
    await writeFile(join(work, "main.go"), await program(place, "program.go"))
    await must("go", ["mod", "tidy"], { cwd: work })
    await must("go", ["run", "."], { cwd: work, env })
  })
}

/** The table of the guide, as Prisma reads it from a database. */
const SCHEMA = `generator client {
  provider = "prisma-client"
  output   = "generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model orders {
  id    Int    @id @default(autoincrement())
  email String
}
`
const prismaHome = (cache: string): string => join(cache, `prisma_${PRISMA}`)

const prisma: Reference = {
  name: "prisma",
  version: PRISMA,
  checks,
  needs: ["npm"],
  install: async ({ cache }) => {
    const home = prismaHome(cache)
    await mkdir(home, { recursive: true })
    const packages = ["prisma", "@prisma/client", "@prisma/adapter-pg"].map((name) => `${name}@${PRISMA}`)
    await must("npm", [
      "install",
      "--prefix",
      home,
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      ...packages
    ])
  },
  run: queues(async (place, env) => {
    const { cache, work } = place
    const modules = join(prismaHome(cache), "node_modules")
    await symlink(modules, join(work, "node_modules"))
    await writeFile(join(work, "package.json"), JSON.stringify({ type: "module" }))
    await writeFile(join(work, "schema.prisma"), SCHEMA)
    await writeFile(join(work, "main.mjs"), await program(place, "prisma.mjs"))
    // The engine of its migrations is not needed here: without this line it would be downloaded.
    const quiet = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" }
    await must(join(modules, ".bin/prisma"), ["generate", "--schema", "schema.prisma"], {
      cwd: work,
      env: quiet
    })
    await must(process.execPath, ["main.mjs"], { cwd: work, env })
  })
}

const gems = (cache: string) => ({ GEM_HOME: join(cache, `pg-gem_${RUBY_PG}`) })

const rubyPg: Reference = {
  name: "ruby-pg",
  version: `${RUBY_PG}, or as installed`,
  checks,
  needs: ["ruby", "gem"],
  install: async ({ cache }) => {
    // Debian packages the driver, too.
    if ((await run("ruby", ["-e", 'require "pg"'])).code === 0) return
    await must("gem", ["install", "pg", "-v", RUBY_PG, "--no-document", "--conservative"], {
      env: gems(cache)
    })
  },
  run: queues(async (place, env) =>
    must("ruby", ["-e", await program(place, "program.rb")], { env: { ...gems(place.cache), ...env } })
  )
}

/** The drivers of the guide to mail in one's own transaction that the tests do not run. */
export const ownTransaction: ReadonlyArray<Reference> = [psycopg, pgx, prisma, rubyPg]
