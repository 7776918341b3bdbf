import { Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import * as Accounts from "../../../../../src/adapters/memory/accounts/accounts.ts"
import * as MemoryCustomers from "../../../../../src/adapters/memory/accounts/customers.ts"
import * as MemoryDatabase from "../../../../../src/adapters/memory/documents/state.ts"
import { accessWith, admin, ADMIN_TOKEN, call, startServer, type TestServer } from "../../harness.ts"

const PATH = "/api/admin/customers"

describe("customers of admins", () => {
  let server: TestServer
  let reader: TestServer
  beforeAll(async () => {
    const customers = Layer.merge(MemoryCustomers.layer, Accounts.layer).pipe(
      Layer.provide(MemoryDatabase.layer)
    )
    server = await startServer({ customers, funds: customers })
    reader = await startServer({ access: accessWith(["admin:read"], ADMIN_TOKEN), customers })
  })
  afterAll(async () => {
    await server.stop()
    await reader.stop()
  })

  const post = (path: string, body: unknown, to = server) =>
    call(to, path, {
      method: "POST",
      headers: { ...admin, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })

  it("are registered, listed, and given credits once for each reference", async () => {
    const added = await post(PATH, { email: "Ann <ANN@x.test>", name: " Ann " })
    assert.strictEqual(added.status, 201)
    assert.deepInclude(added.json.customer, { email: "ann@x.test", name: "Ann", freePagesLeft: 10 })
    assert.strictEqual((await post(PATH, { email: "ann@x.test" })).json.answer, "exists")
    const credits = `${PATH}/${added.json.customer.id}/credits`
    assert.deepStrictEqual((await post(credits, { credits: 7, reference: "i-1" })).json, {
      answer: "granted"
    })
    assert.deepStrictEqual((await post(credits, { credits: 7, reference: " i-1 " })).json, {
      answer: "repeated"
    })
    const other = await post(credits, { credits: 8, reference: "i-1" })
    assert.deepStrictEqual([other.status, other.json.code], [409, "IDEMPOTENCY_CONFLICT"])
    const listed = await call(server, `${PATH}?search=ann`, { headers: admin })
    assert.deepInclude(listed.json.rows[0], { email: "ann@x.test", planType: "paid", creditsRemaining: 7 })
    assert.isNull(listed.json.nextCursor)
  })

  it("refuse what is malformed, oversized or not allowed, and change nothing", async () => {
    const { json } = await post(PATH, { email: "bob@x.test" })
    const credits = `${PATH}/${json.customer.id}/credits`
    for (const body of [
      { credits: 0, reference: "i" },
      { credits: -5, reference: "i" },
      { credits: 1.5, reference: "i" },
      { credits: 1_000_001, reference: "i" },
      { credits: "7", reference: "i" },
      { credits: 7, reference: "" },
      { credits: 7, reference: "  " },
      { credits: 7, reference: "i".repeat(201) },
      { credits: 7, reference: "a\0b" },
      { credits: 7, reference: "i", note: "n".repeat(1001) },
      { credits: 7 },
      "{",
      "[]"
    ]) {
      assert.strictEqual((await post(credits, body)).status, 400, JSON.stringify(body))
    }
    assert.strictEqual((await post(credits, { credits: 1, reference: "x".repeat(20_000) })).status, 413)
    for (const id of ["no-uuid", "' or true --", "0199a000-0000-7000-8000-000000000001"])
      assert.strictEqual(
        (await post(`${PATH}/${encodeURIComponent(id)}/credits`, { credits: 1, reference: "i" })).status,
        404
      )
    for (const email of ["", "no address", "a@b", "a@x.test, b@x.test", "a".repeat(321), "a\0@x.test"])
      assert.strictEqual((await post(PATH, { email })).status, 400, email)
    assert.strictEqual((await post(PATH, { email: "c@x.test", name: "n".repeat(201) })).status, 400)
    assert.strictEqual((await call(server, `${PATH}?cursor=x`, { headers: admin })).status, 400)
    assert.strictEqual((await call(server, PATH)).status, 401)
    assert.strictEqual((await call(reader, PATH, { headers: admin })).status, 200)
    assert.strictEqual((await post(PATH, { email: "d@x.test" }, reader)).status, 403)
    const listed = await call(server, `${PATH}?search=bob`, { headers: admin })
    assert.deepInclude(listed.json.rows[0], { planType: "free", creditsRemaining: null, freePagesLeft: 10 })
  })
})
