import { statSync } from "node:fs"

import { Effect, Redacted } from "effect"
import type { ViteUserConfig } from "vitest/config"
import {
  BaseSequencer,
  createVitest,
  type TestModule,
  type TestSpecification,
  type Vitest
} from "vitest/node"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import config from "../../vitest.config.ts"
import type { Place } from "./noticed.ts"

/** How a run of tests ended: `undefined` where all passed. */
export type Failure = string | undefined

/** Tests that run again and again in one process: the server, the bundles and what is compiled are made once. */
export interface Session {
  /** The first failure of the tests whose path holds one of these. */
  readonly run: (filters: ReadonlyArray<string>) => Promise<Failure>
  /** Runs a statement in the database that each test file copies; what the server says of it where it fails. */
  readonly inTemplate: (statement: string) => Promise<Failure>
  /** From now on a module has this text; `undefined`: the file's. */
  readonly replace: (path: string, text: string | undefined) => void
  readonly end: () => Promise<void>
}

const failureOf = (modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): Failure => {
  for (const module of modules) {
    for (const test of module.children.allTests("failed"))
      return `${test.fullName}: ${test.result().errors?.[0]?.message.split("\n")[0] ?? ""}`
    for (const error of module.errors()) return `${module.moduleId}: ${error.message.split("\n")[0]}`
    for (const suite of module.children.allSuites())
      for (const error of suite.errors()) return `${suite.fullName}: ${error.message.split("\n")[0]}`
  }
  return unhandled.length === 0 ? undefined : String(unhandled[0]).split("\n")[0]
}

const inTemplate = (vitest: Vitest) => (statement: string) => {
  const url = new URL(vitest.getProvidedContext().postgresUrl)
  url.pathname = "/postlane_template"
  return Effect.runPromise(
    WriteSql.use((sql) => sql.unsafe(statement).unprepared).pipe(
      Effect.as(undefined),
      Effect.provide(layerSingle({ url: Redacted.make(url.href) })),
      Effect.catch((error) => Effect.succeed(String(error.cause)))
    )
  )
}

/** The tests that share workers, in one project: a plugin that is given here does not reach the projects of the configuration. */
const sharedTests = (plugin: NonNullable<ViteUserConfig["plugins"]>[number]): ViteUserConfig => {
  const { projects, ...test } = config.test ?? {}
  const shared = projects?.find((project) => typeof project === "object" && "test" in project)
  if (typeof shared !== "object" || !("test" in shared)) throw new Error("vitest.config.ts has no projects")
  return { ...config, plugins: [...(config.plugins ?? []), plugin], test: { ...test, ...shared.test } }
}

/** What notices most in the least time goes first: what it noticed is not asked of the others. */
class SmallFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const size = ({ moduleId }: TestSpecification) => statSync(moduleId).size
    return Promise.resolve(files.toSorted((one, other) => size(one) - size(other)))
  }
}

/** The file that the tests write to which faults they noticed. */
export interface Noticed {
  readonly file: string
  /** Where the faults are, for those that are asked for while a module loads; absent for the others. */
  readonly places?: ReadonlyArray<Place>
  /** The file of the database's functions, where the faults are in those. */
  readonly functions?: string
}

/**
 * `isFew`: of few tests, so that one worker is enough. `noticed`: runs each test once for each fault of the modules that it asked for; they have to be replaced by their switched texts.
 */
export const startSession = async (noticed?: Noticed, isFew = false): Promise<Session> => {
  const replaced = new Map<string, string>()
  const plugin = {
    name: "postlane-mutants",
    enforce: "pre" as const,
    load: (id: string) => replaced.get(id.split("?")[0]!)
  }
  const vitest = await createVitest(
    // What is kept of modules from run to run would be taken in the place of a fault.
    {
      config: false,
      watch: false,
      bail: noticed === undefined ? 1 : 0,
      // The template of the databases is one for all workers.
      ...((isFew || noticed?.functions !== undefined) && { maxWorkers: 1 }),
      reporters: [{}],
      // With all faults in it, and for each of them again, a test takes its time.
      testTimeout: noticed === undefined ? 30_000 : noticed.functions === undefined ? 600_000 : 20_000,
      fsModuleCache: false,
      ...(noticed && {
        sequence: { sequencer: SmallFirst },
        runner: `./test/mutants/${noticed.functions === undefined ? "runner" : "function-runner"}.ts`,
        env: {
          POSTLANE_FAULTS: noticed.file,
          ...(noticed.functions && { POSTLANE_FUNCTIONS: noticed.functions }),
          ...(noticed.places && { POSTLANE_PLACES: JSON.stringify(noticed.places) })
        }
      })
    },
    sharedTests(plugin)
  )
  await vitest.standalone()
  return {
    run: async (filters) => {
      const specifications = await vitest.globTestSpecifications([...filters])
      if (specifications.length === 0) throw new Error(`no test file matches ${filters.join(" ")}`)
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
      vitest.state.clearErrors()
      return failureOf(testModules, unhandledErrors)
    },
    inTemplate: inTemplate(vitest),
    replace: (path, text) => {
      if (text === undefined) replaced.delete(path)
      else replaced.set(path, text)
      vitest.invalidateFile(path)
    },
    end: () => vitest.close()
  }
}
