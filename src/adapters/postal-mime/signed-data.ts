/** An element of ASN.1 in BER or DER: its tag, and the bytes within it. */
interface Element {
  readonly tag: number
  /** Where its content begins and ends, and where what follows it begins. */
  readonly begin: number
  readonly end: number
  readonly next: number
}

const SEQUENCE = 0x30
const OBJECT_IDENTIFIER = 0x06
const OCTETS = 0x04
const OCTETS_IN_PIECES = 0x24
const EXPLICIT = 0xa0

/** How deep elements are looked into: signed data needs six levels, and pieces of its content one more. */
const MAX_DEPTH = 10

/** Most elements within one that are looked at: programs cut 40 MB into pieces of 1,000 bytes or more. */
const MAX_ELEMENTS = 50_000

/** `id-signedData`, 1.2.840.113549.1.7.2 (RFC 5652). */
const SIGNED_DATA = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]

/** Where an element of indefinite length ends: behind two zero bytes after its last element. */
const endOfIndefinite = (bytes: Uint8Array, begin: number, depth: number): number | undefined => {
  for (let at = begin; at + 1 < bytes.length;) {
    if (bytes[at] === 0 && bytes[at + 1] === 0) return at
    const inner = elementAt(bytes, at, depth + 1)
    if (inner === undefined) return undefined
    at = inner.next
  }
  return undefined
}

/** The element that begins there; undefined without one, or when it extends past the end. Each level reads its bytes once. */
const elementAt = (bytes: Uint8Array, at: number, depth: number): Element | undefined => {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || depth > MAX_DEPTH) return undefined
  if (first === 0x80) {
    const end = endOfIndefinite(bytes, at + 2, depth)
    return end === undefined ? undefined : { tag, begin: at + 2, end, next: end + 2 }
  }
  const more = first < 0x80 ? 0 : first & 0x7f
  if (more > 4) return undefined
  let length = more === 0 ? first : 0
  for (let n = 0; n < more; n++) length = length * 256 + (bytes[at + 2 + n] ?? 0)
  const begin = at + 2 + more
  const end = begin + length
  return end > bytes.length ? undefined : { tag, begin, end, next: end }
}

/** The elements within one. */
const within = (bytes: Uint8Array, { begin, end }: Element, depth: number): ReadonlyArray<Element> => {
  const found: Array<Element> = []
  for (let at = begin; at < end && found.length < MAX_ELEMENTS;) {
    const element = elementAt(bytes, at, depth)
    if (element === undefined) return found
    found.push(element)
    at = element.next
  }
  return found
}

/** The bytes of a string that is whole, or comes in pieces. */
const octetsOf = (bytes: Uint8Array, element: Element, depth: number): Uint8Array | undefined => {
  if (element.tag === OCTETS) return bytes.subarray(element.begin, element.end)
  if (element.tag !== OCTETS_IN_PIECES) return undefined
  const all = new Uint8Array(element.end - element.begin)
  let length = 0
  for (const piece of within(bytes, element, depth + 1)) {
    if (piece.tag !== OCTETS) return undefined
    all.set(bytes.subarray(piece.begin, piece.end), length)
    length += piece.end - piece.begin
  }
  return all.slice(0, length)
}

/**
 * What a signed message in one piece (`application/pkcs7-mime`, `smime-type=signed-data`) holds: a mail's text and files, which
 * every mail program can read. The signature is the mail hop's business. Undefined for an encrypted one and for any other file.
 */
export const signedContent = (cms: Uint8Array): Uint8Array | undefined => {
  const info = elementAt(cms, 0, 0)
  if (info?.tag !== SEQUENCE) return undefined
  const [type, wrapped] = within(cms, info, 1)
  const isSigned =
    type?.tag === OBJECT_IDENTIFIER &&
    type.end - type.begin === SIGNED_DATA.length &&
    SIGNED_DATA.every((byte, at) => cms[type.begin + at] === byte)
  if (!isSigned || wrapped?.tag !== EXPLICIT) return undefined
  const [signed] = within(cms, wrapped, 2)
  if (signed?.tag !== SEQUENCE) return undefined
  const content = within(cms, signed, 3).find(({ tag }) => tag === SEQUENCE)
  const inner =
    content === undefined ? undefined : within(cms, content, 4).find(({ tag }) => tag === EXPLICIT)
  const [octets] = inner === undefined ? [] : within(cms, inner, 5)
  return octets === undefined ? undefined : octetsOf(cms, octets, 5)
}
