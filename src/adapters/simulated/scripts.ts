import { createHash, randomUUID } from "node:crypto"
import { chmod, mkdir, readdir, readFile, unlink } from "node:fs/promises"
import { join } from "node:path"

import { Schema } from "effect"

import { Provider } from "../../domain/mail/provider.ts"
import { SimulatedOutcome, SimulatedTarget } from "../../ports/mail/simulated-mail.ts"
import { hasCode } from "./key-memory.ts"
import { writeWhole } from "./outbox.ts"

/** What is known of a request. */
export interface Asked {
  /** All recipients, bare and lower-case. */
  readonly to: ReadonlyArray<string>
  readonly key: string
  readonly category: string | undefined
}

interface Script {
  readonly outcomes: ReadonlyArray<SimulatedOutcome>
  readonly otherwise: SimulatedOutcome
  readonly target: SimulatedTarget
}

/** A script; its outcomes are in other files. */
const Head = Schema.Struct({
  provider: Provider,
  target: SimulatedTarget,
  otherwise: SimulatedOutcome,
  /** Another one for each script that was put: the beginning of the names of its outcomes. */
  turn: Schema.String
})
type Head = typeof Head.Type

const decodeHead = Schema.decodeUnknownSync(Schema.fromJsonString(Head))
const isOutcome = Schema.is(SimulatedOutcome)

const HEAD = ".script"

/** The name of the script of a target: at most one at a time. */
const nameOf = (provider: Provider, { category, key, to }: SimulatedTarget): string =>
  createHash("sha256")
    .update(JSON.stringify([provider, category, key, to]))
    .digest("hex")
    .slice(0, 32)

const namedIn = (target: SimulatedTarget): number => Object.keys(target).length

const isFor = ({ category, key, to }: SimulatedTarget, asked: Asked): boolean =>
  (category === undefined || category === asked.category) &&
  (key === undefined || key === asked.key) &&
  (to === undefined || asked.to.includes(to))

/** Whether this process removed the file: of several that try, one does. */
const taken = async (path: string): Promise<boolean> => {
  try {
    await unlink(path)
    return true
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return false
    throw cause
  }
}

/**
 * Scripts in a folder that several processes share. An outcome is an empty file, whose removal takes it: each is given to one request.
 * The outcomes of a replaced script stay for a moment, under names that nothing reads.
 */
export const makeScripts = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // It may be there from before, open to all.
  await chmod(folder, 0o700)

  const headOf = async (file: string): Promise<ReadonlyArray<Head>> => {
    try {
      return [decodeHead(await readFile(join(folder, file), "utf8"))]
    } catch (cause) {
      if (hasCode(cause, "ENOENT")) return []
      throw cause
    }
  }

  const takeFirst = async (files: ReadonlyArray<string>, turn: string) => {
    for (const file of files.filter((one) => one.startsWith(turn))) {
      const outcome = file.slice(file.lastIndexOf(".") + 1)
      if (isOutcome(outcome) && (await taken(join(folder, file)))) return outcome
    }
    return undefined
  }

  return {
    /** Replaces the script of this target. */
    put: async (provider: Provider, { otherwise, outcomes, target }: Script): Promise<void> => {
      const name = nameOf(provider, target)
      const before = (await readdir(folder)).filter((file) => file.startsWith(name) && !file.endsWith(HEAD))
      const turn = `${name}-${randomUUID()}`
      for (const [at, outcome] of outcomes.entries())
        await writeWhole(join(folder, `${turn}-${String(at).padStart(5, "0")}.${outcome}`), "")
      const head: Head = { provider, target, otherwise, turn }
      await writeWhole(join(folder, name + HEAD), JSON.stringify(head))
      for (const file of before) await taken(join(folder, file))
    },
    /** What the provider does with this request: the script that names most of it decides first. */
    next: async (provider: Provider, asked: Asked): Promise<SimulatedOutcome> => {
      const files = (await readdir(folder)).sort()
      const heads = await Promise.all(files.filter((file) => file.endsWith(HEAD)).map(headOf))
      const scripts = heads
        .flat()
        .filter((head) => head.provider === provider && isFor(head.target, asked))
        .sort((one, other) => namedIn(other.target) - namedIn(one.target))
      for (const { otherwise, target, turn } of scripts) {
        const outcome = await takeFirst(files, turn)
        if (outcome !== undefined) return outcome
        if (otherwise !== "ok" || namedIn(target) === 0) return otherwise
      }
      return "ok"
    }
  }
}
