import type { SourceFile } from "./source-files.ts"
import { type Import, syntaxOf } from "./syntax.ts"

/** An import that the architecture does not allow. */
export interface Violation {
  readonly path: string
  readonly line: number
  readonly specifier: string
  readonly rule: Rule
}

/** The rings, and what each may import by its folder; `model` is `src/reader/model`, the words of documents, which all may name. */
const ARROWS = {
  domain: ["domain", "model"],
  ports: ["ports", "domain", "model"],
  application: ["application", "ports", "domain", "reader", "model"],
  reader: ["reader", "model"],
  model: ["model"],
  adapters: ["adapters", "application", "ports", "domain", "reader", "model"],
  runtime: ["runtime", "adapters", "application", "ports", "domain", "reader", "model"]
} as const
type Ring = keyof typeof ARROWS

/** Rings whose areas may not import one another in a circle. */
const WITHOUT_CIRCLES: ReadonlyArray<Ring> = ["domain", "ports", "application", "reader"]

/** The message for each broken rule. */
export const RULES = {
  "domain-is-pure": "the domain imports only `effect`, the words of src/reader/model and itself",
  "domain-does-nothing":
    "the domain has no effects, services, clock or chance: such a file stands in src/application",
  "ports-are-types": "a port imports only `effect`, other ports, the domain and src/reader/model",
  "application-is-inside": "src/application imports `effect`, ports, the domain, the reader and itself",
  "reader-stands-alone": "src/reader is a library of its own: it imports nothing of the other folders",
  "model-is-words": "src/reader/model holds words, not stages: it imports nothing of the rest of the reader",
  "adapters-know-no-runtime": "an adapter does not import the runtime, which picks it",
  "no-circles": "no two areas of a ring import each other",
  "one-network-parser": "`ipaddr.js` stands behind src/domain/networks.ts",
  "no-effect-io": "domain, ports and application import no part of `effect` that does input or output",
  "adapters-stand-alone":
    "an adapter imports no other adapter's folder, but for src/adapters/aws, which AWS's clients share, and src/adapters/mime",
  "adapter-has-a-folder": "an adapter stands in a folder of its own under src/adapters",
  "known-ring": "a source file stands in a folder of a ring under src",
  "source-stays-inside": "src imports no file outside src (the runtime may read package.json)",
  "package-is-declared": "a package that src imports is in package.json",
  "library-is-complete":
    "what the published package loads is bundled or comes with it; an optional one is left to the thread that needs it",
  "edge-has-no-node": "what the entries edge, edge-email, functions and client reach runs without Node"
} as const
export type Rule = keyof typeof RULES

/** What the rules read in package.json. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  /** Installed by those who use them. */
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>
}

/** The entries of the published package, library and command line; everything that they reach is shipped. */
const EDGE_ENTRIES = [
  "src/runtime/entries/edge.ts",
  "src/runtime/entries/functions.ts",
  "src/runtime/entries/edge-email.ts",
  "src/runtime/entries/client.ts"
]
const LIBRARY_ENTRIES = [
  "src/runtime/entries/library.ts",
  "src/runtime/entries/cli.ts",
  "src/runtime/entries/lambda.ts",
  "src/runtime/entries/pipeline.ts",
  "src/runtime/entries/reader.ts",
  "src/runtime/entries/client-effect.ts",
  "src/runtime/entries/effect.ts",
  "src/runtime/entries/resend.ts",
  "src/runtime/entries/nodemailer.ts",
  "src/runtime/entries/testing.ts",
  ...EDGE_ENTRIES
]

/** What the edge may import besides our own files: packages that run in `workerd`, as the test in test/edge shows. */
const EDGE_PACKAGES = new Set([
  "@effect/sql-pg",
  "effect",
  "jose",
  "parse5",
  "jose",
  "postal-mime",
  "resend",
  "standardwebhooks",
  "@aws-sdk/client-sesv2",
  "@aws-sdk/client-sqs"
])
const isEdgePlatform = (specifier: string) => specifier.startsWith("cloudflare:")

/** The parsers that the domain uses, and the one file behind which each stands. */
const PARSERS: ReadonlyMap<string, string> = new Map([["ipaddr.js", "src/domain/networks.ts"]])

/** The folders of `effect` that hold data and pure functions; its top-level modules (`effect/Schema`) do as well. */
const PURE_EFFECT_FOLDERS = new Set(["crypto", "encoding"])

const packageOf = (specifier: string) =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

