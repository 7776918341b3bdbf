import { afterAll, beforeAll, expect, it } from "vitest"

import { openApiDocument } from "../../../../src/adapters/http/routes/api.ts"
import { type Attacked, startAttacked } from "../../../hostile/server.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"
import { until } from "../../../support/until.ts"

/** The parts of the document that this test reads. */
interface Operation {
  readonly operationId: string
  readonly security?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown } | undefined>>
  }
}

const operations = Object.entries(
  openApiDocument().paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation }))
)
const withJson = operations.filter(
  ({ requestBody }) => requestBody?.content["application/json"] !== undefined
)

const CREDENTIALS = new Map<string, Readonly<Record<string, string>>>([
  ["proxySecret", { "x-proxy-secret": "examples-proxy" }],
  ["adminToken", { authorization: "Bearer examples-admin" }],
  ["ownerToken", { authorization: "Bearer examples-owner" }]
])

let server: Attacked
beforeAll(async () => {
  server = await startAttacked({
    PROXY_SHARED_SECRET: "examples-proxy",
    ADMIN_TOKEN: "examples-admin",
    OWNER_TOKEN: "examples-owner",
    OUTREACH_FROM: "team@outreach.example.com",
    // Outreach is refused without https.
    BASE_URL: "https://localhost"
  })
})
afterAll(() => server.stop())

const ask = async (method: string, path: string, kind: string | undefined, body?: string | Uint8Array) => {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...CREDENTIALS.get(kind ?? ""),
      ...(typeof body === "string" ? { "content-type": "application/json" } : {})
    },
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) })
  })
  const text = await answer.text()
  return { status: answer.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined }
}

const firstCredential = ({ security = [] }: Operation): string | undefined =>
  security.flatMap((one) => Object.keys(one)).find((name) => CREDENTIALS.has(name))

const resultOf = (file: string) =>
  until(
    `${file} has a result`,
    async () => (await ask("GET", `/api/v1/files/${file}/result`, "ownerToken")).status === 200
  )

it("every request with a JSON body has an example, which works as it stands", async () => {
  expect(
    withJson.filter(({ requestBody }) => requestBody?.content["application/json"]?.example === undefined)
  ).toEqual([])
  const file = async () =>
    (await ask("POST", "/api/v1/files?name=a.pdf", "ownerToken", numbered(1))).json.file.id as string
  const [first, second] = [await file(), await file()]
  const customer = (await ask("POST", "/api/admin/customers", "adminToken", '{"email":"first@example.com"}'))
    .json
  const hook = (
    await ask("POST", "/api/admin/event-hooks", "adminToken", '{"url":"https://hooks.example.com"}')
  ).json
  const outcomes: Array<readonly [string, number, string]> = []
  for (const operation of withJson) {
    const { method, operationId, path, requestBody } = operation
    if (operationId === "shareFile") await resultOf(first)
    const sent = (await ask("GET", "/dev/outbox", undefined)).json?.messages?.[0]?.id as string | undefined
    const example = JSON.stringify(requestBody?.content["application/json"]?.example)
      .replace("01926b3e-0000-7000-8000-000000000002", second)
      .replace("an-access-token", "examples-owner")
    const place = path
      .replace("{fileId}", first)
      .replace("{customerId}", customer.customer?.id ?? customer.customerId)
      .replace("{promo}", "welcome")
      .replace("{hookId}", hook.id)
      .replace("{email}", "reader@example.com")
      .replace("{id}", sent ?? "none")
    const { status, text } = await ask(method, place, firstCredential(operation), example)
    outcomes.push([operationId, status, text.slice(0, 500)])
  }
  // A link of a mail works once, and this one was never mailed.
  expect(outcomes.find(([id]) => id === "useMagicLink")).toEqual([
    "useMagicLink",
    410,
    expect.stringContaining("LINK_EXPIRED")
  ])
  // The time of this server cannot be put forward: it was not started for tests.
  expect(outcomes.find(([id]) => id === "advanceClock")?.[1]).toBe(404)
  const others = outcomes.filter(([id]) => id !== "useMagicLink" && id !== "advanceClock")
  expect(others.filter(([, status]) => status >= 400)).toEqual([])
})
