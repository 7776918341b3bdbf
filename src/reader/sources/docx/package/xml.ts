import sax from "sax"

import { broken } from "./archive.ts"

/** A tag: its name and its attributes' names, with the prefixes that the writing program chose. */
export interface Tag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

/** What is found on the way through a part. Names are local: prefixes are the writing program's own. */
interface XmlEvents {
  readonly open?: (name: string, attributes: ReadonlyMap<string, string>, written: Tag) => void
  readonly close?: (name: string, written: string) => void
  readonly text?: (text: string) => void
}

/** Longest attribute or text that is kept in one piece, in characters. Word keeps whole drawings in attributes. */
const MAX_VALUE = 16 * 1024 * 1024
// The parser's declarations leave it out; it is 64 KB otherwise.
Object.assign(sax, { MAX_BUFFER_LENGTH: MAX_VALUE })

/** Most attributes of an element, and most names of elements: the next reader looks through all others, or all of the part, for each. */
const MAX_ATTRIBUTES = 1000
const MAX_NAMES = 2000

const nothing = () => undefined

const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

/** The encoding that a part says it has by its first bytes: UTF-8, unless they are those of UTF-16. */
const encodingOf = ([first, second]: Buffer): string =>
  first === 0xfe && second === 0xff ? "utf-16be" : first === 0xff && second === 0xfe ? "utf-16le" : "utf-8"

/** The text of a part as it streams by, in either of the encodings that parts may have. */
export const decodedXml = async function* (
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  for await (const some of bytes) {
    decoder ??= new TextDecoder(encodingOf(some))
    yield decoder.decode(some, { stream: true })
  }
  if (decoder !== undefined) yield decoder.decode()
}

/** Reads a part as a stream. Throws where it is not well-formed; entities that it defines have no meaning. */
export const readXml = async (
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  { close = nothing, open = nothing, text = nothing }: XmlEvents
): Promise<void> => {
  const parser = sax.parser(true)
  const names = new Set<string>()
  const handlers: Pick<sax.SAXParser, "onclosetag" | "onerror" | "onopentag" | "oncdata" | "ontext"> = {
    onerror: (error) => {
      throw broken(error)
    },
    onopentag: ({ attributes, name }) => {
      names.add(name)
      if (names.size > MAX_NAMES || Object.keys(attributes).length > MAX_ATTRIBUTES) throw broken()
      const written: Record<string, string> = {}
      const local = new Map<string, string>()
      for (const [key, value] of Object.entries(attributes)) {
        written[key] = String(value)
        local.set(localName(key), String(value))
      }
      open(localName(name), local, { name, attributes: written })
    },
    onclosetag: (name) => close(localName(name), name),
    ontext: text,
    oncdata: text
  }
  Object.assign(parser, handlers)
  for await (const some of decodedXml(bytes)) parser.write(some)
  parser.close()
}
