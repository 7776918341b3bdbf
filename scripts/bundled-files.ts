// Takes the place of `import.meta.resolve` in a bundle: what was copied beside it, else what is installed.
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

export const resolveFile = (specifier: string): string => {
  const copied = ["", ".zst"].map((ending) => new URL(`files/${specifier}${ending}`, import.meta.url))
  const found = copied.find((file) => existsSync(file))
  return (found ?? pathToFileURL(createRequire(import.meta.url).resolve(specifier))).href
}
