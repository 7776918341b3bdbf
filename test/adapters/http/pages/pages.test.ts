import { Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { Principal, Right } from "../../../../src/domain/accounts/principal.ts"
import { ADMIN_SCREENS } from "../../../../src/domain/pages.ts"
import { Access, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { anyId } from "../../../support/any-id.ts"
import { storeDown } from "../../../support/worlds/store-down.ts"
import { type Answer, call, startServer, type TestServer } from "../harness.ts"

const PEOPLE: Readonly<Record<string, ReadonlyArray<Right>>> = {
  owner: ["owner"],
  admin: ["admin"],
  reader: ["admin:read"],
  both: ["owner", "admin"]
}

const principalOf = (name: string): Principal | undefined => {
  const rights = Object.entries(PEOPLE).find(([known]) => known === name)?.[1]
  return rights && { actor: `<i>${name}</i>`, customerId: anyId("c"), rights, via: "session" }
}

/** A session's cookie is the name of its person; the renewed one is another. */
const people = Layer.merge(
  Layer.mock(Access, {
    byToken: (token) => Effect.succeed(principalOf(token)),
    bySession: (cookie) => {
      const principal = principalOf(cookie)
      return cookie === "down"
        ? Effect.fail(storeDown("password=hunter2"))
        : Effect.succeed(
            principal && { principal, renewed: Redacted.make("next"), expiresAt: Date.UTC(2100, 0) }
          )
    },
    beginSession: (token) => {
      const principal = principalOf(token)
      return Effect.succeed(
        principal && { principal, cookie: Redacted.make(token), expiresAt: Date.UTC(2100, 0) }
      )
    }
  }),
  Layer.mock(MagicLinks, {})
)

let server: TestServer
beforeAll(async () => {
  server = await startServer({ access: people, baseUrl: "https://mail.example.test" })
})
afterAll(() => server.stop())

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
const open = (path: string, person?: string, method = "GET") =>
  call(server, path, {
    method,
    headers: { ...HTML, ...(person === undefined ? {} : { cookie: `postlane_session=${person}` }) }
  })
const to = ({ headers, status }: Answer) => [status, headers["location"]]

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** A page of ours: nothing inline, nothing from elsewhere, kept by nobody. */
const expectPage = (answer: Answer, status = 200) => {
  expect([answer.status, answer.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"])
  expect(answer.headers["content-security-policy"]).toBe(POLICY)
  expect(answer.headers["cache-control"]).toBe("no-store")
  expect(answer.headers["x-frame-options"]).toBe("DENY")
  const tags = answer.text.match(/<[a-z][^>]*>/gi)!.join("\n")
  expect(tags).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<iframe|https?:|\/\//i)
  expect(answer.text.replaceAll(/<script type="module" src="[^"]+"><\/script>/g, "")).not.toContain("<script")
  expect(answer.text.match(/<h1[ >]/g)).toHaveLength(1)
}

describe("who may open a page", () => {
  it("a visitor is led to the sign-in; so is one whose session ended", async () => {
    expect(to(await open("/dashboard"))).toEqual([303, "/sign-in"])
    expect(to(await open("/admin/jobs"))).toEqual([303, "/sign-in?reason=admin&next=%2Fadmin%2Fjobs"])
    expect(to(await open("/dashboard", "nobody"))).toEqual([303, "/sign-in?reason=ended"])
    const page = await open("/sign-in?reason=ended")
    expectPage(page)
    expect(page.text).toContain("Your session has ended")
  })

  it.each([
    ["/dashboard", "owner", 200],
    ["/dashboard", "both", 200],
    ["/dashboard", "admin", 403],
    ["/admin", "owner", 403],
    ["/admin", "reader", 200],
    ["/admin/jobs", "owner", 403],
    ["/admin/jobs", "reader", 200],
    ["/admin/jobs", "admin", 200]
  ])("%s as %s: %i", async (path, person, status) => {
    const page = await open(path, person)
    expectPage(page, status)
    expect(page.text).toContain(`Signed in as <strong>&lt;i&gt;${person}&lt;/i&gt;</strong>`)
    expect(page.text).toContain('action="/auth/logout"')
    expect(page.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^postlane_session=next; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/)
    ])
  })

  it("a bearer token opens them too", async () => {
    const page = await call(server, "/dashboard", { headers: { ...HTML, authorization: "Bearer owner" } })
    expectPage(page)
    expect(page.headers["set-cookie"]).toBeUndefined()
  })

  it("only who may change something is offered to", async () => {
    expect((await open("/admin/suppressions", "reader")).text).toContain('data-may-write="false"')
    expect((await open("/admin/suppressions", "admin")).text).toContain('data-may-write="true"')
  })

  it("503 as a page while sessions cannot be looked up", async () => {
    const page = await open("/dashboard", "down")
    expectPage(page, 503)
    expect(page.text).not.toContain("hunter2")
  })
})

describe("where pages lead", () => {
  it("/ leads people to the dashboard, and is nothing to programs", async () => {
    expect(to(await open("/"))).toEqual([303, "/dashboard"])
    const program = await call(server, "/", { headers: { accept: "application/json" } })
    expect([program.status, program.json.code]).toEqual([404, "NOT_FOUND"])
    expect(to(await open("/admin"))).toEqual([303, "/sign-in?reason=admin"])
  })

  it.each([
    ["owner", "/dashboard"],
    ["both", "/dashboard"],
    ["admin", "/admin"],
    ["reader", "/admin"]
  ])("a sign-in as %s leads to %s", async (person, home) => {
    const answer = await call(server, "/auth/session", {
      method: "POST",
      headers: { ...HTML, "content-type": "application/x-www-form-urlencoded" },
      body: `token=${person}`
    })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(`<meta http-equiv="refresh" content="0; url=${home}">`)
    expect(answer.text).toContain(`<a href="${home}">`)
  })

  it("a token that is none stays on the sign-in, which says so", async () => {
    const answer = await call(server, "/auth/session", {
      method: "POST",
      headers: { ...HTML, "content-type": "application/x-www-form-urlencoded" },
      body: "token=none"
    })
    expectPage(answer, 401)
    for (const part of ["<h1>Sign in</h1>", 'role="alert">There is no such token', 'action="/auth/link"'])
      expect(answer.text).toContain(part)
    expect(answer.text).not.toContain("needs JavaScript")
  })

  it.each(["constructor", "__proto__", "<script>alert(1)</script>", "%00", "x".repeat(2000)])(
    "the sign-in page says nothing that a stranger put into its address: %j",
    async (reason) => {
      const page = await open(`/sign-in?reason=${encodeURIComponent(reason)}`)
      expectPage(page)
      expect(page.text).toBe((await open("/sign-in")).text)
    }
  )

  it.each(["nothing", "constructor", "__proto__", "%2e%2e", "jobs/x", "jobs%00"])(
    "404 for /admin/%s",
    async (name) => {
      const cookie = "postlane_session=admin"
      const answer = await call(server, `/admin/${name}`, { headers: { cookie } })
      expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
      const page = await open(`/admin/${name}`, "admin")
      expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"])
      expect(page.text).toContain('<a href="/admin">Go to the admin pages</a>')
    }
  )

  it.each(["/dashboard", "/admin", "/admin/jobs", "/sign-in", "/assets/x/app.css"])(
    "405 for POST %s",
    async (path) => {
      const answer = await open(path, "both", "POST")
      expect([answer.status, answer.headers["allow"]]).toEqual([405, "GET, HEAD"])
    }
  )

  it("a production run serves them too", async () => {
    const production = await startServer({ access: people, embedded: false })
    try {
      const page = await call(production, "/dashboard", {
        headers: { ...HTML, cookie: "postlane_session=owner" }
      })
      expectPage(page)
      expect(page.headers["set-cookie"]?.[0]).not.toContain("Secure")
    } finally {
      await production.stop()
    }
  })

  it("a HEAD is answered like a GET, without the body", async () => {
    const head = await open("/dashboard", "owner", "HEAD")
    expect([head.status, head.text]).toEqual([200, ""])
  })
})

describe("what pages load", () => {
  const PAGES = ["/dashboard", ...Object.keys(ADMIN_SCREENS).map((name) => `/admin/${name}`)]
  const linked = (html: string) =>
    [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!)

  it.each(PAGES)(
    "%s: style sheets, and scripts down to the last one imported, kept for good",
    async (path) => {
      const page = await open(path, "both")
      expectPage(page)
      const pending = linked(page.text)
      expect(pending.filter((one) => one.endsWith(".js"))).toHaveLength(path === "/admin/statistics" ? 0 : 1)
      expect(pending.filter((one) => one.endsWith(".css"))).toHaveLength(3)
      const seen = new Set<string>()
      for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
        if (seen.has(one)) continue
        seen.add(one)
        const { headers, status, text } = await open(one)
        expect([one, status]).toEqual([one, 200])
        expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable")
        expect(headers["x-content-type-options"]).toBe("nosniff")
        const ending = one.slice(one.lastIndexOf(".") + 1)
        const types = new Map([
          ["js", "text/javascript; charset=utf-8"],
          ["css", "text/css; charset=utf-8"],
          ["svg", "image/svg+xml"]
        ])
        expect(headers["content-type"]).toBe(types.get(ending))
        expect(text).not.toMatch(
          /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|@import url|url\(/
        )
        for (const [, name] of text.matchAll(/^import .*from "(\.{1,2}\/[^"]+)"$/gm)) {
          pending.push(new URL(name!, `http://pages.test${one}`).pathname)
        }
      }
    }
  )

  it("another version gets what there is, and nobody keeps it", async () => {
    const answer = await open("/assets/0123456789abcdef/app.css")
    expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"])
  })

  it("the icon has a path of its own, which pages without assets name and browsers ask for", async () => {
    const { headers, status, text } = await open("/favicon.ico")
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      "image/svg+xml",
      "public, max-age=86400"
    ])
    expect(text).toMatch(/^<svg /)
  })

  it.each([
    "tsconfig.json",
    "jobs.js",
    "admin",
    "admin/none.js",
    "admin/..%2fapp.css",
    "admin%2fjobs.js%2f",
    "dashboard/jobs.js",
    "..%2f..%2froutes.ts",
    "..%2Fpages",
    "%00app.css",
    "app.css%00",
    "constructor",
    "APP.CSS"
  ])("404 for /assets/x/%s", async (name) => {
    expect((await open(`/assets/x/${name}`)).status).toBe(404)
  })
})
