/** `postlane/client/effect`: the HTTP API as an Effect client, made of the server's own definition. Needs Node and the package `effect`. */
export { FileId, JobId } from "../../domain/ids.ts"
export { Api } from "../../adapters/http/routes/api.ts"
export {
  type EffectClient,
  type EffectClientOptions,
  makeClient,
  PostlaneClient,
  type Tagged
} from "../effect/api-client.ts"
