import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, dirname, extname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import type { Loader, Metafile, OnLoadResult, OnResolveResult, Plugin } from "esbuild"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Modules of the half that takes `effect` from where it is installed; their paths are those in the checkout. */
const PEER = "peer"

/** What asks for `effect` itself: our code, and Effect's other packages. All else is the same in both halves. */
const USES_EFFECT = /^(?:src|node_modules\/@effect)\//

const LOADERS: Readonly<Record<string, Loader>> = { ".ts": "ts", ".json": "json" }

/**
 * Bundles commands and library at once, so that what both need of other packages is there once. A command has `effect` in it, of the
 * version that its tests ran on. The library's has to be that of its user, for whose code its services and errors are values.
 */
export const peer = (library: ReadonlyArray<string>): Plugin => {
  const entries = new Set(library)
  const ours = (path: string): OnResolveResult => ({ path, namespace: PEER })
  return {
    name: PEER,
    setup: (bundler) => {
      bundler.onResolve({ filter: /^\.\/src\// }, ({ kind, path }) =>
        kind === "entry-point" && entries.has(path.slice(2)) ? ours(path.slice(2)) : undefined
      )
      bundler.onResolve({ filter: /.*/, namespace: PEER }, async ({ kind, path, resolveDir, with: type }) => {
        if (path === "effect" || path.startsWith("effect/")) return { path, external: true }
        const found = await bundler.resolve(path, { kind, resolveDir, with: type })
        if (found.errors.length > 0 || found.external) return found
        const place = relative(root, found.path)
        return USES_EFFECT.test(place)
          ? { ...ours(place), sideEffects: found.sideEffects }
          : { path: found.path, namespace: found.namespace, sideEffects: found.sideEffects }
      })
      bundler.onLoad({ filter: /.*/, namespace: PEER }, async ({ path }): Promise<OnLoadResult> => {
        const file = join(root, path)
        const text = await readFile(file, "utf8")
        return {
          contents: path.startsWith("src/") ? text : withoutMap(text),
          loader: LOADERS[extname(path)] ?? "js",
          resolveDir: dirname(file)
        }
      })
    }
  }
}

/** A map that names the file and no place in it: the bundler takes one without any for none. */
const NO_MAP = `//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3,"sources":["package"],"mappings":"AAAA"}').toString("base64")}`
const withoutMap = (text: string): string => `${text}\n${NO_MAP}`

/** Leaves other packages out of the maps: nobody has their sources as they were built. */
export const ownMaps: Plugin = {
  name: "own-maps",
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: withoutMap(await readFile(path, "utf8")),
      loader: "js"
    }))
  }
}

/** A source as the published map names it: ours by its path in the package's checkout, wherever it is built. */
const published = (map: string, source: string): string => {
  const path = source.startsWith(`${PEER}:`)
    ? source.slice(PEER.length + 1)
    : relative(root, resolve(dirname(map), source))
  return path.startsWith("src/") ? `../../../${path}` : "package"
}

/**
 * Of the maps only those of what others import stay: those of the commands would weigh four times as much. Gives the paths of all that
 * was bundled. `kept`: how the path of a module begins that has its place in a map.
 */
export const keepMaps = ({ inputs, outputs }: Metafile, kept = `${PEER}:src/`): ReadonlyArray<string> => {
  for (const [path, output] of Object.entries(outputs)) {
    if (!path.endsWith(".js")) continue
    const [code, map] = [join(root, path), join(root, `${path}.map`)]
    if (Object.keys(output.inputs).some((input) => input.startsWith(kept))) {
      const read = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: ReadonlyArray<string> }
      const sources = read.sources.map((source) => published(map, source))
      writeFileSync(map, JSON.stringify({ ...read, sources }))
    } else {
      writeFileSync(code, readFileSync(code, "utf8").replace(`//# sourceMappingURL=${basename(map)}\n`, ""))
      rmSync(map)
    }
  }
  return Object.keys(inputs).map((input) => input.replace(`${PEER}:`, ""))
}
