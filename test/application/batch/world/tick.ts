import { Effect } from "effect"

import { pollTick, prepareTick, releaseTick } from "../../../../src/application/batch/driver.ts"
import type { DriverSettings } from "../../../../src/application/batch/lane-settings.ts"

/** All ticks of the driver, one after the other. */
export const driverTick = (settings: DriverSettings, term: number) =>
  releaseTick(settings).pipe(Effect.andThen(pollTick(settings)), Effect.andThen(prepareTick(settings, term)))
