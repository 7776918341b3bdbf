/** What `postlane/effect` and `postlane/client/effect` export is documented as Effect's own packages are. */
import { readFileSync } from "node:fs"

import { assert, it } from "vitest"

const EXPORTS = /export (?:type )?\{([^}]+)\} from "([^"]+)"/g
const DOCUMENTED =
  /\/\*\*\n(?: \*[^\n]*\n)*? \* @since \d+\.\d+\.\d+\n \* @category [a-z]+\n \*\/\nexport (?:abstract )?(?:class|const|type|interface) (\w+)/g

it.each(["effect", "client-effect"])(
  "each export of %s says since when it is there, and what it is",
  (entry) => {
    const file = new URL(`../../../src/runtime/entries/${entry}.ts`, import.meta.url)
    const text = readFileSync(file, "utf8")
    const exported = [...text.matchAll(EXPORTS)].flatMap(([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => /(\w+)(?: as \w+)?$/.exec(name.trim().replace(/^(?:type )?(\w+) as \w+$/, "$1"))?.[1])
        .filter((name) => name !== undefined)
        .map((name) => ({ name, from }))
    )
    assert.isAtLeast(exported.length, 5)
    const undocumented = exported.filter(({ from, name }) => {
      const source = readFileSync(new URL(from, file), "utf8")
      return ![...source.matchAll(DOCUMENTED)].some(([, documented]) => documented === name)
    })
    assert.deepStrictEqual(undocumented, [])
  }
)
