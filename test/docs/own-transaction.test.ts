import { globSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"

import { must } from "../outside/tools.ts"
import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { openShop, type Shop, transactionGuide } from "../support/worlds/shop-database.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const place = join(root, ".postlane", `own-transaction-${process.pid}`)
const database = ManagedRuntime.make(layerDatabase)
let shop: Shop

beforeAll(async () => {
  await mkdir(place, { recursive: true })
  shop = await openShop((await database.runPromise(TestDatabase)).url)
})
afterAll(async () => {
  await shop.close()
  await database.dispose()
  await rm(place, { recursive: true, force: true })
})

describe("the guide to mail in your own transaction", () => {
  it("every program for Node queues one mail with its order", async () => {
    const snippet = transactionGuide.find(({ language }) => language === "ts")
    await writeFile(join(place, "snippet.ts"), snippet?.text ?? "")
    // Prisma's client is generated: `npm run outside` runs it.
    const examples = globSync("examples/own-transaction/*.mjs", { cwd: root }).filter(
      (path) => !path.endsWith("prisma.mjs")
    )
    assert.isAbove(examples.length, 3)
    const programs = [join(place, "snippet.ts"), ...examples.map((path) => join(root, path))]
    const all = programs.map((path) => `await import(${JSON.stringify(path)})`)
    const hook = join(root, "test/support/processes/postlane-by-name.ts")
    await must(process.execPath, ["--import", hook, "--input-type=module", "--eval", all.join("\n")], {
      cwd: root,
      env: { DATABASE_URL: shop.url }
    })
    const { keys, orders } = await shop.written()
    assert.lengthOf(keys, programs.length)
    assert.deepStrictEqual(keys, orders)
  })

  it("so do plain SQL and a trigger", async () => {
    const sql = (words: string) => transactionGuide.find(({ text }) => text.includes(words))?.text ?? ""
    await shop.run(sql("begin;"))
    expect(await shop.written()).toEqual({ orders: [expect.any(String)], keys: ["receipt/ann"] })
    await shop.run(sql("create trigger"), "owner")
    await shop.run("insert into orders (email) values ('ann@x.test'), ('bob@x.test')")
    const { keys, orders } = await shop.written()
    assert.lengthOf(keys, 2)
    assert.deepStrictEqual(keys, orders)
    await shop.run("drop function mail_receipt cascade", "owner")
  })
})
