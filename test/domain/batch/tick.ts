import { Effect } from "effect"

import type { DriverSettings } from "../../../src/domain/batch/driver-settings.ts"
import { pollTick, prepareTick } from "../../../src/domain/batch/driver.ts"

/** Both ticks of the driver, one after the other. */
export const driverTick = (settings: DriverSettings, term: number) =>
  Effect.andThen(pollTick(settings), prepareTick(settings, term))
