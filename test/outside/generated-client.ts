/** The path that each generated client goes against a running server, and what its program says on the way. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { type Attacked, startAttacked } from "../hostile/server.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { ADMIN_TOKEN, arrived, checked, checksIn } from "./installation.ts"
import { type Artefact, type Check, judged, type Place } from "./reference.ts"
import type { Ended } from "./tools.ts"

const CREDENTIALS = {
  ADMIN_TOKEN,
  OWNER_TOKEN: "outside-owner-token",
  PROXY_SHARED_SECRET: "outside-proxy-secret"
}

/** Each is a check of every language's program, whatever the order. */
const STEPS = [
  "a mail is sent",
  "with the same key it is the same mail",
  "a mail for later is queued",
  "a refused mail names the field",
  "the log is paged",
  "and filtered by a day",
  "a file is uploaded",
  "no result yet is a refusal with its code",
  "the file is converted",
  "its result is text",
  "its result is HTML",
  "its result is Markdown",
  "its result is data"
]

/** Subjects of the mails that a program sends, each by a key of its own: the first of them twice. */
const SUBJECTS = ["Walk 1", "Walk 2", "Walk 3"]

/** A server with every credential, and a document of two pages beside the program. */
export const onServer = async <A>(
  { work }: Pick<Place, "work">,
  use: (env: Readonly<Record<string, string>>, server: Attacked) => Promise<A>
): Promise<A> => {
  await writeFile(join(work, "report.pdf"), numbered(2))
  const server = await startAttacked(CREDENTIALS)
  try {
    return await use({ ...CREDENTIALS, POSTLANE_URL: server.url }, server)
  } finally {
    await server.stop()
  }
}

/** A program that goes the whole path. */
interface Walk {
  /** What its checks are named after, where one reference makes several clients. */
  readonly language: string
  readonly go: (env: Readonly<Record<string, string>>) => Promise<Ended>
  readonly artefacts?: ReadonlyArray<Artefact>
}

/**
 * What a program found that goes the whole path: its own checks, one for each step that it never came to, and whether each mail left
 * once. Those that fail for the generator's sake are artefacts.
 */
export const walked = (
  place: Pick<Place, "work">,
  { artefacts = [], go, language }: Walk
): Promise<ReadonlyArray<Check>> =>
  onServer(place, async (env, server) => {
    const said = checksIn(await go(env))
    const left = await Promise.all(
      SUBJECTS.map(async (subject) => {
        const { length } = await arrived(server, subject)
        return checked(`the mail ${subject} left once`, length === 1, `${length} times`)
      })
    )
    const unsaid = STEPS.filter((step) => !said.some(({ name }) => name === step)).map((step) =>
      checked(step, false, "the program never came to it")
    )
    const all = [...said, ...unsaid, ...left].map((check) => ({
      ...check,
      name: `${language}: ${check.name}`
    }))
    const failed = all.filter(({ outcome }) => outcome !== "held")
    return [
      ...all.filter(({ outcome }) => outcome === "held"),
      ...judged(
        failed.map(({ detail, name }) => `${name}: ${detail ?? ""}`),
        artefacts
      )
    ]
  })
