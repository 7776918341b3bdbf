import { readFileSync } from "node:fs"
import { dirname } from "node:path"

import { loadQpdf, QPDF_INPUT } from "../../../src/reader/sources/pdf/engine/qpdf.ts"

/** Encrypts the PDF at `path` (AES, 256 bits), and gives the bytes. */
export const encryptPdf = async (path: string, userPassword: string): Promise<Uint8Array> => {
  const qpdf = await loadQpdf()
  qpdf.FS.mount(qpdf.NODEFS, { root: dirname(path) }, QPDF_INPUT)
  const target = `${QPDF_INPUT}/encrypted.pdf`
  qpdf.callMain([`${QPDF_INPUT}/document.pdf`, "--encrypt", userPassword, "owner", "256", "--", target])
  qpdf.FS.unmount(QPDF_INPUT)
  return readFileSync(path.replace(/document\.pdf$/, "encrypted.pdf"))
}
