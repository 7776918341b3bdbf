import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { Json, TestServer } from "../harness.ts"
import { ask, operations, resolved, sampleOf, startOpenServer, written } from "./requests.ts"

let server: TestServer
beforeAll(async () => {
  server = await startOpenServer()
})
afterAll(() => server.stop())

/** Addresses that others complete: links in mails, probes, and what vendors were given. */
const OPEN =
  /^(?:GET \/(?:health|ready|metrics|openapi\.json|convert-email\/(?:health|results\/.*))|POST \/(?:functions\/v1\/(?:provider-a|postmark)-webhook|api\/webhooks\/providerb-events)|(?:GET|POST) \/(?:auth|customer-mail|invites|unsubscribe|shared)\/.*)$/

/** The same name as another language writes it. */
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const bodied = operations.flatMap((operation) =>
  operation.bodies.map(([type, schema]) => ({ operation, type, schema, name: `${operation.name} ${type}` }))
)

/** Every object of a body: how a sample gets there, and its schema. */
const objectsIn = (
  schema: Json,
  wrap: (inner: Json) => Json = (inner) => inner,
  at = ""
): ReadonlyArray<{ readonly at: string; readonly schema: Json; readonly wrap: (inner: Json) => Json }> => {
  const { anyOf, items, properties, type } = resolved(schema)
  if (anyOf !== undefined) return anyOf.flatMap((one: Json) => objectsIn(one, wrap, at))
  if (type === "array") return objectsIn(items, (inner) => wrap([inner]), `${at}0.`)
  if (properties === undefined) return []
  return [
    { at, schema: resolved(schema), wrap },
    ...Object.entries<Json>(properties).flatMap(([name, member]) =>
      objectsIn(member, (inner) => wrap({ ...sampleOf(schema), [name]: inner }), `${at}${name}.`)
    )
  ]
}

describe("what a request names and its operation does not know", () => {
  it.each(bodied)("is refused by name in the body of $name, wherever it is", async (body) => {
    for (const { at, schema, wrap } of objectsIn(body.schema)) {
      const given = wrap({ ...sampleOf(schema), qqq: "1" })
      const answer = await ask(server, body.operation, { body: written(body.type, given), type: body.type })
      expect([at, answer.status, answer.json.code]).toEqual([at, 400, "INVALID_REQUEST"])
      expect(answer.json.issues).toContainEqual({
        path: `${at}qqq`,
        message: `is not known here; known are ${Object.keys(schema.properties).join(", ")}`
      })
    }
  })

  it.each(bodied)("is refused with the name that was meant: $name", async ({ operation, schema, type }) => {
    for (const name of Object.keys(schema.properties)) {
      const typo = snake(name) === name ? `${name}s` : snake(name)
      // Two letters are near to everything.
      if (typo in schema.properties || name.length < 3) continue
      const body = written(type, { ...sampleOf(schema), [typo]: "1" })
      const answer = await ask(server, operation, { body, type })
      const { message } = answer.json.issues.find((one: Json) => one.path === typo)
      expect([typo, message]).toEqual([typo, `is not known here; did you mean ${name}?`])
    }
  })

  it.each(operations.filter(({ name }) => !OPEN.test(name)))(
    "is refused in the query: $name",
    async (operation) => {
      const [[type, schema] = []] = operation.bodies
      const body = type === undefined ? {} : { type, body: written(type, sampleOf(schema)) }
      const answer = await ask(server, operation, { query: "?qqq=1", ...body })
      expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
      expect(answer.json.issues[0]).toMatchObject({
        path: "qqq",
        message: expect.stringMatching(/^is not known here/)
      })
    }
  )

  it("is let through where others complete the address", async () => {
    for (const operation of operations.filter(({ name }) => OPEN.test(name))) {
      const answer = await ask(server, operation, { query: "?utm_source=mail" })
      expect([operation.name, JSON.stringify(answer.json ?? "")]).toEqual([
        operation.name,
        expect.not.stringContaining("utm_source")
      ])
    }
  })
})

/** Values that are wrong for any member, or for most. */
const WRONG = [
  null,
  5,
  -1,
  true,
  "",
  "x".repeat(2000),
  "a\0b",
  {},
  [],
  [1],
  [[]],
  [{}],
  [null],
  { a: 1 },
  { a: [] }
]

/** Words of a programming language, and patterns. */
const NOT_PLAIN = /undefined|RegExp|Expected|\bstring\b|\barray\b|\bnever\b|\[object|\\\\|\^\[|\(\?/

describe("a request of wrong types", () => {
  it.each(bodied.filter(({ type }) => type === "application/json"))(
    "is refused in plain words: $name",
    async ({ operation, schema }) => {
      const bodies = [
        ...WRONG,
        ...objectsIn(schema).flatMap(({ schema: object, wrap }) =>
          Object.keys(object.properties).flatMap((name) =>
            WRONG.map((value) => wrap({ ...sampleOf(object), [name]: value }))
          )
        )
      ]
      const refusals: Array<string> = []
      for (const body of bodies) {
        const answer = await ask(server, operation, { body: JSON.stringify(body) })
        if (answer.status === 400) refusals.push(answer.text)
      }
      expect(refusals.length).toBeGreaterThan(WRONG.length)
      expect(refusals.filter((text) => NOT_PLAIN.test(text))).toEqual([])
    }
  )

  it("is refused in plain words in every query and path", async () => {
    for (const operation of operations) {
      for (const name of operation.query) {
        for (const value of ["", "zz", "-1", "x".repeat(2000), "%00"]) {
          const answer = await ask(server, operation, { query: `?${name}=${value}` })
          expect([operation.name, name, value, answer.status === 400 ? answer.text : ""]).toEqual([
            operation.name,
            name,
            value,
            expect.not.stringMatching(NOT_PLAIN)
          ])
        }
      }
      if (!operation.path.includes("{")) continue
      const path = operation.path.replaceAll(/\{[^}]+\}/g, "~%20~")
      const answer = await ask(server, { ...operation, path })
      expect([operation.name, answer.status === 400 ? answer.text : ""]).toEqual([
        operation.name,
        expect.not.stringMatching(NOT_PLAIN)
      ])
    }
  })
})
