import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import * as fc from "fast-check"
import { afterAll, assert, describe, it } from "vitest"

import { type Attacked, startAttacked } from "../hostile/server.ts"
import { read, USAGE } from "./arguments.ts"
import { Attack, fuzz } from "./fuzz.ts"
import { serverSettings } from "./server.ts"
import { Broken, type Target } from "./target.ts"
import { TARGETS } from "./targets.ts"

const noServer = () => Promise.reject(new Error("it needs no server"))

/** A target that reads text in this process. */
const reading = (answer: (text: string) => Promise<string>, seed: string): Target => ({
  name: "toy",
  about: "text",
  limitMs: 100,
  memoryMb: 4_096,
  guided: false,
  seeds: () => [Buffer.from(seed)],
  made: fc.constant(Buffer.from("x")),
  words: ["B", "U", "G"],
  open: () =>
    Promise.resolve({
      answer: (input) => answer(input.toString("latin1")),
      close: () => Promise.resolve()
    })
})

describe("the fuzzer", () => {
  it("goes deeper from what reached a new class of answers, and makes what it finds small", async () => {
    const deep = reading(async (text) => {
      if (text.includes("BUG")) throw new Broken("a bug")
      return text.includes("BU") ? "deep" : text.includes("B") ? "begun" : "flat"
    }, "some text that means nothing")
    let found = false
    const { classes, findings } = await fuzz({ ...deep, limitMs: 60_000 }, noServer, {
      seed: 1,
      enough: (inputs) => found || inputs >= 200_000,
      onFound: () => (found = true)
    })
    assert.deepStrictEqual([...classes.keys()].sort(), ["begun", "deep", "flat"])
    assert.deepStrictEqual(
      findings.map(({ input, what }) => [what, input.toString()]),
      [["a bug", "BUG"]]
    )
  })

  it("reports an undeclared exception", async () => {
    const broken = reading(async () => JSON.parse("{") as string, "x")
    const { findings } = await fuzz(broken, noServer, { seed: 1, enough: (inputs) => inputs >= 1 })
    assert.match(findings[0]?.what ?? "", /^SyntaxError/)
  })

  it("reports an answer that never comes", async () => {
    const silent = reading(() => new Promise(() => undefined), "x")
    const { findings } = await fuzz(silent, noServer, { seed: 1, enough: (inputs) => inputs >= 1 })
    assert.strictEqual(findings[0]?.what, "H2: no answer within 100 ms")
  })

  it("reports a stall that the input causes each time, not one that it causes once", async () => {
    let stalls = 1
    const stalling = reading(async () => {
      const busyUntil = process.threadCpuUsage().user + (stalls-- > 0 ? 300_000 : 0)
      while (process.threadCpuUsage().user < busyUntil);
      return "read"
    }, "x")
    const patient = { ...stalling, limitMs: 60_000 }
    const once = { seed: 1, enough: (inputs: number) => inputs >= 1 }
    assert.deepStrictEqual((await fuzz(patient, noServer, once)).findings, [])
    stalls = Infinity
    const { findings, longestStallMs } = await fuzz(
      { ...patient, seeds: () => [Buffer.alloc(0)] },
      noServer,
      once
    )
    assert.match(findings[0]?.what ?? "", /^H1: it stalls the event loop/)
    assert.isAbove(longestStallMs, 250)
  })

  it("reports no answer that was late, or timed out, but once", async () => {
    const ends = [undefined, new Error("no answer within 5 seconds")]
    for (const first of ends) {
      let times = 0
      const waited = reading(async () => {
        if (times++ > 0) return "read"
        if (first !== undefined) throw first
        return new Promise<string>(() => undefined)
      }, "x")
      const { classes, findings } = await fuzz(waited, noServer, {
        seed: 1,
        enough: (inputs) => inputs >= 1
      })
      assert.deepStrictEqual([findings, [...classes.keys()]], [[], ["read"]])
    }
  })

  it("refuses what it does not know, and knows every target", () => {
    assert.strictEqual(read(["--help"]), "help")
    for (const { name } of TARGETS) assert.include(USAGE, name)
    for (const wrong of [["--target", "nothing"], ["--minutes", "0"], ["--seed", "x"], ["--often"]])
      assert.property(read(wrong), "refused")
    const order = read(["--target", "mail", "--minutes", "2.5", "--seed", "7"])
    assert.deepStrictEqual(order, {
      minutes: 2.5,
      seed: 7,
      target: TARGETS.find(({ name }) => name === "mail"),
      crowd: false
    })
  })
})

describe("what fuzzing has found", () => {
  let server: Promise<Attacked> | undefined
  const serve = () => (server ??= startAttacked(serverSettings))
  afterAll(async () => (await server)?.stop())

  const kept = TARGETS.map((target) => {
    const folder = fileURLToPath(new URL(`corpus/${target.name}`, import.meta.url))
    const files = existsSync(folder) ? readdirSync(folder) : []
    return { target, inputs: files.map((name) => [name, readFileSync(`${folder}/${name}`)] as const) }
  }).filter(({ inputs }) => inputs.length > 0)

  it.each(kept)("breaks nothing any more: $target.name", async ({ inputs, target }) => {
    const attack = new Attack(target, serve)
    try {
      for (const [name, input] of inputs) assert.strictEqual((await attack.run(input)).what, "", name)
    } finally {
      await attack.close()
    }
  })
})
