import { chmod, lstat, mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect } from "effect"

import type { Account } from "./run-program.ts"
import { canPass } from "./system-account.ts"

/** Where things stand that PostgreSQL's system user must reach and cannot reach where they were wanted. */
const parents = (): ReadonlyArray<string> => ["/var/lib/postlane", join(tmpdir(), "postlane-shared")]

/** A folder under the world-writable temporary folder could be another user's trap: only root's own will do. */
const prepare = async (parent: string) => {
  const created = await mkdir(parent, { recursive: true })
  if (created !== undefined) await chmod(parent, 0o755)
  const found = await lstat(parent)
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(`${parent} is not a folder of root's own`)
  }
}

/** Paths called `name` that `account` can reach, best first. Their parent folder is there, they themselves may not be. */
export const sharedFolders = Effect.fnUntraced(function* (name: string, account: Account) {
  const reachable: Array<string> = []
  for (const parent of parents()) {
    const prepared = yield* Effect.tryPromise(() => prepare(parent)).pipe(Effect.option)
    if (prepared._tag === "Some" && (yield* canPass(account, parent))) reachable.push(join(parent, name))
  }
  return reachable
})
