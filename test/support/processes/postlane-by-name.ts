/** Loaded by `--import`: the package's own name leads to its source or that one's bundle, as in an installation to its build. */
import { registerHooks } from "node:module"
import { pathToFileURL } from "node:url"

import { programOf } from "./child.ts"

const source = (name: string) => pathToFileURL(programOf(`src/runtime/entries/${name}.ts`)).href

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