const isPureEffect = (specifier: string) => {
  const [, part] = specifier.split("/")
  return part === undefined || /^[A-Z]/.test(part) || PURE_EFFECT_FOLDERS.has(part)
}

const isBuiltin = (specifier: string) => /^[a-z]+:/.test(specifier)

const isRing = (name: string): name is Ring => name in ARROWS && name !== "model"

/** The ring that a path stands in; anything else under src is of none. */
const ringOf = (path: string): Ring | undefined => {
  if (path.startsWith("src/reader/model/")) return "model"
  const [, name = ""] = /^src\/([^/]+)\//.exec(path) ?? []
  return isRing(name) ? name : undefined
}

/** The area of a ring that a file stands in: the folder in the ring, in the reader the innermost one. Undefined for a file of the ring itself. */
const areaOf = (path: string, ring: Ring) =>
  (ring === "reader" ? /^src\/reader\/(.+)\/[^/]+$/ : /^src\/[^/]+\/([^/]+)\//).exec(path)?.[1]

/** The folder of an adapter: `postgres` for src/adapters/postgres/pool.ts; `undefined` for a file without one. */
const adapterOf = (path: string) => /^src\/adapters\/([^/]+)\//.exec(path)?.[1]

/** What the clients of one vendor's services share, and the composer of mails. */
const SHARED_BY_ADAPTERS: ReadonlySet<string | undefined> = new Set(["aws", "mime"])

type Graph = ReadonlyMap<string, ReadonlyArray<Import>>

/** The files that are there at run time once these entries are loaded. */
const reachableFrom = (graph: Graph, entries: ReadonlyArray<string>): ReadonlySet<string> => {
  const reached = new Set<string>()
  const pending = entries.filter((entry) => graph.has(entry))
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const { target, typeOnly } of graph.get(path) ?? [])
      if (!typeOnly && target !== undefined) pending.push(target)
  }
  return reached
}

/** Names of `effect` that stand for something that happens, and not for data. */
const DOING = new Set([
  "Clock",
  "Context",
  "Deferred",
  "Effect",
  "Fiber",
  "Latch",
  "Layer",
  "Metric",
  "PubSub",
  "Queue",
  "Random",
  "Ref",
  "Schedule",
  "Scope",
  "Semaphore",
  "Stream",
  "Tracer"
])

/** The rule that an arrow out of each ring breaks where {@link ARROWS} has no such arrow. */
const WRONG_WAY: Readonly<Record<Ring, Rule>> = {
  domain: "domain-is-pure",
  ports: "ports-are-types",
  application: "application-is-inside",
  reader: "reader-stands-alone",
  model: "model-is-words",
  adapters: "adapters-know-no-runtime",
  runtime: "known-ring"
}

const arrowRule = (ring: Ring, { target = "" }: Import): Rule | undefined => {
  const to = ringOf(target)
  if (to === undefined) return WRONG_WAY[ring]
  const allowed: ReadonlyArray<Ring> = ARROWS[ring]
  return allowed.includes(to) ? undefined : WRONG_WAY[ring]
}

/** Packages in the rings that know no technology. */
const innerPackageRule = (
  path: string,
  ring: "domain" | "ports" | "application",
  { names, specifier, typeOnly }: Import
): Rule | undefined => {
  const name = packageOf(specifier)
  if (PARSERS.has(name)) return PARSERS.get(name) === path ? undefined : "one-network-parser"
  if (name !== "effect") return WRONG_WAY[ring]
  if (!isPureEffect(specifier)) return "no-effect-io"
  const [, module = ""] = specifier.split("/")
  const acts = !typeOnly && ring === "domain" && [module, ...(names ?? [])].some((one) => DOING.has(one))
  return acts ? "domain-does-nothing" : undefined
}

const ringRule = (path: string, ring: Ring, one: Import): Rule | undefined => {
  if (one.target !== undefined) return arrowRule(ring, one)
  return ring === "domain" || ring === "ports" || ring === "application"
    ? innerPackageRule(path, ring, one)
    : undefined
}

const adapterRule = (path: string, { target }: Import): Rule | undefined => {
  if (target === undefined || ringOf(target) !== "adapters") return undefined
  return adapterOf(target) !== adapterOf(path) && !SHARED_BY_ADAPTERS.has(adapterOf(target))
    ? "adapters-stand-alone"
    : undefined
}

