import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { membersOf, parsed } from "../../../src/adapters/bedrock/json-members.ts"

const encoder = new TextEncoder()

const read = (json: string): Record<string, unknown> | undefined => {
  const members = membersOf(encoder.encode(json))
  return members && Object.fromEntries([...members].map(([name, value]) => [name, parsed(value)]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What `JSON.parse` says. */
const whole = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

describe("the members of a JSON object", () => {
  it("are what JSON.parse gives, however it is written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t", "  "), (value, space) => {
        const json = JSON.stringify(value, undefined, space)
        const found = read(` ${json}\r`)
        if (isObject(value))
          assert.deepStrictEqual(found, Object.fromEntries(Object.entries(JSON.parse(json))))
        else assert.isUndefined(found)
      }),
      { numRuns: 300 }
    )
  })

  it("are found behind quotes, escapes and brackets inside of strings; of two with a name the last one counts", () => {
    const odd = { 'a"b': "\\", "c}": ['"]', { d: '\\"{' }], e: -1.5e3, f: true, g: null, h: {}, i: [] }
    assert.deepStrictEqual(read(JSON.stringify(odd)), odd)
    assert.deepStrictEqual(read('{"a":1,"\\u0061":2}'), { a: 2 })
    assert.deepStrictEqual(read("{ }"), {})
  })

  it("are none where the bytes are cut off anywhere, or go on", () => {
    const json = JSON.stringify({ recordId: "c0-p0", modelInput: { a: ['"', "\\"] }, n: 12 })
    for (let at = 0; at < json.length; at++) assert.isUndefined(read(json.slice(0, at)), json.slice(0, at))
    assert.isUndefined(read(`${json}x`))
    for (const bad of ['{"a"}', '{"a":}', '{"a":1,}', "{,}", "{a:1}", '{"a":1 "b":2}', '{"a":1]']) {
      assert.isUndefined(read(bad), bad)
    }
  })

  it("agree with JSON.parse wherever that reads something, and never throw", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom("", '"', "\\", "{", "}", ",", ":"),
        (json, at, put) => {
          const place = at % (json.length + 1)
          const changed = json.slice(0, place) + put + json.slice(place)
          const right = whole(changed)
          const found = read(changed)
          if (isObject(right)) assert.deepStrictEqual(found, Object.fromEntries(Object.entries(right)))
          else if (right !== undefined) assert.isUndefined(found)
        }
      ),
      { numRuns: 500 }
    )
  })
})
