import { Cause, Effect } from "effect"
import * as fc from "fast-check"

import { type Connection, held, type Lane, makeTicks, OPEN, timed } from "./lane.ts"
import { type Model, overlapsAny, type Timed, unexplained } from "./serial-order.ts"

/** One thing that somebody does; `n` chooses, `made` holds what earlier steps have made. The answer holds nothing that is drawn. */
export type SceneStep<S, M> = (stores: S, n: number, made: M) => Effect.Effect<unknown, unknown>

export type Named = readonly [name: string, n: number]

/** What is there, and steps that then meet each other in the same rows. */
export interface Scenario {
  readonly before: ReadonlyArray<Named>
  readonly at: ReadonlyArray<string>
}

/** A world of scenes: its stores on PostgreSQL come with the lane. */
export interface Scenes<S, M, Scene extends string> {
  readonly steps: Readonly<Record<string, SceneStep<S, M>>>
  /** What everybody can see when nothing is under way. */
  readonly rest: SceneStep<S, M>
  readonly scenarios: Readonly<Record<Scene, Scenario>>
  readonly memory: () => S
  /** Nothing made yet. */
  readonly none: () => M
  /** One statement. */
  readonly clean: string
  /** What a step answers, and does nothing else, where the row that it would take is locked by another call. */
  readonly passesOver: Readonly<Record<string, string>>
}

interface Call extends Timed {
  readonly step: Named | "rest"
  /** Before the burst: what it makes is used by later steps. */
  readonly makes: boolean
  readonly answer: string
}

const textOf = (answer: unknown): string => JSON.stringify(answer) ?? "nothing"

const run = <S, M>(
  { rest, steps }: Pick<Scenes<S, M, string>, "rest" | "steps">,
  stores: S,
  { makes, step }: Pick<Call, "makes" | "step">,
  made: M
) => {
  // What a burst makes is used by nobody: which of several came first is not known yet.
  const into = makes ? made : structuredClone(made)
  const asked =
    step === "rest" ? rest(stores, 0, into) : Effect.suspend(() => steps[step[0]]!(stores, step[1], into))
  return Effect.map(asked, textOf)
}

/** The in-memory stores, which answer the steps in an order. */
const makeModel = <S, M>(
  scenes: Pick<Scenes<S, M, string>, "memory" | "none" | "passesOver" | "rest" | "steps">,
  crowded: (call: Call) => boolean
): Model<Call> => {
  const [stores, made] = [scenes.memory(), scenes.none()]
  return {
    apply: (call) => {
      const passed = scenes.passesOver[call.step[0]]
      if (passed === call.answer && crowded(call)) return undefined
      const answer = Effect.runSync(run(scenes, stores, call, made))
      return answer === call.answer ? undefined : `PostgreSQL: ${call.answer}\nthe model: ${answer}`
    }
  }
}

const planOf = ({ at, before }: Scenario) =>
  fc
    .array(
      fc.array(fc.tuple(fc.tuple(fc.constantFrom(...at), fc.nat(11)), OPEN), { minLength: 1, maxLength: 2 }),
      { minLength: 2, maxLength: 3 }
    )
    .filter((lines) => lines.flat().length >= 3)
    .map((lines) => ({ before, lines }))

/** Plays a world of a seed, any or one of a scene: one burst on what is just there, and what no serial order explains. */
export const playScenes =
  <S, M, Scene extends string>(scenes: Scenes<S, M, Scene>) =>
  (lane: Lane<S>, seed: number, scene?: Scene) =>
    Effect.gen(function* () {
      const all: ReadonlyArray<Scenario> =
        scene === undefined ? Object.values(scenes.scenarios) : [scenes.scenarios[scene]]
      const [plan] = fc.sample(fc.constantFrom(...all).chain(planOf), { seed, numRuns: 1 })
      const [first] = lane.connections
      yield* first!.sql.unsafe(scenes.clean)
      const [calls, made, tick] = [[] as Array<Call>, scenes.none(), makeTicks()]
      const ask = (connection: Connection<S>, call: Pick<Call, "makes" | "step">, open: number) =>
        Effect.gen(function* () {
          const asked = held(connection, open, run(scenes, connection.stores, call, made))
          const { begun, end, ended } = yield* timed(tick, asked)
          calls.push({ ...call, answer: yield* Effect.fromResult(end), begun, ended })
        })
      for (const step of plan!.before) yield* ask(first!, { step, makes: true }, 0)
      yield* Effect.forEach(
        plan!.lines,
        (steps, at) =>
          Effect.forEach(steps, ([step, open]) => ask(lane.connections[at]!, { step, makes: false }, open)),
        { concurrency: "unbounded" }
      )
      yield* ask(first!, { step: "rest", makes: false }, 0)
      const crowded = new Set(calls.filter((call) => overlapsAny(call, calls)))
      const found = unexplained(calls, () => makeModel(scenes, (call) => crowded.has(call)))
      const line = (call: Call) => `${call.begun}-${call.ended} ${textOf(call.step)} = ${call.answer}`
      const why = found && [
        `seed ${seed}: no serial order gives these answers`,
        ...found.order.map(line),
        "then none of",
        ...found.next.map((one) => `${line(one.call)}: ${one.why}`)
      ]
      return { bursts: 1, violation: why?.join("\n") }
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.succeed({ bursts: 1, violation: `seed ${seed}: ${Cause.pretty(cause)}` })
      )
    )
