import { Effect } from "effect"

import type { DriverSettings } from "../../../src/domain/batch/driver-settings.ts"
import { pollTick, prepareTick, releaseTick } from "../../../src/domain/batch/driver.ts"

/** All ticks of the driver, one after the other. */
export const driverTick = (settings: DriverSettings, term: number) =>
  releaseTick(settings).pipe(Effect.andThen(pollTick(settings)), Effect.andThen(prepareTick(settings, term)))
