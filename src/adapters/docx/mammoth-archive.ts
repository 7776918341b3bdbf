import type { Archive } from "./archive.ts"
import { MAIN_RELATION } from "./package.ts"

/** The archive interface of mammoth. */
interface MammothFile {
  readonly exists: (name: string) => boolean
  readonly read: (name: string, encoding?: string) => Promise<string | Uint8Array>
}

const RELATIONS = "_rels/.rels"

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

/** The package's relations, with the one that was found to name the main part and no other. */
const relationsTo = (main: string): string =>
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  `<Relationship Id="main" Type="${MAIN_RELATION}" Target="/${escaped(main)}"/></Relationships>`

const decoded = (bytes: Buffer, encoding: string | undefined): string | Uint8Array => {
  if (encoding === undefined) return bytes
  return encoding === "base64" ? bytes.toString("base64") : new TextDecoder(encoding).decode(bytes)
}

/**
 * The archive for mammoth, which reads exactly the parts that were inspected. Neither its own ZIP reader nor its own search for
 * the main part is used.
 */
export const mammothFile = (archive: Archive, main: string): MammothFile => ({
  exists: (name) => name === RELATIONS || archive.has(name),
  read: async (name, encoding) =>
    name === RELATIONS ? relationsTo(main) : decoded(await archive.bytes(name), encoding)
})
