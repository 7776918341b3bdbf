import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import type { StoreUnavailable } from "../../../../../src/ports/store-unavailable.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import {
  accessWith,
  admin,
  ADMIN_TOKEN,
  type Behind,
  call,
  startServer,
  type TestServer
} from "../../harness.ts"

interface Filter {
  readonly cursor?: string | undefined
}

/** A list of rows that admins read page by page. */
export interface AdminList<Row> {
  readonly path: string
  /** The server's parts, whose store reads a page so. */
  readonly behind: (
    page: (
      filter: Filter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<Row>; readonly nextCursor: string },
      InvalidCursor | StoreUnavailable
    >
  ) => Partial<Behind>
  readonly row: Row
  /** Its filters, each with a value that it takes. */
  readonly filters: Readonly<Record<string, string>>
  /** Queries that are refused, beside those of every list. */
  readonly refused: ReadonlyArray<string>
}

/** What each of them answers: to whom, which filters, what is refused, and what is said while its store is away. */
export const adminListSuite = <Row>(list: AdminList<Row>): void => {
  let down = false
  let filter: Filter | undefined
  let server: TestServer
  const behind = list.behind((asked) => {
    filter = asked
    if (down) return Effect.fail(storeDown(new Error("password=hunter2")))
    return asked.cursor === "forged"
      ? Effect.fail(new InvalidCursor({ cursor: asked.cursor }))
      : Effect.succeed({ rows: [list.row], nextCursor: "next" })
  })
  beforeAll(async () => {
    server = await startServer({ ...behind, access: accessWith(["admin:read"], ADMIN_TOKEN) })
  })
  afterAll(() => server.stop())
  beforeEach(() => {
    down = false
  })
  const get = (query = "") => call(server, `${list.path}${query}`, { headers: admin })
  const names = Object.keys(list.filters)
  const unfiltered = Object.fromEntries([...names, "cursor"].map((name) => [name, undefined]))

  it("200 for who may read: rows with the columns' names as keys, and the next cursor", async () => {
    const answer = await get()
    expect([answer.status, answer.json]).toEqual([200, { rows: [list.row], nextCursor: "next" }])
    expect(filter).toEqual({ ...unfiltered, limit: 50 })
    const query = new URLSearchParams({ ...list.filters, limit: "200", cursor: "c" })
    expect((await get(`?${query}`)).status).toBe(200)
    expect(filter).toEqual({ ...list.filters, cursor: "c", limit: 200 })
    expect((await get(`?${[...names, "limit", "cursor"].map((name) => `${name}=`).join("&")}`)).status).toBe(
      200
    )
    expect(filter).toEqual({ ...unfiltered, limit: 50 })
  })

  it("401 for nobody, 403 without the right", async () => {
    const nobody = await call(server, list.path)
    expect([nobody.status, nobody.json.code]).toEqual([401, "UNAUTHENTICATED"])
    // A dev token that may be anything but an admin.
    const others = await startServer({ ...behind, access: accessWith(["owner"], ADMIN_TOKEN) })
    try {
      const owner = await call(others, list.path, { headers: admin })
      expect([owner.status, owner.json.code]).toEqual([403, "FORBIDDEN"])
    } finally {
      await others.stop()
    }
  })

  it.each(["?limit=0", "?limit=201", "?limit=x", "?cursor=forged", ...list.refused])(
    "400 for %s",
    async (query) => {
      const answer = await get(query)
      expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    }
  )

  it("503 where the store does not answer, without its words", async () => {
    down = true
    const answer = await get()
    expect([answer.status, answer.json.code, answer.text.includes("hunter2")]).toEqual([
      503,
      "UNAVAILABLE",
      false
    ])
  })
}
