import { chmod, mkdir, readdir, stat } from "node:fs/promises"
import { join } from "node:path"

import { Effect } from "effect"
import { expect, it } from "vitest"

import { makeOutbox, writeWhole } from "../../../src/adapters/simulated/outbox.ts"
import { makeFolder } from "../../support/processes/child.ts"

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

it("mails in the outbox are their owner's alone, also in a folder that was open before", async () => {
  const root = await makeFolder()
  const folder = join(root.path, "outbox")
  await mkdir(folder)
  await chmod(folder, 0o755)
  await Effect.runPromise(makeOutbox(folder))
  await writeWhole(join(folder, "a.eml"), "secret")
  expect(await modeOf(folder)).toBe(0o700)
  for (const name of await readdir(folder)) expect(await modeOf(join(folder, name))).toBe(0o600)
  await root.remove()
})
