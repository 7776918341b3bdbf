/** One attribute of a `winmail.dat` (MS-OXTNEF, section 2.1.3.2). */
export const attribute = (level: number, id: number, bytes: Uint8Array, length = bytes.length): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUInt8(level, 0)
  head.writeUInt32LE(id, 1)
  head.writeUInt32LE(length, 5)
  const checksum = Buffer.alloc(2)
  checksum.writeUInt16LE(bytes.reduce((sum, byte) => (sum + byte) & 0xffff, 0))
  return Buffer.concat([head, bytes, checksum])
}

/** A `winmail.dat` as Outlook writes it: of the message, then of each file its rendering, name and bytes. */
export const tnefOf = (...files: ReadonlyArray<readonly [name: string, content: Uint8Array]>): Buffer =>
  Buffer.concat([
    Buffer.from([0x78, 0x9f, 0x3e, 0x22, 0x01, 0x00]),
    attribute(1, 0x00089006, Buffer.from([0, 0, 1, 0])),
    attribute(1, 0x00018004, Buffer.from("Subject\0")),
    ...files.flatMap(([name, content]) => [
      attribute(2, 0x00069002, Buffer.alloc(14)),
      attribute(2, 0x00018010, Buffer.from(`${name}\0`, "latin1")),
      attribute(2, 0x0006800f, content),
      attribute(2, 0x00069005, Buffer.alloc(8))
    ])
  ])
