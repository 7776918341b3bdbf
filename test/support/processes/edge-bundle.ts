import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

import { build } from "esbuild"

import { onEdge } from "../../../scripts/bundle.ts"

/** A bundle as a deployment to workerd makes it, and what is in it. */
export interface EdgeBundle {
  readonly script: string
  /** Every source file in it, as esbuild names them. */
  readonly inputs: ReadonlyArray<string>
  /** Every module that the runtime has to have. */
  readonly externals: ReadonlyArray<string>
  /** Gzipped: what is uploaded. */
  readonly packedBytes: number
}

/**
 * Bundles a module for workerd, with the settings that Cloudflare's own bundler uses: our files as the package's build does, or, for
 * what imports the package, as a stranger's bundler does for a condition.
 */
export const bundleForEdge = async (entry: URL, condition?: string): Promise<EdgeBundle> => {
  const stranger = { conditions: [condition ?? "", "browser"], plugins: [] }
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    ...onEdge,
    ...(condition === undefined ? {} : stranger),
    external: ["node:*", "cloudflare:*"],
    minify: true,
    outfile: "worker.js",
    logLevel: "error"
  })
  const script = outputFiles[0]?.text ?? ""
  const output = Object.values(metafile.outputs)[0]
  return {
    script,
    inputs: Object.keys(output?.inputs ?? {}),
    externals: [...new Set((output?.imports ?? []).map(({ path }) => path))].sort(),
    packedBytes: gzipSync(script).length
  }
}
