import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** What compiled code is kept in, and the bundles. */
export const COMPILED = fileURLToPath(new URL("../../../node_modules/.cache/postlane-tests", import.meta.url))

/** Where the global setup writes the bundles of what tests start as processes and threads. */
export const PROGRAMS = join(COMPILED, "package/dist/runtime/entries")

/** How a module names the thread or process that it starts, which stands beside it from source and from a build. */
const BESIDE =
  /new URL\(\s*import\.meta\.url\.endsWith\("\.ts"\) \? "\.\/([\w-]+)\.ts" : "\.\/\1\.js",\s*import\.meta\.url\s*\)/g

/**
 * Threads and child processes of the code under test run their bundles, as they do in the package: from source each start compiles
 * every module, without a cache as their environment is empty, three times the processor time.
 */
export const bundledThreads = {
  name: "postlane-bundled-threads",
  enforce: "pre" as const,
  transform: (code: string) =>
    code.includes("import.meta.url.endsWith")
      ? code.replaceAll(
          BESIDE,
          (_, name: string) => `new URL(${JSON.stringify(pathToFileURL(join(PROGRAMS, `${name}.js`)).href)})`
        )
      : undefined
}
