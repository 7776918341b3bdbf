import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url))
const MAX_BYTES = 256 * 1024

/** Real files beside the checkout, none too large to be changed often; none where there is no such folder. */
export const realFiles = (...folders: ReadonlyArray<string>): ReadonlyArray<Buffer> =>
  folders
    .map((folder) => join(DATA, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => statSync(path).size <= MAX_BYTES)
    .map((path) => readFileSync(path))
