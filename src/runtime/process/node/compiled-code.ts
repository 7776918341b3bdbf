import nodeModule from "node:module"
import { dirname } from "node:path"

/**
 * Keeps compiled code between starts, which makes the next one three times as fast: called before anything else is loaded. The
 * variable tells threads, whose environment is their own, to keep theirs in the same place; Node takes an empty one there for nowhere.
 */
export const keepCompiledCode = (): void => {
  // The default export, since an old Node lacks the functions, and would end at the import.
  nodeModule.enableCompileCache()
  const folder = nodeModule.getCompileCacheDir()
  if (folder !== undefined) process.env["NODE_COMPILE_CACHE"] = dirname(folder)
}
