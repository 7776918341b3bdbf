import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, data: Buffer): Buffer => {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(typed), 4)
  return Buffer.concat([around.subarray(0, 4), typed, around.subarray(4)])
}

/** A PNG of one grey; `width` and `height` are what its header says, whatever its data has. */
export const pngOf = (width = 4, height = 2, more: ReadonlyArray<readonly [string, Buffer]> = []): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const rows = Buffer.alloc(Math.min(1000, height) * (Math.min(1000, width) + 1), 0)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    ...more.map(([type, data]) => chunk(type, data)),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** A real JPEG of 16 by 8 pixels, as a browser writes it, its colour profile left out. */
export const jpeg = (): Buffer =>
  Buffer.from(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8" +
      "ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAI" +
      "ABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAwX/xAAU" +
      "EQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCYACs//9k=",
    "base64"
  )
