import { Layer } from "effect"

import * as AlarmBoard from "../../adapters/postgres/delivery/alarm-board.ts"
import { ALARM_INTERVAL, reportAlarms, watchAlarms } from "../../domain/delivery/alarms.ts"
import { ALERT_SWEEP_INTERVAL, sweepAlerts } from "../../domain/delivery/alerts.ts"
import { leaderTicking } from "../process/leadership.ts"
import { ticking } from "../process/supervisor.ts"

/** The leader's duties for outbound mail: unconfirmed alerts, and alarms. */
export const layer = Layer.mergeAll(
  leaderTicking("alert-sweep", ALERT_SWEEP_INTERVAL, sweepAlerts),
  leaderTicking("alarms", ALARM_INTERVAL, watchAlarms),
  // Every process that could lead shows where the alarms stand.
  ticking("alarm-metrics", ALARM_INTERVAL, reportAlarms)
).pipe(Layer.provide(AlarmBoard.layer))
