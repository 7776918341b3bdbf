import { crc32, deflateRawSync } from "node:zlib"

/** An entry of an archive; what it says of itself may be false. */
export interface ZipEntry {
  readonly name: string
  readonly data: string | Buffer
  /** What its headers say that it unpacks to; its length, unless given. */
  readonly says?: number
  readonly encrypted?: boolean
  /** Not compressed. */
  readonly stored?: boolean
}

/** The parts of a ZIP archive that begins at `from`: what its directory stands behind, and the directory. */
const partsOf = (entries: ReadonlyArray<ZipEntry>, from = 0) => {
  const bodies: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = from
  for (const { data, encrypted = false, name, says, stored = false } of entries) {
    const plain = Buffer.from(data)
    const packed = stored ? plain : deflateRawSync(plain)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(encrypted ? 0x801 : 0x800, 2)
    facts.writeUInt16LE(stored ? 0 : 8, 4)
    facts.writeUInt32LE(crc32(plain), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(says ?? plain.length, 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004", "latin1"), facts, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(
      Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0000", "latin1"), facts, rest, Buffer.from(name)])
    )
    bodies.push(local)
    offset += local.length
  }
  return { bodies: Buffer.concat(bodies), directory: Buffer.concat(directory), offset }
}

const endOf = (entries: number, size: number, offset: number): Buffer => {
  const end = Buffer.alloc(22)
  end.write("PK\u0005\u0006", 0, "latin1")
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return end
}

/** A ZIP archive. */
export const zipOf = (entries: ReadonlyArray<ZipEntry>): Buffer => {
  const { bodies, directory, offset } = partsOf(entries)
  return Buffer.concat([bodies, directory, endOf(entries.length, directory.length, offset)])
}

/** Length of the records that lead to the second directory of {@link twoFacedZip}. */
const LEADING = 56 + 20

/**
 * An archive with two directories: one that the end record of ZIP64 leads to, and one that the plain one does. Readers that look for
 * the former first find other parts than those that look for it only where the latter says so, which take the records between for
 * a part of their directory.
 */
export const twoFacedZip = (byZip64: ReadonlyArray<ZipEntry>, byEnd: ReadonlyArray<ZipEntry>): Buffer => {
  const first = partsOf(byZip64)
  const second = partsOf(byEnd, first.offset)
  const firstAt = first.bodies.length + second.bodies.length
  const end64 = Buffer.alloc(56)
  end64.write("PK\u0006\u0006", 0, "latin1")
  end64.writeBigUInt64LE(44n, 4)
  end64.writeBigUInt64LE(BigInt(byZip64.length), 24)
  end64.writeBigUInt64LE(BigInt(byZip64.length), 32)
  end64.writeBigUInt64LE(BigInt(first.directory.length), 40)
  end64.writeBigUInt64LE(BigInt(firstAt), 48)
  const locator = Buffer.alloc(20)
  locator.write("PK\u0006\u0007", 0, "latin1")
  locator.writeBigUInt64LE(BigInt(firstAt + first.directory.length + second.directory.length), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([
    first.bodies,
    second.bodies,
    first.directory,
    second.directory,
    end64,
    locator,
    endOf(byEnd.length, second.directory.length + LEADING, firstAt + first.directory.length)
  ])
}

/** A tar archive of one file. */
export const tarOf = (name: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(512)
  head.write(name)
  head.write(data.length.toString(8).padStart(11, "0"), 124)
  head.write("ustar\u000000", 257, "latin1")
  const sum = head.fill(" ", 148, 156).reduce((all, byte) => all + byte, 0)
  head.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1")
  return Buffer.concat([head, data, Buffer.alloc(512 - (data.length % 512) + 1024)])
}
