import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { ADMIN_TOKEN, arrived, checked, contentOf, senderToken, without } from "../installation.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { comes } from "../services.ts"
import { must, pip, run } from "../tools.ts"

/** What a call of an SDK said: its answer, or what its user sees of an error. */
interface Said {
  readonly id?: string
  readonly ids?: ReadonlyArray<string>
  readonly errors?: ReadonlyArray<{ readonly index: number; readonly message: string }> | null
  readonly last_event?: string
  readonly scheduled_at?: string
  readonly kind?: string
  readonly code?: string
  readonly name?: string
  readonly message?: string
  readonly retryAfter?: string
}

type Facts = Readonly<Record<string, Said>> & { readonly slow: readonly [Said, Said] }

interface Sdk {
  readonly name: string
  readonly version: string
  readonly needs: ReadonlyArray<string>
  /** The address of the installation, as this SDK takes it. */
  readonly base: (url: string) => Readonly<Record<string, string>>
  /** Says why it cannot be had. */
  readonly install: (place: Place) => Promise<string | undefined>
  readonly run: (
    place: Place,
    args: ReadonlyArray<string>,
    env: Readonly<Record<string, string>>
  ) => Promise<string>
  /** Steps that this version has no words for. */
  readonly lacks?: ReadonlyArray<string>
  /** What an error has here beyond its message: nothing where the SDK drops it. */
  readonly refusals: Readonly<Record<string, Said>>
}

const MESSAGES: Readonly<Record<string, RegExp>> = {
  conflict: /key/,
  strict: /subject/,
  words: /scheduledAt.*words such as/,
  missing: /Missing `subject` field/,
  template: /template.*html/,
  unknown: /not found/i,
  wrong: /unknown or revoked/
}

/** Each refusal is an error of the kind that the SDK's user looks for, with a message that says why. */
const refusalsOf = (facts: Facts, { lacks = [], refusals }: Sdk): ReadonlyArray<Check> =>
  Object.entries(MESSAGES)
    .filter(([name]) => !lacks.includes(name))
    .map(([name, message]) => {
      const said = facts[name] ?? {}
      const wanted = Object.entries(refusals[name] ?? {})
      const isMeant = wanted.every(([member, value]) => said[member as keyof Said] === value)
      const isSaid = message.test(said.message ?? "") && said.id === undefined
      return checked(`refused as Resend does: ${name}`, isMeant && isSaid, JSON.stringify(said))
    })

/** Mails that leave once, by their subjects. */
const LEAVING = ["whole", "first of two", "second of two", "the good one", "slow one"]
/** Those that never do. */
const STAYING = ["other", "of a refused batch", "in words", "of a template", "for later", "slow two", "wrong"]

const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("base64")

/** Members of the mail that has all of them, as it arrives. */
const WHOLE: Readonly<Record<string, unknown>> = {
  subject: "whole <&> é",
  to: ["ann@y.test", "bob@y.test"],
  cc: ["carl@y.test"],
  bcc: ["dora@y.test"],
  // The line's end is the message's.
  text: "t\n",
  html: "<p>h &amp; é</p>\n"
}

interface Attached {
  readonly filename: string | null
  readonly contentType: string
  readonly content: string
}

const wholeOf = (mail: Readonly<Record<string, unknown>>): ReadonlyArray<Check> => {
  const { attachments, headers, tags } = mail as {
    readonly attachments: ReadonlyArray<Attached>
    readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
    readonly tags: Readonly<Record<string, string>>
  }
  const header = (name: string) => headers.find((one) => one.name.toLowerCase() === name)?.value
  const files = attachments.map(({ content, filename }) => `${filename} ${content}`)
  return [
    without(
      "the mail arrives as it was given",
      Object.entries(WHOLE)
        .filter(([name, value]) => JSON.stringify(mail[name]) !== JSON.stringify(value))
        .map(([name]) => `${name}: ${JSON.stringify(mail[name])}`)
    ),
    checked("its header and its Reply-To arrive", header("x-order") === "17", JSON.stringify(headers)),
    checked("its Reply-To arrives", header("reply-to")?.includes("help@x.test") === true),
    checked("its tag arrives", tags["campaign"] === "c1", JSON.stringify(tags)),
    checked(
      "its files arrive byte for byte",
      files.toSorted().join() === `all.bin ${BYTES},l.png AQID`,
      JSON.stringify(attachments)
    )
  ]
}

const isSame = (one: Said | undefined, other: Said | undefined): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other) && (one.id ?? one.ids) !== undefined

const judged = (facts: Facts, sdk: Sdk, later: string): ReadonlyArray<Check> => {
  const { batch, batchAgain, cancelled, moved, movedTo, nulls, permissive, planless, planned } = facts
  const { scheduled, slow, whole, wholeAgain } = facts
  const told = JSON.stringify(facts)
  return [
    checked("a mail is taken, and under its key again", isSame(whole, wholeAgain), told),
    checked("so is a batch", batch?.ids?.length === 2 && isSame(batch, batchAgain), told),
    checked(
      "of a permissive batch what is valid is taken",
      permissive?.ids?.length === 1 && permissive.errors?.[0]?.index === 1,
      JSON.stringify(permissive)
    ),
    checked("a mail for later waits", planned?.last_event === "scheduled", JSON.stringify(planned)),
    checked(
      "it is moved",
      moved?.id === scheduled?.id && (movedTo?.scheduled_at ?? later) === later,
      JSON.stringify([moved, movedTo])
    ),
    checked(
      "it is cancelled",
      cancelled?.id === scheduled?.id && planless?.last_event === "canceled",
      JSON.stringify([cancelled, planless])
    ),
    ...(nulls === undefined
      ? []
      : [checked("members that are null are none", nulls.id !== undefined, JSON.stringify(nulls))]),
    ...refusalsOf(facts, sdk),
    checked(
      "a token that sends too fast gets the error for it",
      slow[0].id !== undefined && slow[1].kind?.startsWith("RateLimit") === true,
      JSON.stringify(slow)
    )
  ]
}

