import { Data, Effect, Stream } from "effect"

/** Most lines of a mail: 40 MB of base64 in lines of 64 characters are fewer. */
const MAX_LINES = 700_000

/** Most lines that are too short for an encoded file: these cost a parser most time and memory. */
const MAX_SHORT_LINES = 100_000
const SHORT = 40

/** Most lines that may begin a part: a parser makes an object of each. */
const MAX_PART_LINES = 2_000

/** Most bytes of the header section, and of one field. Real ones stay below 64 KB and 16 KB. */
export const MAX_HEADER_BYTES = 256 * 1024
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 1_000

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const SPACE = 0x20
const TAB = 0x09

/** A mail is not taken: its form, not its size, would cost more than any real mail does. */
class BeyondLimits extends Data.TaggedError("BeyondLimits")<{ readonly message: string }> {}

/** Counts what a mail would cost its parser, as its bytes come. Looks at each byte once, at most twice. */
class MailCosts {
  #lines = 0
  #short = 0
  #parts = 0
  #inHeader = true
  #bytes = 0
  #fields = 0
  #fieldAt = 0
  /** Bytes of the line that has not ended, and its first two. */
  #length = 0
  #first = 0
  #second = 0

  #headerProblem(ended: boolean): string | undefined {
    const lineAt = this.#bytes - this.#length
    const isBlank = this.#first === LF || (this.#first === CR && this.#length === 2)
    if (ended && isBlank) {
      this.#inHeader = false
      return undefined
    }
    const isFolded = this.#first === SPACE || this.#first === TAB
    if (this.#bytes > MAX_HEADER_BYTES) return `its header is longer than ${MAX_HEADER_BYTES} bytes`
    if (this.#bytes - (isFolded ? this.#fieldAt : lineAt) > MAX_FIELD_BYTES)
      return `a field of its header is longer than ${MAX_FIELD_BYTES} bytes`
    if (ended && !isFolded) {
      this.#fields += 1
      this.#fieldAt = lineAt
    }
    return this.#fields > MAX_FIELDS ? `its header has more than ${MAX_FIELDS} fields` : undefined
  }

  #lineProblem(): string | undefined {
    this.#lines += 1
    if (this.#length < SHORT) this.#short += 1
    if (this.#first === DASH && this.#second === DASH) this.#parts += 1
    if (this.#lines > MAX_LINES) return `it has more than ${MAX_LINES} lines`
    if (this.#short > MAX_SHORT_LINES) return `it has more than ${MAX_SHORT_LINES} short lines`
    return this.#parts > MAX_PART_LINES
      ? `it has more than ${MAX_PART_LINES} lines that may begin a part`
      : undefined
  }

  /** Why the mail is not parsed, as far as its bytes are known; undefined: it may be. */
  add(bytes: Uint8Array): string | undefined {
    for (let at = 0; at < bytes.length;) {
      const found = bytes.indexOf(LF, at)
      const next = found === -1 ? bytes.length : found + 1
      if (this.#length === 0) this.#first = bytes[at]!
      const second = at + 1 - this.#length
      if (this.#length < 2) this.#second = second < next ? bytes[second]! : 0
      this.#length += next - at
      this.#bytes += next - at
      const ended = found !== -1
      const problem =
        (this.#inHeader ? this.#headerProblem(ended) : undefined) ?? (ended ? this.#lineProblem() : undefined)
      if (problem !== undefined) return problem
      if (ended) this.#length = 0
      at = next
    }
    return undefined
  }
}

/** Why a mail is not parsed; undefined: it may be. */
export const beyondLimits = (raw: Uint8Array): string | undefined => new MailCosts().add(raw)

/** The bytes of a mail, up to those that exceed a limit. */
export const withinLimits = <E, R>(
  raw: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | BeyondLimits, R> =>
  Stream.suspend(() => {
    const costs = new MailCosts()
    return Stream.mapEffect(raw, (bytes) => {
      const message = costs.add(bytes)
      return message === undefined ? Effect.succeed(bytes) : Effect.fail(new BeyondLimits({ message }))
    })
  })
