import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"

import * as HookSender from "../../../adapters/event-hooks/hook-sender.ts"
import { dispatchEventHooks } from "../../../application/delivery/event-hooks.ts"
import { EventHooks } from "../../../ports/delivery/event-hooks.ts"
import { background } from "../../process/supervisor.ts"
import type { DeliverySettings } from "../../settings/settings.ts"

/** Events go out from every process with the role leader: they share the work by leases. */
export const layer = ({ eventHooks }: Pick<DeliverySettings, "eventHooks">) =>
  background(
    "event-hooks",
    EventHooks.use((hooks) => hooks.adopt(eventHooks.own)).pipe(Effect.andThen(dispatchEventHooks))
  ).pipe(Layer.provide([HookSender.layer(eventHooks), NodeCrypto.layer]))
