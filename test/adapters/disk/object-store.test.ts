import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect } from "effect"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { objectStoreContract } from "../../contracts/object-store.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-objects-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

objectStoreContract(
  "a folder on disk",
  Effect.map(folder, (path) => makeDiskObjects(join(path, "not", "there", "yet"))),
  { large: 20_000_003 }
)
