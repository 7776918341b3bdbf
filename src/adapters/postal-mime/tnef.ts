/** A file in a `winmail.dat`. */
interface TnefFile {
  /** Undefined where it has none. */
  readonly filename: string | undefined
  /** Empty where it is of another form (a message), or cut off: it has a name only. */
  readonly content: Uint8Array
}

const SIGNATURE = 0x223e9f78

/** Attributes of MS-OXTNEF, section 2.1.3.3: the first of each attachment, its name and its bytes. */
const ATTACHMENT_BEGINS = 0x00069002
const ATTACHMENT_TITLE = 0x00018010
const ATTACHMENT_DATA = 0x0006800f

/** Level, attribute and length before an attribute's bytes; a checksum, which programs get wrong, after them. */
const HEAD = 9
const CHECKSUM = 2

/** Files that are looked at. */
const MAX_FILES = 100

const nameOf = (bytes: Uint8Array): string | undefined => {
  const end = bytes.indexOf(0)
  const name = new TextDecoder("windows-1252").decode(end === -1 ? bytes : bytes.subarray(0, end)).trim()
  return name === "" ? undefined : name
}

/**
 * The files in a `winmail.dat`, the form in which Outlook sends attachments to a recipient that it takes for Outlook (MS-OXTNEF).
 * A file that is cut off ends the list; undefined for any other file. Each byte is looked at once, and nothing is unpacked.
 */
export const filesInTnef = (tnef: Uint8Array): ReadonlyArray<TnefFile> | undefined => {
  const view = new DataView(tnef.buffer, tnef.byteOffset, tnef.byteLength)
  if (tnef.length < 6 || view.getUint32(0, true) !== SIGNATURE) return undefined
  const files: Array<{ filename: string | undefined; content: Uint8Array | undefined }> = []
  let at = 6
  while (at + HEAD <= tnef.length && files.length <= MAX_FILES) {
    const attribute = view.getUint32(at + 1, true)
    const end = at + HEAD + view.getUint32(at + 5, true)
    if (end > tnef.length) break
    const bytes = tnef.subarray(at + HEAD, end)
    const file = files.at(-1)
    if (attribute === ATTACHMENT_BEGINS) files.push({ filename: undefined, content: undefined })
    else if (attribute === ATTACHMENT_TITLE && file !== undefined) file.filename = nameOf(bytes)
    else if (attribute === ATTACHMENT_DATA && file !== undefined) file.content = bytes.slice()
    at = end + CHECKSUM
  }
  return files.flatMap(({ content = new Uint8Array(0), filename }) =>
    content.length === 0 && filename === undefined ? [] : [{ content, filename }]
  )
}
