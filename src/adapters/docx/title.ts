import { fromBufferPromise } from "yauzl"

/** Bytes of the part that holds the title, unpacked. */
const MAX_PROPERTIES = 65_536

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => NAMED[name] ?? whole)

/** The title in a Word document's properties. */
export const titleIn = async (document: Buffer): Promise<string | undefined> => {
  const zip = await fromBufferPromise(document, { lazyEntries: true })
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== "docProps/core.xml" || entry.uncompressedSize > MAX_PROPERTIES) continue
    const parts: Array<Buffer> = []
    for await (const bytes of await zip.openReadStreamPromise(entry))
      if (Buffer.isBuffer(bytes)) parts.push(bytes)
    const xml = Buffer.concat(parts).toString("utf8")
    const text = /<dc:title>([^<]{1,1000})<\/dc:title>/.exec(xml)?.[1]?.trim()
    return text === undefined || text === "" ? undefined : unescaped(text)
  }
  return undefined
}
