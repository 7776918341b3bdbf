import { readFileSync } from "node:fs"

import { assert, describe, it } from "vitest"

import { blocking } from "../../scripts/generate-python-client.ts"

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
const asynchronous = textOf("clients/python/src/postlane/_async.py")
const methodsOf = (text: string) =>
  [...text.matchAll(/^ {4}(?:async )?def (\w+)\(/gm)].map(([, name]) => name)

/** Routes without the names of their parameters. */
const bare = (path: string) => path.replaceAll(/\{[^}]*\}/g, "{}")

describe("the Python client", () => {
  it("that blocks is the one for asyncio, without a word of waiting", () => {
    const made = blocking(asynchronous)
    assert.strictEqual(textOf("clients/python/src/postlane/_sync.py"), made)
    assert.notMatch(made.replace(/^""".*$/m, ""), /async|await/i)
    const plain = methodsOf(asynchronous).map((name) => name?.replace("__a", "__"))
    assert.deepStrictEqual(methodsOf(made), plain)
  })

  it("asks for routes of the API", () => {
    const { paths } = JSON.parse(textOf("public/openapi.json")) as { readonly paths: object }
    const known = new Set(Object.keys(paths).map(bare))
    const asked = [
      ...textOf("clients/python/src/postlane/_calls.py").matchAll(/"(\/(?:api|internal)\/[^"]*)"/g)
    ].map(([, path = ""]) => bare(path))
    assert.isAbove(asked.length, 10)
    for (const path of asked) assert.isTrue(known.has(path), path)
  })
})
