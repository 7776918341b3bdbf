/**
 * Writes what the database and the browser know of the words of the product, from the records of the domain; with `--check`, fails
 * where a file is not what they give.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"

import { type Words, WORDS, wordsOf } from "./words-of.ts"

const root = new URL("../", import.meta.url)
const isCheck = process.argv.includes("--check")

const write = (words: Words): ReadonlyArray<string> =>
  Object.entries(wordsOf(words)).flatMap(([path, text]) => {
    const file = new URL(path, root)
    if (existsSync(file) && readFileSync(file, "utf8") === text) return []
    if (!isCheck) writeFileSync(file, text)
    return [path]
  })

const stale = write(WORDS)
for (const path of stale) console.log(isCheck ? `${path} is stale: run npm run docs` : `${path} written`)
process.exitCode = isCheck && stale.length > 0 ? 1 : 0
