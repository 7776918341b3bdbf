import type { Settings } from "./settings.ts"

/** Whether the local model stands in: embedded, without cloud credentials or an endpoint of its own. */
export const usesLocalModel = ({ cloud, embedded }: Settings): boolean =>
  embedded && cloud.credentials === undefined && cloud.bedrockRuntimeEndpoint === undefined
