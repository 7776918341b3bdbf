import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { isPdf } from "../../domain/conversion/file-signatures.ts"
import { HEAD_BYTES, type IncomingMail, type PartNames } from "../../domain/inbound/incoming-mail.ts"
import { readMail } from "./read-mail.ts"

/** A mail's file, and a folder for the PDFs in it. */
export interface ReadingTask {
  readonly path: string
  readonly folder: string
}

/** A part without its content: that of a PDF is in a file. */
interface PartOutside extends PartNames {
  readonly bytes: number
  readonly head: Uint8Array
  readonly sha256: string
  readonly pdfPath: string | undefined
}

/** What is answered: little, however large the mail is. `unreadable`: why the mail cannot be read. */
export type ReadingAnswer = { readonly rawBytes: number; readonly rawSha256: string } & (
  | {
      readonly kind: "read"
      readonly mail: Omit<IncomingMail, "parts"> & { readonly parts: ReadonlyArray<PartOutside> }
    }
  | { readonly kind: "unreadable"; readonly message: string }
)

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Reads mails in a separate process, see `ReaderProcess`. */
export default async ({ folder, path }: ReadingTask): Promise<ReadingAnswer> => {
  const file = readFileSync(path)
  // A separate buffer, which the parser takes without copying.
  const raw = file.buffer.byteLength === file.length ? file : Uint8Array.from(file)
  const facts = { rawBytes: raw.length, rawSha256: sha256(raw) }
  const read = await readMail(raw)
  if (read.kind === "unreadable") return { ...facts, ...read }
  const parts = read.mail.parts.map(({ content, ...names }, at): PartOutside => {
    const pdfPath = isPdf(content) ? join(folder, `${at}.pdf`) : undefined
    if (pdfPath !== undefined) writeFileSync(pdfPath, content)
    return {
      ...names,
      bytes: content.length,
      head: content.slice(0, HEAD_BYTES),
      sha256: sha256(content),
      pdfPath
    }
  })
  return { ...facts, kind: "read", mail: { ...read.mail, parts } }
}
