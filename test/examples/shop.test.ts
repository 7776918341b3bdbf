import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { assert, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const HOOK = join(root, "test/support/processes/postlane-by-name.ts")

/** The example's own tests, as its users run them. */
const tested = (file: string): Promise<string> =>
  new Promise((resolve) => {
    const { PATH, POSTLANE_TEST_PROGRAMS } = process.env
    const args = ["--import", HOOK, "--test", "--test-reporter=tap", `examples/shop/${file}`]
    execFile(process.execPath, args, { cwd: root, env: { PATH, POSTLANE_TEST_PROGRAMS } }, (_, out, err) =>
      resolve(out + err)
    )
  })

it.each([
  ["shop.test.ts", 1],
  ["mails.test.ts", 2]
])("%s of the shop passes", async (file, count) => {
  const output = await tested(file)
  assert.match(output, new RegExp(`^# pass ${count}$`, "m"), output)
  assert.match(output, /^# fail 0$/m, output)
})

it("receipts, their test and the bounce take a shop 60 lines", () => {
  const lines = ["shop.ts", "shop.test.ts"].flatMap((file) =>
    readFileSync(join(root, "examples/shop", file), "utf8")
      .trimEnd()
      .split("\n")
  )
  assert.isAtMost(lines.length, 60)
})
