import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

import { build } from "esbuild"

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

/** Bundles a module for workerd, with the settings that Cloudflare's own bundler uses. */
export const bundleForEdge = async (entry: URL): Promise<EdgeBundle> => {
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    platform: "browser",
    mainFields: ["browser", "module", "main"],
    conditions: ["workerd", "worker", "browser"],
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
