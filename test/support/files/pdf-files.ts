import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { Effect } from "effect"

import { extractFile } from "./pdf-extract.ts"

/** A file with these bytes, gone when the scope closes. */
export const temporaryPdf = (bytes: Uint8Array) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "postlane-pdf-"))
      const path = join(folder, "document.pdf")
      writeFileSync(path, bytes)
      return { folder, path }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ).pipe(Effect.map(({ path }) => path))

/** What a document made here holds. */
export const extractBytes = (bytes: Uint8Array) =>
  Effect.scoped(Effect.flatMap(temporaryPdf(bytes), (path) => Effect.promise(() => extractFile(path))))

/** PDFs that others made, beside the checkout or where `POSTLANE_TEST_PDFS` says; none where there is no such folder. */
export const foreignPdfs = (folder: "real" | "broken"): ReadonlyArray<string> => {
  const root =
    process.env["POSTLANE_TEST_PDFS"] ??
    fileURLToPath(new URL("../../../../shared/data/pdfs", import.meta.url))
  const path = join(root, folder)
  if (!existsSync(path)) return []
  return readdirSync(path)
    .filter((name) => name.endsWith(".pdf"))
    .map((name) => join(path, name))
}