/** The areas that a ring's areas import, by the first file that does. */
const usesOf = (graph: Graph, ring: Ring): ReadonlyMap<string, ReadonlyMap<string, Violation>> => {
  const uses = new Map<string, Map<string, Violation>>()
  for (const [path, imports] of graph) {
    const from = ringOf(path) === ring ? areaOf(path, ring) : undefined
    if (from === undefined) continue
    const used = uses.get(from) ?? new Map<string, Violation>()
    uses.set(from, used)
    for (const { line, specifier, target = "" } of imports) {
      const to = ringOf(target) === ring ? areaOf(target, ring) : undefined
      if (to !== undefined && to !== from && !used.has(to))
        used.set(to, { path, line, specifier, rule: "no-circles" })
    }
  }
  return uses
}

/** For each pair of areas in a circle, however long the way round, the import that closes it. */
const findCircles = (graph: Graph, ring: Ring): ReadonlyArray<Violation> => {
  const uses = usesOf(graph, ring)
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(uses.get(from)?.keys() ?? [])].some((next) => {
      if (next === to) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, to, seen)
    })
  return [...uses].flatMap(([from, used]) =>
    [...used].flatMap(([to, violation]) => (reaches(to, from) ? [violation] : []))
  )
}

const outsideRule = (path: string, { target }: Import): Rule | undefined => {
  if (target === undefined || target.startsWith("src/")) return undefined
  return ringOf(path) === "runtime" && target === "package.json" ? undefined : "source-stays-inside"
}

/** A file outside of src that may be read: {@link outsideRule} has judged it. */
const isOutside = ({ target }: Import) => target !== undefined && !target.startsWith("src/")

const packageRule = (
  manifest: Manifest,
  shipped: boolean,
  { specifier, target, typeOnly }: Import
): Rule | undefined => {
  if (target !== undefined || isBuiltin(specifier)) return undefined
  const name = packageOf(specifier)
  if (!(name in { ...manifest.dependencies, ...manifest.devDependencies })) return "package-is-declared"
  return shipped && !typeOnly && name in (manifest.peerDependenciesMeta ?? {})
    ? "library-is-complete"
    : undefined
}

const edgeRule = ({ specifier, target, typeOnly }: Import): Rule | undefined => {
  if (target !== undefined || typeOnly || isEdgePlatform(specifier)) return undefined
  return EDGE_PACKAGES.has(packageOf(specifier)) ? undefined : "edge-has-no-node"
}

/**
 * Checks the imports of the files under src (architecture: `runtime → adapters → application → ports → domain`, and
 * `adapters → reader`). Imports of types count like any other, but for what is there at run time (the library, the edge).
 */
export const checkDependencies = (
  files: ReadonlyArray<SourceFile>,
  manifest: Manifest
): ReadonlyArray<Violation> => {
  const graph: Graph = new Map(files.map((file) => [file.path, syntaxOf(file).imports]))
  const library = reachableFrom(graph, LIBRARY_ENTRIES)
  const edge = reachableFrom(graph, EDGE_ENTRIES)

  const brokenBy = (path: string, one: Import): ReadonlyArray<Rule | undefined> => {
    const ring = ringOf(path)
    const outside = outsideRule(path, one)
    return [
      outside,
      outside === undefined && ring !== undefined && !isOutside(one) ? ringRule(path, ring, one) : undefined,
      ring === "adapters" ? adapterRule(path, one) : undefined,
      packageRule(manifest, library.has(path), one),
      edge.has(path) ? edgeRule(one) : undefined
    ]
  }
  const misplaced = files.flatMap(({ path }): ReadonlyArray<Violation> => {
    const rule =
      ringOf(path) === undefined
        ? "known-ring"
        : ringOf(path) === "adapters" && adapterOf(path) === undefined
          ? "adapter-has-a-folder"
          : undefined
    return rule === undefined ? [] : [{ path, line: 1, specifier: path, rule }]
  })
  const broken = [...graph].flatMap(([path, imports]) =>
    imports.flatMap((one) =>
      brokenBy(path, one)
        .filter((rule) => rule !== undefined)
        .map((rule): Violation => ({ path, line: one.line, specifier: one.specifier, rule }))
    )
  )
  return [...misplaced, ...broken, ...WITHOUT_CIRCLES.flatMap((ring) => findCircles(graph, ring))]
}

/** A violation as a line for a terminal. */
export const describeViolation = ({ line, path, rule, specifier }: Violation): string =>
  `${path}:${line} imports "${specifier}": ${RULES[rule]} [${rule}]`
