import { afterAll, beforeAll, describe, expect, it } from "vitest"

import {
  type Crowd,
  crowdOn,
  DEAREST,
  dearestOf,
  type Outcome,
  prepare,
  routes,
  type Secrets
} from "./crowd.ts"
import { type Attacked, startAttacked } from "./server.ts"
import { MAX_STALL_MS } from "./stalls.ts"

const SECRETS: Secrets = { proxy: "crowd-proxy", admin: "crowd-admin-token", owner: "crowd-owner-token" }
/** What the crowd may add to the memory of a server that has answered every route once. */
const MOST_ADDED = 300 * 2 ** 20
/** A small one, since there are many routes; `npm run fuzz -- --crowd` asks them by the large one. */
const CROWD: Crowd = { pipelines: 2, requests: 600, connections: 8 }

let server: Attacked
let before: number
beforeAll(async () => {
  server = await startAttacked({
    PROXY_SHARED_SECRET: SECRETS.proxy,
    ADMIN_TOKEN: SECRETS.admin,
    OWNER_TOKEN: SECRETS.owner
  })
  await prepare(server, SECRETS)
  const once = { pipelines: 0, requests: 0, connections: 1 }
  for (const route of routes()) await crowdOn(server, SECRETS, route, once)
  before = (await server.measure(() => Promise.resolve())).resident
})
afterAll(() => server.stop())

/** What an attack broke; empty where it held nobody up. */
const broken = ({ resident, stall, wrong }: Outcome): ReadonlyArray<string> => [
  ...wrong,
  ...(stall < MAX_STALL_MS ? [] : [`a stall of ${stall} ms`]),
  ...(resident - before < MOST_ADDED ? [] : [`${(resident - before) / 2 ** 20} MB more`])
]

describe("a crowd holds nobody up (H1, H3)", () => {
  it.each(routes().map((route) => [`${route.method} ${route.path}`, route] as const))(
    "on %s",
    async (_, route) => expect(broken(await crowdOn(server, SECRETS, route, CROWD))).toEqual([])
  )

  it.each(DEAREST)("of one %s, twenty times at once: %s", async (...dear) =>
    expect(broken(await dearestOf(server, SECRETS, dear, 20))).toEqual([])
  )
})
