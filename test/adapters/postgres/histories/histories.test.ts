import { randomInt } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"

import type { MailWorld } from "../../../support/worlds/mail-world.ts"
import type { Stores } from "../documents-model/world.ts"
import { type Desk, deskLane, playDesk, type SCENARIOS as DESK_SCENARIOS } from "./desk.ts"
import { documentsLane, playDocuments, type SCENARIOS } from "./documents.ts"
import type { Lane } from "./lane.ts"
import { mailLane, playMail, type SCENARIOS as MAIL_SCENARIOS } from "./mail.ts"
import {
  plant,
  type Planted,
  PLANTED_AT_THE_DESK,
  PLANTED_IN_DOCUMENTS,
  PLANTED_IN_MAIL,
  PLANTED_IN_THE_QUEUE,
  PLANTED_IN_UPKEEP
} from "./planted.ts"
import { playQueue, type Queueing, queueLane, type SCENARIOS as QUEUE_SCENARIOS } from "./queue.ts"
import { playUpkeep, type SCENARIOS as UPKEEP_SCENARIOS, type Upkeep, upkeepLane } from "./upkeep.ts"

/** How long each world goes on, milliseconds. Longer by hand: `MODEL_MS=300000`; again: `MODEL_SEED=…`. */
const TIME_MS = Number(process.env["MODEL_MS"] ?? 2_000)
const SEED = Number(process.env["MODEL_SEED"] ?? randomInt(1, 2 ** 31 - 1))

/** Databases at once: more than there are cores, since each waits for its connections most of the time. */
const LANES = 3

/** Worlds in which a planted bug has to be found. */
const MAX_WORLDS = 500

interface Played {
  readonly bursts: number
  readonly violation: string | undefined
}

interface Kind<S, Scene> {
  readonly lane: Effect.Effect<Lane<S>, never, Scope.Scope>
  readonly play: (lane: Lane<S>, seed: number, scene?: Scene) => Effect.Effect<Played>
}

/** Plays worlds of consecutive seeds on several databases at once, until one is violated or it is enough. */
const playAll = <S, Scene>(
  { lane, play }: Kind<S, Scene>,
  prepare: (lane: Lane<S>) => Effect.Effect<unknown>,
  isEnough: (worlds: number) => boolean,
  scene?: Scene
) =>
  Effect.scoped(
    Effect.gen(function* () {
      let [bursts, worlds] = [0, 0]
      let violation: string | undefined
      const one = Effect.gen(function* () {
        const own = yield* lane
        yield* prepare(own)
        while (violation === undefined && !isEnough(worlds)) {
          worlds += 1
          const played = yield* play(own, SEED + worlds - 1, scene)
          bursts += played.bursts
          violation ??= played.violation
        }
      })
      yield* Effect.all(
        Array.from({ length: LANES }, () => one),
        { concurrency: "unbounded" }
      )
      return { bursts, worlds, violation }
    })
  )

const documents: Kind<Stores, keyof typeof SCENARIOS> = {
  lane: documentsLane,
  play: playDocuments
}

const mail: Kind<MailWorld, keyof typeof MAIL_SCENARIOS> = { lane: mailLane, play: playMail }

const desk: Kind<Desk, keyof typeof DESK_SCENARIOS> = { lane: deskLane, play: playDesk }

const upkeep: Kind<Upkeep, keyof typeof UPKEEP_SCENARIOS> = { lane: upkeepLane, play: playUpkeep }

const queue: Kind<Queueing, keyof typeof QUEUE_SCENARIOS> = { lane: queueLane, play: playQueue }

const holds = <S, Scene>(kind: Kind<S, Scene>) =>
  Effect.gen(function* () {
    const until = performance.now() + TIME_MS
    const { bursts, violation, worlds } = yield* playAll(
      kind,
      () => Effect.void,
      () => performance.now() > until
    )
    assert.isUndefined(violation, violation)
    console.log(`${bursts} histories in ${worlds} worlds (MODEL_SEED=${SEED})`)
  })

const finds = <S, Scene>(kind: Kind<S, Scene>, bug: Planted<Scene>) =>
  Effect.gen(function* () {
    const { bursts, violation, worlds } = yield* playAll(
      kind,
      ({ connections: [first] }) => plant(first!.sql, bug),
      (played) => played >= MAX_WORLDS,
      bug.scene
    )
    assert.isDefined(violation, `not found in ${worlds} worlds (MODEL_SEED=${SEED})`)
    console.log(`${[bug.function].flat().join(", ")}: found after ${bursts} histories`)
  })

suiteLayer(Layer.empty, { excludeTestServices: true })(
  "what several connections are answered at once is what one after the other would have been answered",
  (it) => {
    it.effect("documents", () => holds(documents), TIME_MS * 10 + 120_000)

    it.effect("mail", () => holds(mail), TIME_MS * 10 + 120_000)

    it.effect("sign-ins, alarms, digests, campaigns", () => holds(desk), TIME_MS * 10 + 120_000)

    it.effect("invitations, forms, days of the log", () => holds(upkeep), TIME_MS * 10 + 120_000)

    it.effect("the send queue", () => holds(queue), TIME_MS * 10 + 120_000)

    for (const bug of PLANTED_IN_THE_QUEUE)
      it.effect(`and it is found where ${bug.about}`, () => finds(queue, bug))
    for (const bug of PLANTED_IN_MAIL) it.effect(`and it is found where ${bug.about}`, () => finds(mail, bug))
    for (const bug of PLANTED_IN_DOCUMENTS)
      it.effect(`and it is found where ${bug.about}`, () => finds(documents, bug))
    for (const bug of PLANTED_AT_THE_DESK)
      it.effect(`and it is found where ${bug.about}`, () => finds(desk, bug))
    for (const bug of PLANTED_IN_UPKEEP)
      it.effect(`and it is found where ${bug.about}`, () => finds(upkeep, bug))
  }
)
