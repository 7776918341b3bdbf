import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** The name under which every group of the API is built and served. */
export const API_NAME = "postlane"

/** An API of one group, so that a resource can build its handlers without knowing the others. */
export const apiOf = <Group extends HttpApiGroup.Constraint>(group: Group) =>
  HttpApi.make(API_NAME).add(group)
