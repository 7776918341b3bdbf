import { fileURLToPath } from "node:url"
import { zstdDecompressSync } from "node:zlib"

/** Where a package's file stands, by its specifier; the published package has binaries compressed, by a fifth more than npm would. */
export const fileOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier))

/** What a file of Zstandard begins with (RFC 8878, section 3.1.1). */
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/** A binary as it is, whether or not its file is compressed. */
export const unpacked = (file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  ZSTD.every((byte, index) => file[index] === byte) ? zstdDecompressSync(file) : file
