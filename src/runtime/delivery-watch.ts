import { Layer } from "effect"

import * as AlarmBoard from "../adapters/postgres/alarm-board.ts"
import { ALARM_INTERVAL, reportAlarms, watchAlarms } from "../domain/delivery/alarms.ts"
import { ALERT_SWEEP_INTERVAL, sweepAlerts } from "../domain/delivery/alert-sweep.ts"
import { leaderTicking } from "./leadership.ts"
import { ticking } from "./supervisor.ts"

/** What the leader looks after in outbound mail: alerts that nobody confirmed, and alarms. */
export const layer = Layer.mergeAll(
  leaderTicking("alert-sweep", ALERT_SWEEP_INTERVAL, sweepAlerts),
  leaderTicking("alarms", ALARM_INTERVAL, watchAlarms),
  // Every process that could lead shows where the alarms stand.
  ticking("alarm-metrics", ALARM_INTERVAL, reportAlarms)
).pipe(Layer.provide(AlarmBoard.layer))
