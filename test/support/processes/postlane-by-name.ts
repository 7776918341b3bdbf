/** Loaded by `--import`: the package's own name leads to its source, as in an installation it leads to its build. */
import { registerHooks } from "node:module"

const source = (name: string) => new URL(`../../../src/runtime/${name}.ts`, import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) => {
    const part = /^postlane(?:\/(.+))?$/.exec(specifier)
    if (part === null) return next(specifier, context)
    return next(
      source(part[1] === undefined ? "library" : part[1].replace("client/effect", "client-effect")),
      context
    )
  }
})
