import * as fc from "fast-check"

/** Values that mean something to readers of JSON. */
const VALUES: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "a@x.test",
  "A <a@x.test>",
  "\u0000",
  "\ud800",
  "2026-01-01T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "__proto__",
  [],
  {},
  [null],
  { name: "a", value: "b" }
]

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) }
)

const isObject = (json: unknown): json is Record<string, unknown> => typeof json === "object" && json !== null

/** The paths of everything in a value. */
const pathsOf = (json: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  isObject(json)
    ? [path, ...Object.entries(json).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))]
    : [path]

const replaced = (json: unknown, [name, ...rest]: ReadonlyArray<string>, put: unknown): unknown => {
  if (name === undefined || !isObject(json)) return put
  const copy: unknown = Array.isArray(json) ? [...(json as Array<unknown>)] : { ...json }
  ;(copy as Record<string, unknown>)[name] = replaced(json[name], rest, put)
  return copy
}

/** Samples with some of their values replaced: what gets as far as a real one does, and then is strange. */
export const strangeJson = (samples: ReadonlyArray<unknown>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.constantFrom(...samples), fc.array(fc.tuple(fc.nat(), value), { maxLength: 4 }))
    .map(([sample, changes]) => {
      const json = changes.reduce((before: unknown, [at, put]) => {
        const paths = pathsOf(before)
        return replaced(before, paths[at % paths.length] ?? [], put)
      }, sample)
      return Buffer.from(JSON.stringify(json) ?? "null")
    })

export const jsonSeeds = (samples: ReadonlyArray<unknown>): ReadonlyArray<Buffer> =>
  samples.map((sample) => Buffer.from(JSON.stringify(sample)))

export const JSON_WORDS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "null",
  "1e400",
  "\\u0000",
  "\\ud800",
  '"__proto__":',
  "\xff",
  "\xed\xa0\x80"
]
