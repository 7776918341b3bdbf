import { crc32, deflateRawSync } from "node:zlib"

/** An entry of an archive; what it says of itself may be false. */
export interface ZipEntry {
  readonly name: string
  readonly data: string | Buffer
  /** What its headers say that it unpacks to; its length, unless given. */
  readonly says?: number
  readonly encrypted?: boolean
}

/** A ZIP archive, every entry deflated. */
export const zipOf = (entries: ReadonlyArray<ZipEntry>): Buffer => {
  const bodies: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const { data, encrypted = false, name, says } of entries) {
    const plain = Buffer.from(data)
    const packed = deflateRawSync(plain)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(encrypted ? 0x801 : 0x800, 2)
    facts.writeUInt16LE(8, 4)
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
  const all = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\u0005\u0006", 0, "latin1")
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(all.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, all, end])
}
