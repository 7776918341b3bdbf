import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

import { parseSync, Visitor } from "oxc-parser"
import { type AttackPattern, check, type Diagnostics } from "recheck"
import { describe, expect, it } from "vitest"

import { readSourceFiles } from "../../scripts/source-files.ts"
import { LONGEST_WAIT_MS } from "../support/time-limits.ts"

/** How much V8 may compute on an input of {@link LONGEST} characters, milliseconds: tens of times what a linear expression needs, and a tenth of what a quadratic one does. */
const MOST_MS = 50
const LONGEST = 40_000

interface Expression {
  readonly at: string
  readonly source: string
  readonly flags: string
}

type Node = { readonly type: string } & Readonly<Record<string, unknown>>

/** What stands for a part of an expression that only the running program knows: a name, a list of literal texts. */
const UNKNOWN = "name"

/** The text that an argument of `RegExp` has, as far as the file says. */
const textOf = (node: Node | undefined, constants: ReadonlyMap<string, Node>): string => {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"]
  if (node?.type === "Identifier") {
    const constant = constants.get(String(node["name"]))
    return constant === undefined ? UNKNOWN : textOf(constant, constants)
  }
  if (node?.type !== "TemplateLiteral") return UNKNOWN
  const inner = node["expressions"] as ReadonlyArray<Node>
  const quasis = node["quasis"] as ReadonlyArray<{ readonly value: { readonly cooked: string } }>
  return quasis
    .map(({ value }, at) => value.cooked + (at < inner.length ? textOf(inner[at], constants) : ""))
    .join("")
}

/** The expressions of a file: the literals, and those made of texts. */
const expressionsIn = ({ path, text }: { readonly path: string; readonly text: string }) => {
  const found: Array<Expression> = []
  const made: Array<{ readonly at: string; readonly args: ReadonlyArray<Node> }> = []
  const constants = new Map<string, Node>()
  const placeOf = (start: number) => `${path}:${text.slice(0, start).split("\n").length}`
  const make = (node: Node) => {
    const callee = node["callee"] as Node
    if (callee.type !== "Identifier" || callee["name"] !== "RegExp") return
    made.push({ at: placeOf(Number(node["start"])), args: node["arguments"] as ReadonlyArray<Node> })
  }
  new Visitor({
    Literal: (node) => {
      if (!("regex" in node)) return
      found.push({ at: placeOf(node.start), source: node.regex.pattern, flags: node.regex.flags })
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type === "Identifier" && init !== null) constants.set(id.name, init as unknown as Node)
    },
    NewExpression: (node) => make(node as unknown as Node),
    CallExpression: (node) => make(node as unknown as Node)
  }).visit(parseSync(path, text).program)
  const others = made.map(({ args: [source, flags], at }) => ({
    at,
    source: textOf(source, constants),
    flags: flags === undefined ? "" : textOf(flags, constants)
  }))
  return [...found, ...others]
}

/** Milliseconds that the main thread computes, at best: a collection of garbage, or a cold cache, is not the expression's. */
const costOf = (work: () => void): number =>
  Math.min(
    ...[1, 2, 3].map(() => {
      const before = process.threadCpuUsage()
      work()
      const { system, user } = process.threadCpuUsage(before)
      return (system + user) / 1000
    })
  )

/** An attack with its repeated parts that many times. */
const inputOf = ({ pumps, suffix }: AttackPattern, times: number): string =>
  pumps.map(({ prefix, pump }) => prefix + pump.repeat(times)).join("") + suffix

/** What is wrong with an expression that the analyser does not call safe; undefined where V8 takes linear time for it. */
const faultOf = (
  { at, flags, source }: Expression,
  verdict: Exclude<Diagnostics, { readonly status: "safe" }>
): string | undefined => {
  const shown = `${at} /${source}/${flags}`
  if (verdict.status === "unknown") return `${shown}: not analysed (${verdict.error.kind})`
  // That would not end.
  if (verdict.complexity.type === "exponential") return `${shown}: ${verdict.complexity.summary}`
  // The analysis is of engines in general; this one is asked for its own time, with longer and longer inputs of that kind.
  const expression = new RegExp(source, flags)
  for (let times = 50, length = 0; length < LONGEST; times *= 2) {
    const input = inputOf(verdict.attack, times)
    const cost = costOf(() => void input.replace(expression, ""))
    if (cost >= MOST_MS)
      return `${shown}: ${Math.round(cost)} ms for ${input.length} characters, ${verdict.attack.pattern}`
    length = input.length
  }
  return undefined
}

/**
 * The expressions of `src` that the analyser found safe, by their hashes: its verdict depends on the expression and on its own version
 * alone, and takes a third of a second each. A run outside continuous integration adds what it proved; `FRESH_EXPRESSIONS=1` trusts
 * nothing and analyses all of them again.
 */
const VERDICTS = fileURLToPath(new URL("expressions.json", import.meta.url))
const ANALYSER = String(createRequire(import.meta.url)("recheck/package.json").version)

const hashOf = ({ flags, source }: Expression): string =>
  createHash("sha256").update(`${flags}/${source}`).digest("base64url")

const knownSafe = (): Set<string> => {
  if (process.env["FRESH_EXPRESSIONS"] === "1" || !existsSync(VERDICTS)) return new Set()
  const { analyser, safe } = JSON.parse(readFileSync(VERDICTS, "utf8"))
  return new Set(analyser === ANALYSER ? safe : [])
}

/** What is wrong with the expressions that are not known to be safe; those found safe are added. */
const faults = async (expressions: ReadonlyArray<Expression>, safe: Set<string> = new Set()) => {
  const found: Array<string> = []
  for (const expression of expressions) {
    if (safe.has(hashOf(expression))) continue
    const verdict = await check(expression.source, expression.flags, { timeout: LONGEST_WAIT_MS })
    if (verdict.status === "safe") safe.add(hashOf(expression))
    else found.push(...[faultOf(expression, verdict)].filter((one) => one !== undefined))
  }
  return found
}

const root = fileURLToPath(new URL("../../", import.meta.url))
const known = new Map(
  readSourceFiles(root, ["src"])
    .flatMap(expressionsIn)
    .map((expression) => [`${expression.flags}/${expression.source}`, expression])
)

describe("every regular expression takes linear time, whatever it is given", () => {
  it("there are some to look at", () => expect(known.size).toBeGreaterThan(200))

  it("in src", async () => {
    const safe = knownSafe()
    expect(await faults([...known.values()], safe)).toEqual([])
    if (process.env["CI"] !== undefined) return
    const kept = [...known.values()].map(hashOf).filter((hash) => safe.has(hash))
    writeFileSync(VERDICTS, `${JSON.stringify({ analyser: ANALYSER, safe: kept.toSorted() }, null, 2)}\n`)
  })

  it.each([
    "const a = /\\/+$/",
    "const PART = '[a-z]*'; const a = new RegExp(`${PART}[a-z]*$`, 'g')",
    "const a = (name) => RegExp(`<${name} *( *)>`)",
    "const a = /^(?:a|a)*$/",
    "const a = /(?:\\.\\s?){4,}\\s*\\d?\\s*$/"
  ])("the look finds %s", async (text) => {
    expect(await faults(expressionsIn({ path: "x.ts", text }))).toHaveLength(1)
  })
})
