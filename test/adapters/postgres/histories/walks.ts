import { Effect } from "effect"
import * as fc from "fast-check"

import type { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { anyId } from "../../../support/any-id.ts"
import { addOwners, type Stores, worldOf } from "../documents-model/world.ts"
import { perform as performMail, step as mailStep, type Step as MailStep } from "../mail/steps.ts"
import { CLEAN as NO_DOCUMENTS, perform, SCENARIOS as DOCUMENTS } from "./documents.ts"
import type { Lane } from "./lane.ts"
import { CLEAN as NO_MAIL, type mailLane, NAMES, ofOneAttempt, SCENARIOS as MAIL } from "./mail.ts"
import type { Scenes } from "./scenes.ts"

type Sql = WriteSql["Service"]

/** One thing that somebody does. */
type Walked = readonly [name: string, step: Effect.Effect<unknown, unknown>]

/** A scene, step after step, on one connection; `n` chooses. */
interface WalkedScene {
  readonly name: string
  readonly steps: (n: number) => Effect.Effect<ReadonlyArray<Walked>, unknown>
}

/** A world in which all that its scenes know is done, one after the other, on one connection. */
export interface Walk {
  readonly sql: Sql
  /** Another session. */
  readonly other: Sql
  /** One statement. */
  readonly clean: string
  readonly scenes: ReadonlyArray<WalkedScene>
}

const onLane = ({ connections: [first, second] }: Lane<unknown>): Pick<Walk, "other" | "sql"> => ({
  sql: first!.sql,
  other: second!.sql
})

const once = (names: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(names)]

export const walkScenes = <S, M, Scene extends string>(
  lane: Lane<S>,
  { clean, none, scenarios, steps }: Scenes<S, M, Scene>
): Walk => ({
  ...onLane(lane),
  clean,
  scenes: Object.entries<Scenes<S, M, Scene>["scenarios"][Scene]>(scenarios).map(
    ([name, { at, before }]) => ({
      name,
      steps: (n) =>
        Effect.sync(() => {
          const made = none()
          return [...before, ...once(at).map((step) => [step, n] as const)].map(([step, which]): Walked => [
            step,
            Effect.suspend(() => steps[step]!(lane.connections[0]!.stores, which, made))
          ])
        })
    })
  )
})

export const walkDocuments = (lane: Lane<Stores>): Walk => ({
  ...onLane(lane),
  clean: NO_DOCUMENTS,
  scenes: Object.entries(DOCUMENTS).map(([name, { at, before }]) => ({
    name,
    steps: (n) =>
      Effect.gen(function* () {
        const [first] = lane.connections
        const owners = [anyId(), anyId()]
        yield* addOwners(first!.sql, owners)
        const world = worldOf(first!.stores, owners)
        return [...before, ...once(at).map((step) => [step, 0, n] as const)].map((step): Walked => [
          step[0],
          Effect.suspend(() => perform(world, step))
        ])
      })
  }))
})

/** Some of each kind, always the same. */
const MAIL_STEPS: ReadonlyArray<MailStep> = fc.sample(mailStep, { seed: 7, numRuns: 400 })

interface MailScene {
  readonly at: ReadonlyArray<string>
  readonly before: ReadonlyArray<MailStep>
  readonly only?: (one: MailStep) => boolean
}

const mailStepsOf = ({ at, before, only }: MailScene, n: number): ReadonlyArray<MailStep> => [
  ...before,
  ...once(at).flatMap((tag) => {
    const known = MAIL_STEPS.filter((one) => one._tag === tag && only?.(one) !== false)
    return [n, n + 1].flatMap((which) => known[which % known.length] ?? [])
  })
]

export const walkMail = (lane: Effect.Success<typeof mailLane>): Walk => ({
  ...onLane(lane),
  clean: NO_MAIL,
  scenes: Object.entries<MailScene>(MAIL).map(([name, scene]) => ({
    name,
    steps: (n) =>
      Effect.sync(() =>
        mailStepsOf(scene, n).map((one): Walked => [
          one._tag,
          Effect.suspend(() => performMail(lane.connections[0]!.stores, NAMES, ofOneAttempt(one)))
        ])
      )
  }))
})

/** Functions that no world knows, each in one statement. */
export const walkStatements = (
  lane: Lane<unknown>,
  clean: string,
  scenes: Readonly<Record<string, () => Readonly<Record<string, string>>>>
): Walk => ({
  ...onLane(lane),
  clean,
  scenes: Object.entries(scenes).map(([name, statements]) => ({
    name,
    steps: () =>
      Effect.sync(() =>
        Object.entries(statements()).map(([step, text]): Walked => [
          step,
          lane.connections[0]!.sql.unsafe(text).unprepared
        ])
      )
  }))
})
