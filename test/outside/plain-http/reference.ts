import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import type { Reference } from "../reference.ts"
import { must } from "../tools.ts"

const CREDENTIALS = { OWNER_TOKEN: "outside-owner-token", PROXY_SHARED_SECRET: "outside-proxy-secret" }

/** A mail that is sent, a document with its text, and a refusal that is read. */
const SAID = /^mail sent\nfile completed\n[\s\S]*Page number 2\n[\s\S]*refused 404 FILE_NOT_FOUND false\n$/i

/** A program of `examples/plain-http` against a running server. */
const language = (
  name: string,
  needs: string,
  file: string,
  args: ReadonlyArray<string> = []
): Reference => ({
  name: `http-${name}`,
  version: "as installed",
  checks: `examples/plain-http/${file}: a mail, a document and a refusal without a client`,
  needs: [needs],
  install: () => Promise.resolve(),
  run: async ({ root, work }) => {
    await writeFile(join(work, "report.pdf"), numbered(2))
    const server = await startAttacked(CREDENTIALS)
    try {
      const env = { ...CREDENTIALS, POSTLANE_URL: server.url }
      const program = join(root, "examples/plain-http", file)
      const said = await must(needs, [...args, program], { cwd: work, env })
      return [
        {
          name: "the program goes the whole way",
          outcome: SAID.test(said) ? "held" : "failed",
          detail: said
        }
      ]
    } finally {
      await server.stop()
    }
  }
})

export const plainHttp: ReadonlyArray<Reference> = [
  language("python", "python3", "program.py"),
  language("go", "go", "program.go", ["run"]),
  language("java", "java", "Program.java"),
  language("php", "php", "program.php"),
  language("ruby", "ruby", "program.rb")
]
