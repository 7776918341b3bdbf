import type { SourceFile } from "./source-files.ts"
import { type Import, syntaxOf } from "./syntax.ts"

/** An import that the architecture does not allow. */
export interface Violation {
  readonly path: string
  readonly line: number
  readonly specifier: string
  readonly rule: Rule
}

/** The message for each broken rule. */
export const RULES = {
  "domain-is-pure": "the domain imports only `effect`, the ports and itself",
  "one-network-parser": "`ipaddr.js` stands behind src/domain/networks.ts",
  "no-effect-io": "domain and ports import no part of `effect` that does input or output",
  "ports-are-types": "a port imports only `effect`, other ports and domain rules",
  "ports-know-no-service": "a port imports no domain service (a domain file that calls a port)",
  "adapters-stand-alone":
    "an adapter imports no other adapter's folder, but for src/adapters/aws, which AWS's clients share",
  "adapters-know-no-runtime": "an adapter does not import the runtime, which picks it",
  "adapter-has-a-folder": "an adapter stands in a folder of its own under src/adapters",
  "known-layer": "a source file stands in src/domain, src/ports, src/adapters or src/runtime",
  "source-stays-inside": "src imports no file outside src (the runtime may read package.json)",
  "package-is-declared": "a package that src imports is in package.json",
  "library-is-complete":
    "what the published package loads is bundled or a dependency; an optional one is left to the thread that needs it",
  "edge-has-no-node":
    "what src/runtime/edge.ts, edge-email.ts, functions.ts and client.ts reach runs without Node"
} as const
export type Rule = keyof typeof RULES

/** What the rules read in package.json. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  /** Optional: installed by those who use them. */
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The entries of the published package, library and command line; everything that they reach is shipped. */
const EDGE_ENTRIES = [
  "src/runtime/edge.ts",
  "src/runtime/functions.ts",
  "src/runtime/edge-email.ts",
  "src/runtime/client.ts"
]
const LIBRARY_ENTRIES = [
  "src/runtime/library.ts",
  "src/runtime/cli.ts",
  "src/runtime/lambda.ts",
  "src/runtime/pipeline.ts",
  "src/runtime/client-effect.ts",
  "src/runtime/resend.ts",
  "src/runtime/nodemailer.ts",
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

/** `domain`, `ports`, `adapters` or `runtime`; anything else under src is of no layer. */
const layerOf = (path: string) => /^src\/(domain|ports|adapters|runtime)\//.exec(path)?.[1]

/** The folder of an adapter: `postgres` for src/adapters/postgres/pool.ts; `undefined` for a file without one. */
const adapterOf = (path: string) => /^src\/adapters\/([^/]+)\//.exec(path)?.[1]

/** What the clients of one vendor's services share. */
const SHARED_BY_ADAPTERS = "aws"

type Graph = ReadonlyMap<string, ReadonlyArray<Import>>

/** Domain files that call a port, or use the values of one that does. */
const findServices = (graph: Graph): ReadonlySet<string> => {
  const services = new Set<string>()
  const uses = ({ target, typeOnly }: Import) =>
    !typeOnly && target !== undefined && (layerOf(target) === "ports" || services.has(target))
  for (let before = -1; before !== services.size;) {
    before = services.size
    for (const [path, imports] of graph)
      if (layerOf(path) === "domain" && imports.some(uses)) services.add(path)
  }
  return services
}

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

const domainRule = (path: string, { specifier, target }: Import): Rule | undefined => {
  if (target !== undefined) {
    const layer = layerOf(target)
    return layer === "domain" || layer === "ports" ? undefined : "domain-is-pure"
  }
  const name = packageOf(specifier)
  if (PARSERS.has(name)) return PARSERS.get(name) === path ? undefined : "one-network-parser"
  if (name !== "effect") return "domain-is-pure"
  return isPureEffect(specifier) ? undefined : "no-effect-io"
}

const portRule = (services: ReadonlySet<string>, { specifier, target }: Import): Rule | undefined => {
  if (target !== undefined) {
    if (services.has(target)) return "ports-know-no-service"
    const layer = layerOf(target)
    return layer === "domain" || layer === "ports" ? undefined : "ports-are-types"
  }
  if (packageOf(specifier) !== "effect") return "ports-are-types"
  return isPureEffect(specifier) ? undefined : "no-effect-io"
}

const adapterRule = (path: string, { target }: Import): Rule | undefined => {
  if (target === undefined) return undefined
  const layer = layerOf(target)
  if (layer === "runtime") return "adapters-know-no-runtime"
  const isForeign =
    layer === "adapters" && adapterOf(target) !== adapterOf(path) && adapterOf(target) !== SHARED_BY_ADAPTERS
  return isForeign ? "adapters-stand-alone" : undefined
}

const outsideRule = (path: string, { target }: Import): Rule | undefined => {
  if (target === undefined || target.startsWith("src/")) return undefined
  return layerOf(path) === "runtime" && target === "package.json" ? undefined : "source-stays-inside"
}

const packageRule = (
  manifest: Manifest,
  shipped: boolean,
  { specifier, target, typeOnly }: Import
): Rule | undefined => {
  if (target !== undefined || isBuiltin(specifier)) return undefined
  const name = packageOf(specifier)
  if (!(name in { ...manifest.dependencies, ...manifest.devDependencies })) return "package-is-declared"
  return shipped && !typeOnly && name in (manifest.peerDependencies ?? {}) ? "library-is-complete" : undefined
}

const edgeRule = ({ specifier, target, typeOnly }: Import): Rule | undefined => {
  if (target !== undefined || typeOnly || isEdgePlatform(specifier)) return undefined
  return EDGE_PACKAGES.has(packageOf(specifier)) ? undefined : "edge-has-no-node"
}

/**
 * Checks the imports of the files under src (architecture: `runtime → adapters → ports → domain rules`, and `domain
 * services → ports`). Imports of types count like any other, but for what is there at run time (the library, the edge).
 */
export const checkDependencies = (
  files: ReadonlyArray<SourceFile>,
  manifest: Manifest
): ReadonlyArray<Violation> => {
  const graph: Graph = new Map(files.map((file) => [file.path, syntaxOf(file).imports]))
  const services = findServices(graph)
  const library = reachableFrom(graph, LIBRARY_ENTRIES)
  const edge = reachableFrom(graph, EDGE_ENTRIES)

  const brokenBy = (path: string, one: Import): ReadonlyArray<Rule | undefined> => {
    const layer = layerOf(path)
    const outside = outsideRule(path, one)
    return [
      outside,
      outside === undefined && layer === "domain" ? domainRule(path, one) : undefined,
      outside === undefined && layer === "ports" ? portRule(services, one) : undefined,
      layer === "adapters" ? adapterRule(path, one) : undefined,
      packageRule(manifest, library.has(path), one),
      edge.has(path) ? edgeRule(one) : undefined
    ]
  }
  const misplaced = files.flatMap(({ path }): ReadonlyArray<Violation> => {
    const rule =
      layerOf(path) === undefined
        ? "known-layer"
        : layerOf(path) === "adapters" && adapterOf(path) === undefined
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
  return [...misplaced, ...broken]
}

/** A violation as a line for a terminal. */
export const describeViolation = ({ line, path, rule, specifier }: Violation): string =>
  `${path}:${line} imports "${specifier}": ${RULES[rule]} [${rule}]`
