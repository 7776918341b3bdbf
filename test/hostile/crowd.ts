import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"

import { ACCOUNT_PAGE_PATHS, PAGE_PATHS } from "../../src/adapters/http/pages/paths.ts"
import { openApiDocument } from "../../src/adapters/http/routes/api.ts"
import type { Attacked } from "./server.ts"

/**
 * The crowd: the cheapest thing on a network, many times. Each route is asked over and over by connections that pipeline and by
 * many connections at once, while others go on with their work: a probe of health, sends to somebody who is suppressed, with a
 * key and without, an owner's list.
 */
export interface Crowd {
  /** Connections that send all their requests in one piece. */
  readonly pipelines: number
  /** Requests of each of those. */
  readonly requests: number
  /** Connections that come at once, with one request each. */
  readonly connections: number
}

/** The crowd of `npm run fuzz -- --crowd`. */
export const LARGE_CROWD: Crowd = { pipelines: 6, requests: 1500, connections: 300 }

/** Secrets of the server under attack. */
export interface Secrets {
  readonly proxy: string
  readonly admin: string
  readonly owner: string
}

export interface Route {
  readonly method: string
  readonly path: string
}

/** What an attack did. */
export interface Outcome {
  readonly what: string
  /** The longest stall that the server's code caused, milliseconds. */
  readonly stall: number
  /** Memory afterwards, bytes. */
  readonly resident: number
  /** The longest time that somebody else waited for an answer, milliseconds by the clock. */
  readonly longestWait: number
  /** What somebody else was answered that is wrong. */
  readonly wrong: ReadonlyArray<string>
}

const SUPPRESSED = "crowd-suppressed@x.test"
const PARAMETER = "0199a000-0000-7000-8000-000000000001"

/** Every route of the API, with something in the place of each parameter, and the pages. */
export const routes = (): ReadonlyArray<Route> => {
  const { paths } = openApiDocument() as { readonly paths: Readonly<Record<string, object>> }
  const declared = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, PARAMETER)
    }))
  )
  const pages = [...PAGE_PATHS, ...ACCOUNT_PAGE_PATHS, "/docs", "/nowhere"].map((path) => ({
    method: "GET",
    path: path.replaceAll(/:\w+/g, PARAMETER)
  }))
  return [...declared, ...pages]
}

const textOf = ({ method, path }: Route, headers: string): string => {
  const body = method === "GET" || method === "HEAD" || method === "DELETE" ? "" : "{}"
  const content = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}${content}\r\n${body}`
}

/** One connection that sends text and reads what comes back, until the server closes it or has been silent for a second. */
const pour = async (port: number, text: string): Promise<void> => {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  socket.setTimeout(1_000, () => socket.destroy())
  socket.resume()
  socket.write(text)
  await once(socket, "close")
}

interface Asked {
  readonly status: number
  readonly text: string
  readonly ms: number
}

const ask = (
  server: Attacked,
  { method, path }: Route,
  headers: Readonly<Record<string, string>>,
  body?: string
): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const outgoing = request(`${server.url}${path}`, { method, headers, agent: false })
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          text: Buffer.concat(chunks).toString("utf8"),
          ms: performance.now() - began
        })
      )
    })
    outgoing.end(body)
  })

const JSON_BODY = { "content-type": "application/json" }
let sends = 0

const sendToSuppressed = (server: Attacked, secrets: Secrets, keyed: boolean) =>
  ask(
    server,
    { method: "POST", path: "/internal/send-email" },
    { ...JSON_BODY, "x-proxy-secret": secrets.proxy },
    JSON.stringify({
      to: SUPPRESSED,
      subject: "s",
      text: "t",
      category: "transactional",
      source: "api:crowd",
      ...(keyed ? { idempotencyKey: `crowd-${(sends += 1)}` } : {})
    })
  )

/** Everybody else: what they ask, and what they are to be answered. */
const OTHERS: ReadonlyArray<
  readonly [what: string, status: number, (server: Attacked, secrets: Secrets) => Promise<Asked>]
> = [
  ["health", 200, (server) => ask(server, { method: "GET", path: "/health" }, {})],
  ["a keyed send to a suppressed person", 422, (server, secrets) => sendToSuppressed(server, secrets, true)],
  ["a send to a suppressed person", 422, (server, secrets) => sendToSuppressed(server, secrets, false)],
  [
    "an owner's list",
    200,
    (server, { owner }) =>
      ask(server, { method: "GET", path: "/api/files" }, { authorization: `Bearer ${owner}` })
  ]
]

/** Suppresses the person whom nobody may mail. */
export const prepare = async (server: Attacked, { admin }: Secrets): Promise<void> => {
  const { status, text } = await ask(
    server,
    { method: "POST", path: "/api/admin/email-suppressions" },
    { ...JSON_BODY, authorization: `Bearer ${admin}` },
    JSON.stringify({ email: SUPPRESSED })
  )
  if (status >= 300) throw new Error(`cannot suppress: ${status} ${text}`)
}

/** Runs an attack while everybody else goes on. */
const underAttack = async (
  server: Attacked,
  secrets: Secrets,
  what: string,
  attack: () => Promise<unknown>
): Promise<Outcome> => {
  const wrong: Array<string> = []
  let longestWait = 0
  const goOn = async (running: { readonly done: () => boolean }) => {
    do {
      await Promise.all(
        OTHERS.map(async ([name, status, of]) => {
          const answer = await of(server, secrets)
          longestWait = Math.max(longestWait, answer.ms)
          if (answer.status !== status) wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 100)}`)
        })
      )
    } while (!running.done())
  }
  const { resident, stall } = await server.measure(async () => {
    let over = false
    const running = attack().finally(() => (over = true))
    await Promise.all([running, goOn({ done: () => over })])
  })
  return { what, stall, resident, longestWait, wrong }
}

