import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { layer } from "../../../src/adapters/event-hooks/link-trier.ts"
import { LinkTrier } from "../../../src/ports/mail/link-trier.ts"

/** A server of this machine, with the paths that it was asked for. */
const serving = (answer: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly origin: string; readonly asked: Array<string>; readonly close: () => void }>(
        (resume) => {
          const asked: Array<string> = []
          const server = createServer((request, response) => {
            asked.push(`${request.method} ${request.url} ${request.headers["cookie"] ?? "no cookie"}`)
            answer(request, response)
          })
          server.listen(0, "127.0.0.1", () =>
            resume(
              Effect.succeed({
                asked,
                origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
                close: () => {
                  server.closeAllConnections()
                  server.close()
                }
              })
            )
          )
        }
      ),
      ({ close }) => Effect.sync(close)
    ),
    ({ asked, origin }) => ({ asked, origin })
  )

const tryAll = (
  links: ReadonlyArray<string>,
  own: ReadonlyArray<string> = [],
  resolve?: (name: string) => Promise<ReadonlyArray<string>>
) =>
  LinkTrier.use((trier) => trier.tryAll(links, new Set(own))).pipe(
    Effect.provide(layer(resolve === undefined ? {} : { resolve }))
  )

describe("links of a mail that are tried", () => {
  it.live("on this server answer by GET without cookies, redirects followed to their end", () =>
    Effect.gen(function* () {
      const { asked, origin } = yield* serving((request, response) => {
        const { url = "" } = request
        if (url.startsWith("/from")) response.writeHead(302, { location: "/to?x=1" })
        else response.writeHead(url === "/gone" ? 410 : 200)
        response.end("a body that nobody reads".repeat(100_000))
      })
      const tries = yield* tryAll([`${origin}/`, `${origin}/from`, `${origin}/gone`, `${origin}/`], [origin])
      assert.deepStrictEqual(tries, [
        { outcome: "answered", status: 200, leadsTo: undefined },
        { outcome: "answered", status: 200, leadsTo: `${origin}/to?x=1` },
        { outcome: "answered", status: 410, leadsTo: undefined },
        { outcome: "answered", status: 200, leadsTo: undefined }
      ])
      // Each address once.
      assert.deepStrictEqual(
        asked.toSorted(),
        ["/", "/from", "/gone", "/to?x=1"].map((path) => `GET ${path} no cookie`).toSorted()
      )
    }).pipe(Effect.scoped)
  )

  it.live("elsewhere on this machine, in private networks and beyond the web are not asked", () =>
    Effect.gen(function* () {
      const { asked, origin } = yield* serving((_, response) => response.end())
      const { port } = new URL(origin)
      const tries = yield* tryAll(
        [
          origin,
          `http://localhost:${port}/`,
          `http://[::ffff:127.0.0.1]:${port}/`,
          `http://2130706433:${port}/`,
          `http://0x7f.1:${port}/`,
          `http://private.test:${port}/`,
          "http://169.254.169.254/latest/meta-data/",
          "http://10.0.0.1/",
          "http://[fe80::1]/",
          "ftp://example.com/",
          "javascript:alert(1)",
          "http://"
        ],
        ["http://127.0.0.1:1"],
        () => Promise.resolve(["127.0.0.1"])
      )
      assert.deepStrictEqual(
        tries.map(({ outcome }) => outcome),
        tries.map(() => "skipped")
      )
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )

  it.live("do not lead from this server to another of this machine", () =>
    Effect.gen(function* () {
      const victim = yield* serving((_, response) => response.end())
      const { origin } = yield* serving((request, response) => {
        const location = request.url === "/away" ? `${victim.origin}/secret` : "file:///etc/passwd"
        response.writeHead(307, { location }).end()
      })
      const tries = yield* tryAll([`${origin}/away`, `${origin}/file`], [origin])
      assert.deepStrictEqual(
        tries.map(({ outcome }) => outcome),
        ["skipped", "skipped"]
      )
      assert.deepStrictEqual(victim.asked, [])
    }).pipe(Effect.scoped)
  )

  it.live("that redirect for ever, or to what is no address, or break off, say so", () =>
    Effect.gen(function* () {
      const { asked, origin } = yield* serving((request, response) => {
        if (request.url === "/cut") request.socket.destroy()
        else if (request.url === "/bad") response.writeHead(301, { location: "http://" }).end()
        else response.writeHead(308, { location: `${request.url ?? ""}x` }).end()
      })
      const tries = yield* tryAll([`${origin}/round`, `${origin}/cut`, `${origin}/bad`], [origin])
      assert.deepStrictEqual(
        tries.map(({ outcome }) => outcome),
        ["silent", "silent", "silent"]
      )
      assert.strictEqual(asked.filter((one) => one.includes("/round")).length, 6)
    }).pipe(Effect.scoped)
  )
})
