import { bareQueue } from "./bare-queue.ts"
import { handQueue } from "./by-hand-queue.ts"
import type { OpenContender } from "./contender.ts"
import { graphileWorker } from "./graphile.ts"
import { pgBoss } from "./pg-boss.ts"
import { directSends, postlaneQueue } from "./postlane-queue.ts"
import { river } from "./river.ts"
import { sdkAlone } from "./sdk-alone.ts"

/** The send queue, and what it is set beside, in the order of the table. */
export const CONTENDERS = {
  "send queue": postlaneQueue,
  "direct keyed sends": directSends,
  "by hand, skip locked": handQueue,
  "graphile-worker": graphileWorker,
  "pg-boss": pgBoss,
  "River (Go)": river,
  "no rule: bare statements": bareQueue,
  "the SDK alone": sdkAlone
} satisfies Readonly<Record<string, OpenContender>>

export type ContenderName = keyof typeof CONTENDERS

/** How many times as fast the send queue is meant to be. */
export const AIMS: Readonly<Partial<Record<ContenderName, number>>> = {
  "direct keyed sends": 0.9,
  "by hand, skip locked": 2,
  "graphile-worker": 1,
  "pg-boss": 1,
  "River (Go)": 1
}
