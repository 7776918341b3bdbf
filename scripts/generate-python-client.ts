/**
 * Makes the Python client that blocks of the one for asyncio: the same methods without `async` and `await`, on the blocking half of httpx.
 * A line of `_async.py` that needs more than these words exchanged belongs into `_calls.py`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"

const at = (name: string) => new URL(`../clients/python/src/postlane/${name}`, import.meta.url)

/** In this order, each a whole word. */
const WORDS: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^"""The client for asyncio\..*$/m,
    '"""The client that blocks. Made of ``_async.py`` by ``npm run docs``: do not edit."""'
  ],
  [/, for asyncio; close it, or use it as an asynchronous/g, "; close it, or use it as a"],
  [/\basync (?=def|for|with)/g, ""],
  [/\bawait /g, ""],
  [/\b__a(?=enter__|exit__)/g, "__"],
  [/\bAsync(?=Postlane|Iterator|BaseTransport)/g, ""],
  [/\bAsyncClient\b/g, "Client"],
  [/\baclose\b/g, "close"],
  [/\basync_chunks\b/g, "chunks"],
  [/\basyncio\b/g, "time"]
]

/** The text of `_sync.py`. */
export const blocking = (text: string): string =>
  WORDS.reduce((made, [word, instead]) => made.replace(word, instead), text)

if (import.meta.main) {
  const made = blocking(readFileSync(at("_async.py"), "utf8"))
  if (!process.argv.includes("--check")) writeFileSync(at("_sync.py"), made)
  else if (!existsSync(at("_sync.py")) || readFileSync(at("_sync.py"), "utf8") !== made) {
    console.error("clients/python/src/postlane/_sync.py is stale. Run: npm run docs")
    process.exitCode = 1
  }
}
