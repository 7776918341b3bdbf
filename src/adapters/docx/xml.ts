import sax from "sax"

import { broken } from "./archive.ts"

/** What is found on the way through a part. Names are local: prefixes are the writing program's own. */
interface XmlEvents {
  readonly open?: (name: string, attributes: ReadonlyMap<string, string>) => void
  readonly close?: (name: string) => void
  readonly text?: (text: string) => void
}

const nothing = () => undefined

const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

/** Reads a part as it streams by. What is not well-formed is broken; entities of its own have no meaning. */
export const readXml = async (
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  { close = nothing, open = nothing, text = nothing }: XmlEvents
): Promise<void> => {
  const parser = sax.parser(true)
  const handlers: Pick<sax.SAXParser, "onclosetag" | "onerror" | "onopentag" | "oncdata" | "ontext"> = {
    onerror: (error) => {
      throw broken(error)
    },
    onopentag: ({ attributes, name }) =>
      open(
        localName(name),
        new Map(Object.entries(attributes).map(([key, value]) => [localName(key), String(value)]))
      ),
    onclosetag: (name) => close(localName(name)),
    ontext: text,
    oncdata: text
  }
  Object.assign(parser, handlers)
  const decoder = new TextDecoder()
  for await (const some of bytes) parser.write(decoder.decode(some, { stream: true }))
  parser.write(decoder.decode()).close()
}
