/**
 * Builds the publishable package: `npm run build`, or `node scripts/build.ts FOLDER` for another place than `dist`. Types are the
 * compiler's; the code is bundled, so that the commands need no package, the library none but `effect`, and both start fast.
 */
import { spawnSync } from "node:child_process"
import {
  existsSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import { bundlePackage, compress, copyAssets, required, root } from "./bundle.ts"
import { noticesOf, packageFolder } from "./notices.ts"
import { syntaxOf } from "./syntax.ts"

const dist = resolve(process.argv[2] ?? join(root, "dist"))
const outdir = join(dist, "runtime/entries")

/** Runs in browsers, too. */
const EVERYWHERE = "client-effect"

const LIBRARY = [
  "library",
  "pipeline",
  "reader",
  "lambda",
  "resend",
  "nodemailer",
  EVERYWHERE,
  "effect",
  "testing"
]
const EDGE = ["edge", "edge-email", "functions", "client"]
/** Throws on a Node that is too old. */
const NEEDS_NODE = "src/runtime/process/node/needs-node.ts"
/** Files that the code reads beside its modules. */
const FILES = ["@neslinesli93/qpdf-wasm/package.json", "@neslinesli93/qpdf-wasm/dist/qpdf.js"]
const CLIENTS = "caniemail/caniemail.json"
/** Those that it reads compressed (src/reader/sources/pdf/engine/binary.ts). */
const COMPRESSED = [
  "@embedpdf/pdfium/pdfium.wasm",
  "@neslinesli93/qpdf-wasm/dist/qpdf.wasm",
  "axe-core/axe.min.js",
  CLIENTS
]

/** Of the table of mail clients what is read (src/adapters/message-view/client-support.ts): most of it is prose. */
const shortenedClients = (file: Buffer) => {
  const { data, last_update_date, nicenames } = JSON.parse(file.toString()) as {
    readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly last_update_date: string
    readonly nicenames: unknown
  }
  const features = data.map(({ category, stats, title, url }) => ({ title, category, url, stats }))
  return Buffer.from(JSON.stringify({ last_update_date, nicenames, data: features }))
}

const runtimeFiles = (names: ReadonlyArray<string>) => names.map((name) => `src/runtime/entries/${name}.ts`)

/**
 * The types of Resend's SDK, whose members the drop-in carries, stand in the package: the SDK is bundled, and an app with the drop-in
 * need have neither it nor React.
 */
const carryResendTypes = () => {
  const copy = join(dist, "adapters/drop-ins/resend-sdk.d.ts")
  const types = readFileSync(fileURLToPath(import.meta.resolve("resend")).replace(/\.mjs$/, ".d.mts"), "utf8")
  writeFileSync(
    copy,
    types
      .replace(/^import .* from "react";\n/m, "")
      .replaceAll(/\bReact(?:\$1)?\.ReactNode\b/g, "unknown")
      .replaceAll(/\bBuffer\b/g, "Uint8Array")
  )
  for (const name of ["runtime/entries/resend.d.ts", "adapters/drop-ins/resend-vendor.d.ts"]) {
    const path = join(dist, name)
    const sdk = name.startsWith("runtime/") ? "../../adapters/drop-ins/resend-sdk.ts" : "./resend-sdk.ts"
    writeFileSync(path, readFileSync(path, "utf8").replaceAll('from "resend"', `from "${sdk}"`))
  }
}

/** The declarations that the entries lead to, and no others. `unwritten`: the compiler's reasons for those that are missing. */
const pruneTypes = (unwritten: ReadonlyArray<string>) => {
  const kept = new Set<string>()
  const pending = [...LIBRARY, ...EDGE].map((name) => join(outdir, `${name}.d.ts`))
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (kept.has(path)) continue
    kept.add(path)
    if (!existsSync(path)) throw new Error([`${path} could not be written`, ...unwritten].join("\n"))
    for (const { specifier, target } of syntaxOf({ path, text: readFileSync(path, "utf8") }).imports)
      if (target !== undefined) pending.push(target.replace(/\.[jt]s$/, ".d.ts"))
      else if (!required.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        throw new Error(`${path} names types of ${specifier}, which does not come with the package`)
  }
  for (const name of readdirSync(dist, { encoding: "utf8", recursive: true }))
    if (name.endsWith(".d.ts") && !kept.has(join(dist, name))) rmSync(join(dist, name))
}

/** Modules run in the order of their imports. The bundler keeps none, so this one is added last; on the same line, for the source map. */
const refuseOldNode = (path: string) =>
  writeFileSync(path, `import"./${basename(NEEDS_NODE, ".ts")}.js";${readFileSync(path, "utf8")}`)

/** Errors 4000 to 4999: a declaration that cannot be written, which matters where the package leads to it. */
const UNWRITTEN = /: error TS4\d{3}: /

/** Writes the declarations, without checking the code (`npm run check` does); reports what the compiler objects to. */
const writeTypes = (): ReadonlyArray<string> => {
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  // More threads write nothing faster here: each infers the same types.
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, "--project", join(root, "tsconfig.build.json"), "--outDir", dist, "--singleThreaded"],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  return stdout.split("\n").filter((line) => /error TS/.test(line))
}

const main = async () => {
  rmSync(dist, { recursive: true, force: true })
  const reported = writeTypes()
  const unwritten = reported.filter((line) => UNWRITTEN.test(line))
  const errors = reported.filter((line) => !UNWRITTEN.test(line))
  if (errors.length > 0) {
    console.error(errors.join("\n"))
    return 1
  }
  carryResendTypes()
  pruneTypes(unwritten)
  const inputs = await bundlePackage(outdir, {
    library: [...runtimeFiles(LIBRARY), NEEDS_NODE],
    edge: runtimeFiles(EDGE)
  })
  for (const name of LIBRARY.filter((one) => one !== EVERYWHERE)) refuseOldNode(join(outdir, `${name}.js`))
  chmodSync(join(outdir, "cli.js"), 0o755)
  for (const file of FILES) {
    const copy = join(outdir, "files", file)
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(fileURLToPath(import.meta.resolve(file)), copy)
  }
  for (const file of COMPRESSED) {
    const copy = join(outdir, "files", `${file}.zst`)
    const whole = readFileSync(fileURLToPath(import.meta.resolve(file)))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, compress(file === CLIENTS ? shortenedClients(whole) : whole))
  }
  copyAssets(outdir)
  const copied = [...FILES, ...COMPRESSED].map((file) => join("node_modules", file))
  writeFileSync(join(dist, "NOTICES.txt"), noticesOf(root, [...inputs, ...copied].map(packageFolder)))
  return 0
}

process.exitCode = await main()
