/** Whole numbers below a limit, from a seed (mulberry32). */
export type Chance = (limit: number) => number

export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit)
  }
}

/** What a change is made of. */
interface Material {
  readonly chance: Chance
  /** Another input. */
  readonly other: Buffer
  readonly words: ReadonlyArray<string>
}

/** Longest input; what is dear only beyond it is a case of test/hostile. */
const MAX_BYTES = 512 * 1024
const MAX_CHANGES = 5
const NUMBERS = ["0", "-1", "1", "255", "65536", "2147483648", "4294967295", "9007199254740993", "1e400"]

/** Names that every object has: a table that is an object finds them. */
const NAMES = ["constructor", "toString", "__proto__", "valueOf"]

/** Another of `those` for something that the pattern finds near the beginning. */
const instead = (input: Buffer, pattern: RegExp, those: ReadonlyArray<string>, chance: Chance): Buffer => {
  const places = [...input.toString("latin1", 0, 65_536).matchAll(pattern)]
  const found = places[chance(places.length)]
  if (found === undefined) return input
  const put = Buffer.from(those[chance(those.length)] ?? "")
  return splice(input, found.index, found.index + found[0].length, put)
}

const splice = (input: Buffer, from: number, to: number, put: Buffer): Buffer =>
  Buffer.concat([input.subarray(0, from), put, input.subarray(to)])

/** A place in an input, and another behind it, mostly near. */
const span = (input: Buffer, chance: Chance): readonly [number, number] => {
  const from = chance(input.length + 1)
  const most = chance(8) === 0 ? input.length : 64
  return [from, Math.min(input.length, from + 1 + chance(most))]
}

const word = ({ chance, words }: Material): Buffer => Buffer.from(words[chance(words.length)] ?? "", "latin1")

const CHANGES: ReadonlyArray<(input: Buffer, material: Material) => Buffer> = [
  // Other bits.
  (input, { chance }) => {
    const changed = Buffer.from(input)
    for (let left = 1 + chance(4); left > 0 && changed.length > 0; left--)
      changed[chance(changed.length)]! ^= 1 << chance(8)
    return changed
  },
  // Any byte.
  (input, { chance }) => {
    const [at] = span(input, chance)
    return splice(input, at, at, Buffer.from([chance(256)]))
  },
  // Something less.
  (input, { chance }) => splice(input, ...span(input, chance), Buffer.alloc(0)),
  // Cut off.
  (input, { chance }) => input.subarray(0, chance(input.length + 1)),
  // The same once more, or very often.
  (input, { chance }) => {
    const [from, to] = span(input, chance)
    const part = input.subarray(from, to)
    const times = chance(6) === 0 ? 1 + chance(20_000) : 1 + chance(4)
    return splice(input, to, to, Buffer.alloc(Math.min(MAX_BYTES, part.length * times), part))
  },
  // Words that mean something.
  (input, material) => {
    const [at, to] = span(input, material.chance)
    return splice(input, at, material.chance(2) === 0 ? at : to, word(material))
  },
  (input, material) => {
    const [at] = span(input, material.chance)
    const part = word(material)
    return splice(
      input,
      at,
      at,
      Buffer.alloc(Math.min(MAX_BYTES, part.length * (1 + material.chance(5_000))), part)
    )
  },
  // Another number, another name.
  (input, { chance }) => instead(input, /\d+/g, NUMBERS, chance),
  (input, { chance }) => instead(input, /[A-Za-z]{3,}/g, NAMES, chance),
  // A part of another input.
  (input, { chance, other }) => splice(input, ...span(input, chance), other.subarray(...span(other, chance))),
  (input, { chance, other }) =>
    Buffer.concat([input.subarray(0, chance(input.length + 1)), other.subarray(chance(other.length + 1))])
]

/** An input, changed in one to some ways. */
export const mutate = (input: Buffer, material: Material): Buffer => {
  let changed = input
  for (let left = 1 + material.chance(MAX_CHANGES); left > 0; left--)
    changed = CHANGES[material.chance(CHANGES.length)]!(changed, material)
  return changed.subarray(0, MAX_BYTES)
}
