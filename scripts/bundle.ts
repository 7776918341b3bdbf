import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { constants, zstdCompressSync } from "node:zlib"

import { build, type BuildOptions, type Plugin } from "esbuild"

import { keepMaps, ownMaps, peer } from "./peer.ts"

export const root = fileURLToPath(new URL("..", import.meta.url))

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}
/** What is installed beside the package only by those who use it. */
const optional = Object.keys(manifest.peerDependenciesMeta)
/** What comes with the package: `effect`, in the version of its user where that has one. */
export const required = Object.keys(manifest.peerDependencies).filter((name) => !optional.includes(name))

/** The command line, and what runs in threads and processes of its own. All stand in one folder, where they find each other. */
const PROGRAMS = [
  "src/runtime/entries/cli.ts",
  "src/adapters/pdf/pdf-worker.ts",
  "src/adapters/html/html-worker.ts",
  "src/adapters/tesseract/tesseract-worker.ts",
  "src/adapters/reader-process/reader-child.ts",
  "src/adapters/docx/docx-reader.ts",
  "src/adapters/postal-mime/mail-reader-program.ts",
  "src/adapters/postal-mime/submission-program.ts",
  "src/adapters/postal-mime/return-program.ts",
  "src/adapters/message-view/message-view-program.ts"
]

const common: BuildOptions = {
  absWorkingDir: root,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  metafile: true,
  legalComments: "none",

  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "error"
}
/** Of what others import: under `--enable-source-maps` a stack trace names our files and lines. */
const mapped = { sourcemap: "linked", sourcesContent: false } satisfies BuildOptions
const onNode: BuildOptions = {
  ...common,
  platform: "node",
  target: "node22",
  // Packages that were written as CommonJS ask for Node's modules by `require`.
  banner: {
    js: 'import{createRequire as makeRequire}from"node:module";const require=makeRequire(import.meta.url);'
  },
  define: { "import.meta.resolve": "resolveFile" },
  inject: [join(root, "scripts/bundled-files.ts")]
}

/**
 * On the edge Node's modules are asked for once they are needed, and are no imports: the database driver alone needs them, and where
 * there is no database the bundle runs on every platform with `fetch`.
 */
const nodeWhereItIsThere: Plugin = {
  name: "node-where-it-is-there",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "node" }))
    bundler.onLoad({ filter: /.*/, namespace: "node" }, ({ path }) => ({
      contents: `const found = globalThis.process?.getBuiltinModule?.(${JSON.stringify(path)})
if (found === undefined) throw new Error("A database needs ${path}, which is not there: on Cloudflare Workers set the flag nodejs_compat; elsewhere leave DB_URL out")
module.exports = found`
    }))
  }
}

/** The conditions and fields that Cloudflare's own bundler chooses by. */
export const onEdge = {
  platform: "browser",
  target: "es2024",
  mainFields: ["browser", "module", "main"],
  conditions: ["workerd", "worker", "browser"],
  plugins: [nodeWhereItIsThere]
} satisfies BuildOptions

const withParts = (names: ReadonlyArray<string>) => names.flatMap((name) => [name, `${name}/*`])

/** Effect's other page of an API comes along with the one that is served, 2 MB that nothing asks for. */
const outside = ["*/httpApiSwagger.js", ...withParts(optional)]

/** Once, at the build: as small as it gets. */
export const compress = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 22 } })

/** The script of `/docs`, 3 MB of text that is read once: it stands beside the bundle, compressed. */
const scalarBeside = (outdir: string): Plugin => ({
  name: "scalar-beside",
  setup: (bundler) => {
    bundler.onLoad({ filter: /internal\/httpApiScalar\.js$/ }, async ({ path }) => {
      const { javascript } = (await import(pathToFileURL(path).href)) as { readonly javascript: string }
      const file = "files/scalar.js.zst"
      mkdirSync(join(outdir, "files"), { recursive: true })
      writeFileSync(join(outdir, file), compress(Buffer.from(javascript)))
      return {
        contents: `import { readFileSync } from "node:fs"
import { zstdDecompressSync } from "node:zlib"
export const javascript = zstdDecompressSync(readFileSync(new URL(${JSON.stringify(file)}, import.meta.url))).toString("utf8")`
      }
    })
  }
})

/** Bundles the programs, and others that are to stand beside them. */
export const bundlePrograms = (outdir: string, others: ReadonlyArray<string> = []) =>
  build({ ...onNode, outdir, entryPoints: [...PROGRAMS, ...others], external: outside })

/** Bundles the programs, and what others import on Node and on the edge: the paths of all that is in them. */
export const bundlePackage = async (
  outdir: string,
  { edge, library }: { readonly edge: ReadonlyArray<string>; readonly library: ReadonlyArray<string> }
): Promise<ReadonlyArray<string>> => {
  const [onServers, onEdges] = await Promise.all([
    build({
      ...onNode,
      ...mapped,
      outdir,
      entryPoints: [...PROGRAMS, ...library].map((path) => ({ in: path, out: basename(path, ".ts") })),
      external: outside,
      plugins: [scalarBeside(outdir), peer(library), ownMaps]
    }),
    build({
      ...common,
      ...onEdge,
      ...mapped,
      outdir,
      entryPoints: [...edge],
      external: ["cloudflare:*", ...withParts(required)],
      plugins: [...onEdge.plugins, ownMaps]
    })
  ])
  return [...keepMaps(onServers.metafile!), ...keepMaps(onEdges.metafile!, "src/")]
}

/** The files of the pages, which the server reads beside its bundle. */
export const copyAssets = (outdir: string) =>
  cpSync(join(root, "src/adapters/http/pages/assets"), join(outdir, "assets"), {
    recursive: true,
    filter: (source) => !source.endsWith(".json")
  })
