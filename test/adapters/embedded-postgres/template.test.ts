import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"

import { copyTemplate, makeTemplate } from "../../../src/adapters/embedded-postgres/template.ts"
import { makeFolder } from "../../support/processes/child.ts"

let root: Awaited<ReturnType<typeof makeFolder>>
beforeAll(async () => {
  root = await makeFolder()
})
afterAll(() => root.remove())

const CONNECTION = { port: 20_000, password: "p" }

/** A data folder as a stopped server leaves it. */
const stopped = async (name: string) => {
  const folder = join(root.path, name)
  await mkdir(join(folder, "postgres/data"), { recursive: true })
  await writeFile(join(folder, "postgres/data/postgresql.conf"), "port = 5432\n")
  await writeFile(join(folder, "postgres/connection.json"), JSON.stringify(CONNECTION))
  return folder
}

it("each copy has a port of its own, so that many can start at once, and the template's password", async () => {
  const template = await stopped("template")
  assert.isTrue(await Effect.runPromise(makeTemplate(template)))
  const copies = ["a", "b", "c", "d", "e"].map((name) => join(root.path, name))
  for (const copy of copies) await Effect.runPromise(copyTemplate(template, copy))
  const connections = await Promise.all(
    copies.map(
      async (copy) =>
        JSON.parse(await readFile(join(copy, "postgres/connection.json"), "utf8")) as typeof CONNECTION
    )
  )
  assert.isAbove(new Set(connections.map(({ port }) => port)).size, 1)
  assert.deepStrictEqual([...new Set(connections.map(({ password }) => password))], ["p"])
  assert.include(await readFile(join(copies[0]!, "postgres/data/postgresql.conf"), "utf8"), "fsync = off")
})

it("a database that is kept in another place is no template: its copies would share it", async () => {
  const folder = await stopped("elsewhere")
  await writeFile(join(folder, "postgres/location"), "/var/lib/postlane/x")
  assert.isFalse(await Effect.runPromise(makeTemplate(folder)))
})
