import { Layer } from "effect"

import { layer } from "../../../../src/adapters/postgres/conversion/store-identities.ts"
import { storeIdentitiesContract } from "../../../contracts/conversion/store-identities.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

storeIdentitiesContract("PostgreSQL", Layer.fresh(Layer.provide(layer, layerPostgres)))
