import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { zstdDecompressSync } from "node:zlib"

/** Where a package's file stands, by its specifier; the published package has some compressed, by a tenth to a third more than npm would. */
export const fileOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier))

/** What a file of Zstandard begins with (RFC 8878, section 3.1.1). */
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/** A file's bytes, whether or not it is compressed. */
export const unpacked = (file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  ZSTD.every((byte, index) => file[index] === byte) ? zstdDecompressSync(file) : file

/** The text of a package's file, by its specifier. */
export const textOf = async (specifier: string): Promise<string> =>
  new TextDecoder().decode(unpacked(await readFile(fileOf(specifier))))
