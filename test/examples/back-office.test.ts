import { readFileSync } from "node:fs"

import { assert, it } from "vitest"

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** What stands between the bracket that opens at a place and the one that closes it. */
const within = (text: string, from: number): string => {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if ("([{".includes(text[at]!)) depth += 1
    if (")]}".includes(text[at]!)) depth -= 1
    if (depth === 0) return text.slice(from + 1, at)
  }
  return assert.fail("a bracket stays open")
}

/** The names of arguments of a call, or of parameters, by their own bracket alone. */
const namesOf = (inside: string, mark: RegExp): ReadonlyArray<string> => {
  const flat = inside.replaceAll(/\[[^\][]*\]|"[^"]*"/g, "").replaceAll(/\([^()]*\)/g, "")
  return [...flat.matchAll(mark)].map(([, name = ""]) => name)
}

/** Python itself runs the example's own tests in `npm run outside`. */
it("the back office calls what the Python client has, by the names that it takes", () => {
  const client = textOf("clients/python/src/postlane/_async.py")
  const takes = new Map(
    [...client.matchAll(/^ {4}async def (\w+)\(/gm)].map(({ 0: found, 1: name = "", index }) => {
      const inside = within(client, index + found.length - 1)
      return [name, { names: new Set(namesOf(inside, /(\w+):/g)), any: inside.includes("**") }] as const
    })
  )
  const app = textOf("examples/back-office/app.py")
  const calls = [...app.matchAll(/\b(?:documents|mail)\.(\w+)\(/g)]
  assert.isAbove(calls.length, 4)
  for (const { 0: found, 1: name = "", index } of calls) {
    const method = takes.get(name) ?? assert.fail(`the client has no ${name}`)
    for (const argument of namesOf(within(app, index + found.length - 1), /(?:^|[\s,])(\w+)=/g))
      assert.isTrue(method.names.has(argument) || method.any, `${name} takes no ${argument}`)
  }
})