const trial =
  (sdk: Sdk): Reference["run"] =>
  async (place) => {
    const missing = await sdk.install(place)
    if (missing !== undefined) return [{ name: "the SDK can be had", outcome: "artefact", detail: missing }]
    const server = await startAttacked({ ADMIN_TOKEN })
    try {
      const token = await senderToken(server, { name: "outside" })
      const slow = await senderToken(server, { name: "slow", ratePerMinute: 1 })
      const [at = "", later = ""] = [1, 2].map((hours) =>
        new Date(Date.now() + hours * 3_600_000).toISOString()
      )
      const said = await sdk.run(place, [token, slow, at, later], sdk.base(server.url))
      const facts = JSON.parse(said.trim().split("\n").at(-1) ?? "") as Facts
      const counts = new Map<string, number>()
      for (const subject of LEAVING) {
        await comes(`${subject} leaves`, async () => (await arrived(server, subject)).length > 0).catch(
          () => undefined
        )
        counts.set(subject, (await arrived(server, subject)).length)
      }
      for (const subject of STAYING) counts.set(subject, (await arrived(server, subject)).length)
      const [whole] = await arrived(server, "whole")
      return [
        ...judged(facts, sdk, later),
        without(
          "what was taken leaves once",
          LEAVING.filter((subject) => counts.get(subject) !== 1)
        ),
        without(
          "what was refused never leaves",
          STAYING.filter((subject) => counts.get(subject) !== 0)
        ),
        ...(whole === undefined ? [] : wholeOf(await contentOf(server, whole)))
      ]
    } finally {
      await server.stop()
    }
  }

const script = ({ root }: Place, language: string) =>
  join(root, "test/outside/resend-sdks", `trial.${language}`)

const PYTHON = "resend==2.52.0"

const python: Sdk = {
  name: "resend-python",
  version: PYTHON.split("==")[1] ?? "",
  needs: ["python3"],
  base: (url) => ({ RESEND_API_URL: `${url}/resend` }),
  install: async ({ cache }) => void (await pip(cache, PYTHON, "python")),
  run: async (place, args, env) =>
    must(await pip(place.cache, PYTHON, "python"), [script(place, "py"), ...args], { env }),
  refusals: {
    conflict: { code: "409", name: "invalid_idempotent_request" },
    strict: { kind: "MissingRequiredFieldsError", code: "422" },
    words: { kind: "ValidationError", code: "422" },
    missing: { kind: "MissingRequiredFieldsError", code: "422" },
    template: { code: "422", name: "invalid_parameter" },
    unknown: { code: "404", name: "not_found" },
    wrong: { kind: "InvalidApiKeyError", code: "403" }
  }
}

/** The same program by each major version of the module. */
const go = (module: string, version: string, lacks: ReadonlyArray<string> = []): Sdk => ({
  name: `resend-go-${version.split(".")[0]}`,
  version,
  needs: ["go"],
  // Without the slash at its end the SDK drops the path.
  base: (url) => ({ RESEND_BASE_URL: `${url}/resend/` }),
  install: async () => undefined,
  run: async (place, args, env) => {
    const { work } = place
    let program = (await readFile(script(place, "go"), "utf8")).replace("MODULE", module)
    for (const name of lacks)
      program = program.replace(new RegExp(`// begin ${name}\n[^]*// end ${name}\n`), "")
    await writeFile(join(work, "main.go"), program)
    await writeFile(
      join(work, "go.mod"),
      `module example.com/shop\n\ngo 1.24\n\nrequire ${module} ${version}\n`
    )
    await must("go", ["mod", "tidy"], { cwd: work })
    await must("go", ["build", "-o", "trial", "."], { cwd: work })
    return must(join(work, "trial"), args, { env })
  },
  lacks,
  refusals: {}
})

const GEM = "1.0.0"

/** Its gems live where Python's and Go's packages do not: a machine that does not reach them says so. */
const ruby: Sdk = {
  name: "resend-ruby",
  version: GEM,
  needs: ["ruby", "gem"],
  base: (url) => ({ RESEND_BASE_URL: `${url}/resend/` }),
  install: async ({ cache }) => {
    const home = join(cache, `resend-gem_${GEM}`)
    const flags = ["-v", GEM, "--no-document", "--conservative", "--install-dir", home]
    const { code, stderr } = await run("gem", ["install", "resend", ...flags], { seconds: 120 })
    return code === 0
      ? undefined
      : `gem install resend does not work here, not tried: ${stderr.slice(0, 300)}`
  },
  run: async (place, args, env) =>
    must("ruby", [script(place, "rb"), ...args], {
      env: { ...env, GEM_HOME: join(place.cache, `resend-gem_${GEM}`) }
    }),
  refusals: { words: { code: "422" }, unknown: { code: "404" } }
}

/** Resend's own SDKs against its API in front (FRONT-8). Node's runs in the suite. */
export const resendSdks: ReadonlyArray<Reference> = [
  python,
  go("github.com/resend/resend-go/v2", "v2.28.0", ["template"]),
  go("github.com/resend/resend-go/v3", "v3.1.1"),
  ruby
].map((sdk): Reference => ({
  name: sdk.name,
  version: sdk.version,
  checks:
    "Resend's own SDK by a base URL: mails, batches, schedules, files, keys and errors as its user knows them",
  needs: sdk.needs,
  install: async () => {},
  run: trial(sdk)
}))