/** One route under the crowd. */
export const crowdOn = (
  server: Attacked,
  secrets: Secrets,
  route: Route,
  { connections, pipelines, requests }: Crowd,
  authorization = ""
): Promise<Outcome> => {
  const port = Number(new URL(server.url).port)
  const credentials = authorization === "" ? "" : `Authorization: ${authorization}\r\n`
  const text = textOf(route, credentials)
  const last = textOf(route, `${credentials}Connection: close\r\n`)
  return underAttack(server, secrets, `${route.method} ${route.path}`, async () => {
    await Promise.all(Array.from({ length: pipelines }, () => pour(port, text.repeat(requests) + last)))
    await Promise.all(Array.from({ length: connections }, () => pour(port, last)))
  })
}

/** The dearest requests of each role, for so many at once. */
export const DEAREST: ReadonlyArray<readonly [role: keyof Secrets, path: string]> = [
  ["admin", "/api/admin/email-log?subject=ab&limit=200"],
  ["admin", "/api/admin/email-log/count?subject=ab"],
  ["admin", "/api/admin/email-log?recipient=nobody%40x.test"],
  ["admin", "/api/admin/email-stats?days=365"],
  ["admin", "/api/admin/email-log.csv"],
  ["admin", "/api/admin/jobs?limit=200"],
  ["admin", "/api/admin/costs?days=365"],
  ["admin", "/api/admin/customers?search=ab"],
  ["owner", "/api/files"],
  ["owner", "/api/v1/mails"]
]

/** What those who ask for something dear are answered: it, or that too many ask at once. */
const DEAR_ANSWERS = new Set([200, 429, 503])

export const dearestOf = async (
  server: Attacked,
  secrets: Secrets,
  [role, path]: (typeof DEAREST)[number],
  atOnce: number
): Promise<Outcome> => {
  const authorization = `Bearer ${secrets[role]}`
  // One alone is answered: the request is what it claims to be.
  const alone = await ask(server, { method: "GET", path }, { authorization })
  const statuses = new Set<number>()
  const outcome = await underAttack(server, secrets, `${role}: GET ${path}`, () =>
    Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { status } = await ask(server, { method: "GET", path }, { authorization })
        statuses.add(status)
      })
    )
  )
  const wrong = [...statuses]
    .filter((status) => !DEAR_ANSWERS.has(status))
    .map((status) => `${path}: ${status}`)
  return {
    ...outcome,
    wrong: [...outcome.wrong, ...wrong, ...(alone.status === 200 ? [] : [`${path}, alone: ${alone.status}`])]
  }
}

/** A table of outcomes, the worst stall first. */
export const table = (outcomes: ReadonlyArray<Outcome>): string =>
  [
    "   stall   memory     wait  route",
    ...outcomes
      .toSorted((one, other) => other.stall - one.stall)
      .map(
        ({ longestWait, resident, stall, what, wrong }) =>
          `${stall.toFixed(0).padStart(5)} ms ${(resident / 2 ** 20).toFixed(0).padStart(5)} MB ${longestWait.toFixed(0).padStart(5)} ms  ${what}${wrong.length === 0 ? "" : `  WRONG: ${wrong[0]}`}`
      )
  ].join("\n")
